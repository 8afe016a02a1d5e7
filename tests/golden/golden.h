/* Golden tables: what every solver and every formulation makes of small problems, bit by bit.
 *
 * tests/golden/solvers.txt and formulations.txt are written by this program (scripts/golden-hashes). They are values of
 * Moreau itself, not truths: a line that changes says that the program now does something else, not that it is wrong.
 * Answers do not depend on the machine, the compiler, its flags or the clock, so neither do the tables. */
#ifndef MOREAU_TESTS_GOLDEN_H
#define MOREAU_TESTS_GOLDEN_H

#include "moreau/solver.h"

/* A hash that bytes are added to; every NaN counts as the same. Begin with GOLDEN_START. */
#define GOLDEN_START 14695981039346656037u
uint64_t golden_numbers(uint64_t hash, const double* numbers, int count);
uint64_t golden_integers(uint64_t hash, const int* numbers, int count);
uint64_t golden_text(uint64_t hash, const char* text);
uint64_t golden_residual(uint64_t hash, const mor_residual* residual);
/* A line of the table: the case, what became of it, a count and a hash. */
void golden_line(const char* name, const char* status, int count, uint64_t hash);

/* The off-default values of an option that are tried, as texts; returns how many, at most GOLDEN_VALUES. */
enum { GOLDEN_VALUES = 6 };
int golden_values(const mor_field* field, char values[GOLDEN_VALUES][64]);

/* Problems of one form, each with a name; in the arena. Returns how many, at most GOLDEN_PROBLEMS. */
enum { GOLDEN_PROBLEMS = 40 };
typedef struct golden_problem {
    char name[40];
    mor_problem problem;
    const double* guess; /* a start near an answer, or NULL */
    bool large;          /* a few iterations are enough */
} golden_problem;
int golden_make(mor_form form, golden_problem* problems, mor_arena* arena);

struct mor_formulation;
/* The parts: problems (judge, conversions), one solver, one formulation. */
void golden_judge(void);
void golden_solver(const mor_solver* solver);
void golden_formulation(const struct mor_formulation* formulation);

#endif
