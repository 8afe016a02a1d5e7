/* A comparison against an earlier one: what became slower, less accurate or unsolved (moreau compare --baseline). */
#ifndef MOR_LAB_BASELINE_H
#define MOR_LAB_BASELINE_H

#include "lab/compare.h"

typedef enum mor_lab_change {
    MOR_LAB_SLOWER,     /* CPU time */
    MOR_LAB_MORE_STEPS, /* iterations */
    MOR_LAB_LESS_ACCURATE,
    MOR_LAB_UNSOLVED
} mor_lab_change;

/* One method that changed for the worse. */
typedef struct mor_lab_finding {
    mor_lab_change what;
    int formulation, solver, tol;
    int problems;            /* that both comparisons solved; unsolved: that only the earlier one did */
    double ratio, low, high; /* new over old, geometric mean and its interval; unsolved: NaN */
    int example;             /* a problem: where the ratio is largest, or the first that is unsolved */
} mor_lab_finding;

typedef struct mor_lab_watch {
    mor_lab_finding* findings; /* by formulation, solver, tolerance */
    int count, capacity;
    int compared;   /* runs that are in both */
    double machine; /* how much slower everything was: the median of all ratios, taken off */
} mor_lab_watch;

/* Compares with the JSON of `compare --json`. MOR_BAD_INPUT: no such document, or no run in common. */
MOR_API mor_code mor_lab_watch_make(const mor_lab* lab, const char* path, mor_lab_watch* watch, mor_error* error);
MOR_API void mor_lab_watch_free(mor_lab_watch* watch);
/* "slower", "more iterations", "less accurate", "unsolved" */
MOR_API const char* mor_lab_change_name(mor_lab_change what);

#endif
