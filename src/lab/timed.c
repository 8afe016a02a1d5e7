/* One solve of a comparison, see timed.h. A solver may come from a plug-in, be wrong, or look better than it is:
 *
 *   time        is the thread's, and what other threads of the process used beside it is added; what the solver does to
 *               its own clock does not matter
 *   repeats     solves shorter than 4 ms are repeated and averaged; if the first took over a millisecond and ten times
 *               as long as the repeats, the solver remembers its answer, and the first alone counts
 *   the problem is hashed before and after: one that was changed would be judged as it was left
 *
 * A plug-in lives in the process and could do anything; against malice there is only reading it. */
#include "lab/timed.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

static const double enough_s = 0.004; /* repeat solves shorter than this */
enum { MOST_REPEATS = 20 };

/* The clock of the process counts in ticks of milliseconds while a timer runs on it (pool.c); this one does not. */
double mor_lab_cpu_clock(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double mor_lab_process_clock(void)
{
    struct rusage u;
    if (getrusage(RUSAGE_SELF, &u) != 0) return 0.0;
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) + 1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

/* -------------------------------------------------------------------------- the problem's hash */

typedef struct hash {
    uint64_t value;
} hash;

static void add_word(hash* h, uint64_t word)
{
    h->value = (h->value ^ word) * 0x9e3779b97f4a7c15ull;
    h->value ^= h->value >> 29;
}

static void add(hash* h, const void* bytes, size_t size)
{
    const unsigned char* b = bytes;
    uint64_t word;
    if (!b) return;
    for (; size >= sizeof word; size -= sizeof word, b += sizeof word) {
        memcpy(&word, b, sizeof word);
        add_word(h, word);
    }
    word = 0;
    memcpy(&word, b, size);
    add_word(h, word);
}

static void add_numbers(hash* h, const double* numbers, int count) { add(h, numbers, (size_t)count * sizeof *numbers); }

static void add_matrix(hash* h, const mor_matrix* m)
{
    if (m->storage == MOR_DENSE && m->x) add(h, m->x, (size_t)m->rows * (size_t)m->cols * sizeof *m->x);
    if (m->storage != MOR_SPARSE || !m->p) return;
    add(h, m->p, ((size_t)m->rows + 1) * sizeof *m->p);
    add(h, m->i, (size_t)m->p[m->rows] * sizeof *m->i);
    add(h, m->x, (size_t)m->p[m->rows] * sizeof *m->x);
}

static void add_step(hash* h, const mor_step_form* s)
{
    int numbers = 0, squares = 0;
    add_numbers(h, s->nu_free, s->dof);
    add_numbers(h, s->bias, s->row_count);
    for (int t = 0; t < s->tree_count; t++) {
        const mor_tree_block* tree = &s->trees[t];
        add_numbers(h, tree->mass, tree->dof * tree->dof);
        add_numbers(h, tree->mass_inverse, tree->dof * tree->dof);
    }
    for (int b = 0; b < s->block_count; b++) { /* by fields: what is between them has no value */
        const mor_block* k = &s->blocks[b];
        const double values[] = { k->mu, k->mu_roll, k->mu_drill, k->lower, k->upper };
        const int places[] = { (int)k->kind, k->dim, k->row, k->entry, k->entry_count, k->directions };
        add(h, values, sizeof values);
        add(h, places, sizeof places);
        squares += k->dim * k->dim;
        for (int e = k->entry; e < k->entry + k->entry_count; e++) {
            add(h, &s->entries[e], sizeof s->entries[e]);
            numbers += k->dim * s->trees[s->entries[e].tree].dof;
        }
    }
    add_numbers(h, s->jacobian, numbers);
    add_numbers(h, s->response, numbers);
    add_numbers(h, s->diagonal, squares);
}

static uint64_t fingerprint(const mor_problem* p)
{
    hash h = { 1 };
    int n = p->size;
    const int sizes[] = { (int)p->form, n, p->contact_count, p->dim, p->A.rows, p->A.cols };
    add(&h, sizes, sizeof sizes);
    if (p->form & (MOR_STEP_CONE | MOR_STEP_PYRAMID)) {
        add_step(&h, &p->step);
        return h.value;
    }
    add_matrix(&h, &p->A);
    add_matrix(&h, &p->M);
    add_matrix(&h, &p->H);
    add_matrix(&h, &p->C);
    add_numbers(&h, p->b, n);
    add_numbers(&h, p->lower, n);
    add_numbers(&h, p->upper, n);
    add_numbers(&h, p->mu, p->contact_count);
    add_numbers(&h, p->mu_roll, p->contact_count);
    add_numbers(&h, p->f, p->M.rows);
    add_numbers(&h, p->c_lower, p->C.rows);
    add_numbers(&h, p->c_upper, p->C.rows);
    return h.value;
}

/* ----------------------------------------------------------------------------------- the time */

/* Repeats a short solve; `first`: seconds of the first. */
static void repeat(const mor_solver* solver, const mor_problem* problem, const mor_solve_options* options,
                   const double* start, double* again, mor_arena* arena, double first, mor_lab_timing* t)
{
    size_t n = (size_t)mor_problem_unknowns(problem);
    double begin = mor_lab_cpu_clock(), solve = 0.0;
    int runs = 0;
    while (first + mor_lab_cpu_clock() - begin < enough_s && runs + 1 < MOST_REPEATS) {
        memcpy(again, start, n * sizeof *again);
        solve += mor_solve(solver, NULL, problem, options, again, arena).time_s;
        runs++;
    }
    double rest = mor_lab_cpu_clock() - begin;
    if (runs == 0 || (first > 1e-3 && first * runs > 10.0 * rest)) return;
    t->total_s = (first + rest) / (runs + 1);
    t->solve_s = (t->solve_s + solve) / (runs + 1);
}

mor_report mor_lab_time_solve(const mor_solver* solver, const mor_problem* problem, const mor_solve_options* options,
                              double* z, mor_arena* arena, mor_lab_timing* t)
{
    size_t n = (size_t)mor_problem_unknowns(problem);
    double* start = mor_arena_alloc(arena, (n + 1) * sizeof *start);
    double* again = mor_arena_alloc(arena, (n + 1) * sizeof *again);
    *t = (mor_lab_timing){ .changed = false };
    if (!start || !again) {
        mor_report report = { .status = MOR_NUMERICAL };
        snprintf(report.detail, sizeof report.detail, "out of memory");
        return report;
    }
    memcpy(start, z, n * sizeof *z);
    uint64_t before = fingerprint(problem);
    double process = mor_lab_process_clock(), begin = mor_lab_cpu_clock();
    mor_report report = mor_solve(solver, NULL, problem, options, z, arena);
    double first = mor_lab_cpu_clock() - begin, others = mor_lab_process_clock() - process - first;
    t->total_s = first;
    t->solve_s = report.time_s;
    bool threads = others > 5e-5 + 0.1 * first; /* s: rounding of the clocks; less is not worth a thread */
    if (!threads && report.status == MOR_SOLVED) repeat(solver, problem, options, start, again, arena, first, t);
    if (threads) t->total_s += others, t->solve_s += others;
    if (!(t->solve_s >= 0.0 && t->solve_s <= t->total_s)) t->solve_s = t->total_s;
    t->changed = fingerprint(problem) != before;
    return report;
}
