/* The robots of ../shared/data/robots, as entries of a scene's `robots:`. */
#ifndef MOREAU_TESTS_FOREIGN_ROBOTS_H
#define MOREAU_TESTS_FOREIGN_ROBOTS_H

#include <stdbool.h>
#include <stddef.h>

typedef struct foreign_robot {
    const char *name, *file; /* below ../shared/data/robots */
    const char* closed;      /* how its loops are closed: "delta", "five-bar", "minitaur"; NULL: it has none */
} foreign_robot;

extern const foreign_robot foreign_robots[];
extern const int foreign_robot_count;

/* Whether its file is there. */
bool foreign_robot_is_there(const foreign_robot* robot);
/* An entry of `robots:` with the name "r", closed loops, and `more` keys ("base: floating, position: [0, 0, 1]"). */
void foreign_robot_entry(const foreign_robot* robot, const char* more, char* text, size_t room);

#endif
