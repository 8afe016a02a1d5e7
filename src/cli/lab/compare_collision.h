/* moreau compare --collision a,b,c. */
#ifndef MOREAU_CLI_LAB_COMPARE_COLLISION_H
#define MOREAU_CLI_LAB_COMPARE_COLLISION_H

#include "moreau/library.h"

/* What was asked for. */
typedef struct mor_cli_collisions {
    const mor_library* library;
    const char* names; /* a,b,c */
    const char* const* problems;
    int problem_count;
    int frames;         /* states of each scene; 0: 50 */
    double scene_limit; /* CPU seconds of a run; 0: none */
    const char *out, *csv;
    bool json, quiet;
    const char* command; /* for the page */
    bool (*stop)(void);
} mor_cli_collisions;

/* The exit status. */
int mor_cli_compare_collisions(const mor_cli_collisions* asked);

#endif
