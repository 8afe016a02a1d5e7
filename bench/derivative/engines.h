/* The derivative of a humanoid's step beside MuJoCo's differences (engines.c). */
#ifndef BENCH_DERIVATIVE_ENGINES_H
#define BENCH_DERIVATIVE_ENGINES_H

/* Prints a table; the exit status. */
int bench_engines(const char* urdf);

#endif
