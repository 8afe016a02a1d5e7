/* Collision methods on the same states: `moreau compare SCENE... --collision a,b,c`.
 *
 * Each scene is run by every method. Of the run of the first one, states are kept at times evenly spread; in each of
 * them every method looks for contacts, and its answer is held against exact distances (collision/exact.h):
 *
 *   gap error     of a pair of shapes with contacts: |least gap - distance of the shapes| [m]
 *   normal error  angle between the normal of that contact and the direction of the distance [rad], where the shapes
 *                 are apart or overlap by more than 1e-6 of the smaller one
 *   missed        pairs that overlap now or at the end of free motion and have no contact
 *   ghosts        contacts that free motion would violate although the pair does not touch on its way
 *
 * Free motion: bodies keep their velocity, plus gravity over the step. Both counts leave out what is smaller than 1e-4
 * of the smaller shape. The effect on the trajectory is the greatest of ten times of
 *
 *     sqrt( mean over bodies of |x - x_first|^2 )  [m],   x_first by the first method. */
#ifndef MOR_LAB_COLLISIONS_H
#define MOR_LAB_COLLISIONS_H

#include <stdio.h>

#include "moreau/scene.h"

enum { MOR_COLLISION_METHODS = 8 };

/* One method on one scene. */
typedef struct mor_collision_score {
    char method[64];
    bool refused;                           /* the method cannot have this scene: `detail` says why */
    bool finished;                          /* its run came to the end of the scene */
    char detail[200];                       /* why not */
    int states;                             /* looked at */
    long long contacts;                     /* found in them */
    int pairs, judged;                      /* pairs of shapes with contacts; of these with an exact distance */
    double gap_error, mean_gap_error;       /* m */
    double normal_error, mean_normal_error; /* rad */
    int missed, ghosts;
    double time;         /* CPU seconds of one search, median over the states */
    int steps, failures; /* of its run */
    double distance;     /* from the run of the first method [m]; NaN: not known */
    double penetration;  /* deepest exact overlap at the times of its own run at which states are kept [m] */
    double gain;         /* energy that appeared [J] */
} mor_collision_score;

typedef struct mor_collision_scene {
    char name[200];
    mor_collision_score* scores; /* one per method */
} mor_collision_scene;

typedef struct mor_collisions {
    const mor_library* library;
    const char* methods[MOR_COLLISION_METHODS + 1]; /* NULL-terminated */
    int method_count;
    int states;         /* of each scene */
    double limit;       /* CPU seconds of a run */
    bool (*stop)(void); /* asked between steps; NULL: never */
    mor_collision_scene* scenes;
    int scene_count;
} mor_collisions;

/* Runs a scene, or those of a folder, by all methods and appends the result. Scenes that no method takes are kept with
 * their sentences; a file that is no scene is bad input. */
MOR_API mor_code mor_collisions_add(mor_collisions* c, const char* path, mor_error* error);
MOR_API void mor_collisions_free(mor_collisions* c);

/* collisions_judge.c: what `contacts` are worth in the state of `world`; they are sorted by pairs. */
void mor_collisions_judge(const mor_world* world, mor_contact* contacts, int count, mor_collision_score* score);
/* Deepest overlap of a pair that may touch [m], 0: none. */
double mor_collisions_depth(const mor_world* world);

/* collisions_output.c */
MOR_API void mor_collisions_print(const mor_collisions* c, FILE* out);
MOR_API void mor_collisions_write_csv(const mor_collisions* c, FILE* out);
MOR_API void mor_collisions_write_json(const mor_collisions* c, FILE* out);
/* A page in Markdown: sums over the scenes, then a line per scene and method. False: out of memory. */
MOR_API bool mor_collisions_write_markdown(const mor_collisions* c, const char* command, FILE* out);

#endif
