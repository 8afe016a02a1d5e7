/* The database of benchmark problems, shipped as recipes: families of scenes in several sizes, a few frames of each. */
#ifndef MOR_LAB_DATASET_H
#define MOR_LAB_DATASET_H

#include <stdio.h>

#include "moreau/scene.h"

/* One family: writes the scene of a size. */
typedef struct mor_family {
    const char* name;
    const char* summary;
    double sizes[8]; /* ascending, ends with 0 (a size is never 0) */
    int fast;        /* how many of them are built by default */
    int third;       /* frames are taken after one, two and three thirds of 3 * third steps */
    void (*scene)(double size, FILE* out);
    void (*urdf)(double size, FILE* out); /* NULL: none; FOLDER/robots/<family>-<size>.urdf, which the scene names */
} mor_family;

/* families_robots.c */
void mor_family_robot(double size, FILE* out);
void mor_family_robot_urdf(double size, FILE* out);
void mor_family_crowd(double size, FILE* out);
void mor_family_crowd_urdf(double size, FILE* out);
void mor_family_ring(double size, FILE* out);

/* families.c: ends with a NULL name. */
extern const mor_family mor_families[];

/* Builds FOLDER/<family>-<size>.h5; MOR_OK and *built = false if it is there already. The same bytes on every run. When
 * *stop becomes 1 it gives up, and leaves nothing. */
mor_code mor_dataset_build(const char* folder, const mor_family* family, double size, const volatile int* stop,
                           bool* built, mor_error* error);
/* Reads and rebuilds every frame of a file. */
mor_code mor_dataset_check(const char* path, int* frames, int* contacts, mor_error* error);
/* Checks a file and copies it into the folder; a name that is taken is refused. */
mor_code mor_dataset_add(const char* folder, const char* path, mor_error* error);

/* Copies the problems to a new file `target` and puts the answers of another program, a text file (dataset_answer.c),
 * in place of those they hold; counts the frames that have one now. */
mor_code mor_dataset_answer(const char* problems, const char* answers, const char* target, int* answered,
                            mor_error* error);

/* Writes the exact Coulomb problem of every island of every frame as FOLDER/<file>-<frame>[-<island>].hdf5 (FCLIB);
 * counts them in *problems. Frames that have no such form are left out; the first is told, with MOR_BAD_INPUT. */
mor_code mor_dataset_export(const char* path, const char* folder, int* problems, mor_error* error);

#endif
