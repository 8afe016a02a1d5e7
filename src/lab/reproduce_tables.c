/* Table 1 of the RPIsim paper and Table 1 of the BPMD paper: which solver goes with which model. A line gets its tick
 * only if the solver of our registry, given a step in that form without conversion, solves it to 1e-6 in the eyes of
 * the judge, in all six steps; how many it solves is told.
 *
 * Steps: 8 spheres in a cube, a cube sliding down a slope, 100 kg on 1 kg, a cart on four wheels, each after ten steps;
 * a stack of five cubes after eighty; 100 kg sliding on 1 kg after one, on which the Newton methods on FB and on CCK
 * go different ways. Models: mLCP are Stewart and Trinkle's rows with eight directions, free unknowns for the joints of
 * the cart; LCP the same with those eliminated. NCP is the exact cone as u = W r + q; the convex model is the
 * relaxation. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formulation/registry.h"
#include "formulation/step_problem.h"
#include "lab/reproduce.h"
#include "model/step.h"
#include "problem/convert.h"

static const struct line {
    const char *paper, *model, *name; /* as the papers have them */
    const char *solver, *option;      /* ours; option "name=value" or NULL */
    mor_form form;
} lines[] = {
    { "RPIsim", "LCP", "Lemke", "lemke", NULL, MOR_LCP },
    { "RPIsim", "mLCP", "PATH", "path", NULL, MOR_MLCP },
    { "RPIsim", "LCP", "PGS", "pgs", NULL, MOR_LCP },
    { "RPIsim", "mLCP", "PGS", "psor", "relaxation=1", MOR_MLCP },
    { "RPIsim", "LCP", "Projected Jacobi", "jacobi", NULL, MOR_LCP },
    { "RPIsim", "mLCP", "Projected Jacobi", "jacobi", NULL, MOR_MLCP },
    { "RPIsim", "LCP", "Fixed-point", "prox", NULL, MOR_LCP },
    { "RPIsim", "NCP", "Fixed-point", "prox-ncp", NULL, MOR_FC3D },
    { "RPIsim", "LCP", "Interior-point", "interior-point", NULL, MOR_LCP },
    { "RPIsim", "LCP", "Fischer-Newton", "fischer-newton", NULL, MOR_LCP },
    { "RPIsim", "NCP", "Fischer-Newton", "nsn", "function=fischer-burmeister", MOR_FC3D },
    { "RPIsim", "LCP", "Minmap-Newton", "minmap-newton", NULL, MOR_LCP },
    { "RPIsim", "NCP", "Minmap-Newton", "nsn", "function=natural", MOR_FC3D },
    { "BPMD", "LCP", "Lemke", "lemke", NULL, MOR_LCP },
    { "BPMD", "LCP", "PGS", "pgs", NULL, MOR_LCP },
    { "BPMD", "LCP", "nonsmooth Newton (FB)", "fischer-newton", NULL, MOR_LCP },
    { "BPMD", "LCP", "nonsmooth Newton (CCK)", "cck-newton", NULL, MOR_LCP },
    { "BPMD", "LCP", "nonsmooth Newton (min)", "minmap-newton", NULL, MOR_LCP },
    { "BPMD", "mLCP", "PATH", "path", NULL, MOR_MLCP },
    { "BPMD", "mLCP", "fixed-point (prox)", "prox", NULL, MOR_MLCP },
    { "BPMD", "NCP", "fixed-point", "prox-ncp", NULL, MOR_FC3D },
    { "BPMD", "NCP", "nonsmooth Newton (FB)", "nsn", "function=fischer-burmeister", MOR_FC3D },
    { "BPMD", "NCP", "nonsmooth Newton (CCK)", "nsn", "function=cck", MOR_FC3D },
    { "BPMD", "NCP", "implicit", "implicit-gn", NULL, MOR_FC3D },
    { "BPMD", "Convex model", "convex solvers", "apgd", NULL, MOR_CQP },
    { "BPMD", "Convex model", "convex solvers", "convex-newton", NULL, MOR_CQP },
    { "BPMD", "Convex model", "convex solvers", "interior-point", NULL, MOR_CQP },
    { "neither", "mLCP", "PSOR", "psor", NULL, MOR_MLCP },
    { "neither", "mLCP", "Dantzig", "dantzig", NULL, MOR_MLCP },
    { "neither", "mLCP", "Interior-point", "interior-point", NULL, MOR_MLCP },
    { "neither", "LCP by contacts", "PGS", "pgs", NULL, MOR_STEP_PYRAMID },
    { "neither", "LCP by contacts", "Projected Jacobi", "jacobi", NULL, MOR_STEP_PYRAMID },
};
enum { LINES = sizeof lines / sizeof *lines };

static const struct {
    const char *scene, *set[2];
    int after; /* so many steps */
} steps[] = { { "spheres_8.yaml", { NULL }, 10 },
              { "s4_slide.yaml", { NULL }, 10 },
              { "s5.yaml", { "bodies.top.mass=100" }, 10 },
              { "cart.yaml", { NULL }, 10 },
              { "stack.yaml", { NULL }, 80 },
              { "s5.yaml", { "bodies.top.mass=100", "bodies.top.velocity=[0.3, 0.1, 0]" }, 1 } };
enum { WORLDS = sizeof steps / sizeof *steps };

typedef struct outcome {
    int solved, iterations[WORLDS];
    double error; /* largest, as the tolerance means it */
    char detail[160];
} outcome;

/* The problem of a step in one of the forms that are converted to. */
static bool pose(const mor_system* s, mor_form form, mor_arena* arena, mor_conversion chain[2], int* links,
                 mor_problem* out)
{
    double* bias = mor_arena_alloc(arena, (size_t)s->row_count * sizeof *bias);
    mor_problem* step = mor_arena_alloc(arena, sizeof *step);
    bool none = false;
    mor_error error = { 0 };
    *links = 0;
    if (!bias || !step) return false;
    mor_bias_stewart_trinkle(s, bias);
    *step = mor_system_problem(s, form == MOR_FC3D ? 0 : 8, bias, arena, NULL);
    if (form == MOR_STEP_PYRAMID && step->size) {
        *out = *step;
        return true;
    }
    if (!step->size ||
        mor_convert(step, form == MOR_FC3D ? MOR_FC3D : MOR_MLCP, &chain[(*links)++], &none, arena, &error))
        return false;
    if (form == MOR_LCP && mor_convert(&chain[0].to, MOR_LCP, &chain[(*links)++], &none, arena, &error)) return false;
    *out = chain[*links - 1].to;
    return true;
}

static mor_report no_room(void)
{
    mor_report r = { .status = MOR_REFUSED };
    snprintf(r.detail, sizeof r.detail, "the step has no such form");
    return r;
}

typedef struct convex_user {
    const mor_solver* solver;
    const void* options;
    mor_report report;
    double error;
} convex_user;

static mor_report solve_convex(mor_solve_stage* stage, const mor_problem* problem, bool warm, double* z)
{
    (void)warm;
    convex_user* u = stage->user;
    mor_solve_options o = { .tol = 1e-8 };
    u->report = mor_solve(u->solver, u->options, problem, &o, z, stage->arena);
    u->error = mor_judge_error(problem, &u->report.residual);
    return u->report;
}

static void run_line(const struct line* l, mor_world* w, int step, outcome* out)
{
    mor_error error = { 0 };
    char name[64] = "";
    const mor_solver* solver = mor_library_solver(NULL, l->solver);
    if (!solver || !(solver->accepts & l->form)) {
        snprintf(out->detail, sizeof out->detail, "the registry has no solver '%s' for %s", l->solver,
                 mor_form_name(l->form));
        return;
    }
    if (l->option) snprintf(name, sizeof name, "%.*s", (int)strcspn(l->option, "="), l->option);
    if (mor_world_set_method(w, "solver", l->solver, &error) ||
        (l->option && mor_world_set_option(w, "solver", name, strchr(l->option, '=') + 1, &error))) {
        snprintf(out->detail, sizeof out->detail, "%.150s", error.text);
        return;
    }
    mor_arena* arena = mor_arena_create(NULL);
    const mor_system* s = &w->last->islands[0].system;
    mor_report r = no_room();
    double worst = NAN;
    if (arena && l->form == MOR_CQP) {
        convex_user user = { solver, w->solver_own_options, no_room(), NAN };
        mor_solve_stage stage = { .solve = solve_convex, .arena = arena, .user = &user };
        const mor_formulation* convex = mor_library_formulation(NULL, "convex");
        char options[64];
        mor_fields_default(convex->fields, options);
        mor_answer answer = { .nu = mor_arena_alloc(arena, (size_t)s->dof * sizeof(double)),
                              .impulses = mor_arena_zero(arena, (size_t)s->row_count, sizeof(double)),
                              .held = mor_arena_zero(arena, (size_t)s->contact_count, sizeof(bool)) };
        if (answer.nu && answer.impulses && answer.held) {
            memcpy(answer.nu, s->nu_free, (size_t)s->dof * sizeof(double));
            convex->step(s, options, &stage, &answer);
        }
        r = user.report;
        worst = user.error;
    } else if (arena) {
        mor_conversion chain[2];
        mor_problem problem;
        int links;
        if (pose(s, l->form, arena, chain, &links, &problem)) {
            double* z = mor_arena_zero(arena, (size_t)mor_problem_unknowns(&problem), sizeof *z);
            mor_solve_options o = { .tol = 1e-6,
                                    .time_limit = 10.0,
                                    .cpu_time = true, /* a tick does not depend on what else runs */
                                    .max_iter = l->form & (MOR_LCP | MOR_MLCP | MOR_STEP_PYRAMID) ? 200000 : 0 };
            if (solver->max_iter < 1000) o.max_iter = 0;
            if (z)
                r = mor_solve(solver, w->solver_own_options, &problem, &o, z, arena),
                worst = mor_judge_error(&problem, &r.residual);
            for (int k = links - 1; k >= 0; k--) mor_conversion_destroy(&chain[k]);
        }
    }
    out->solved += r.status == MOR_SOLVED;
    out->iterations[step] = r.iterations;
    if (!(out->error >= worst)) out->error = worst;
    if (r.status != MOR_SOLVED)
        snprintf(out->detail, sizeof out->detail, "%s%s%.100s", mor_status_name(r.status), r.detail[0] ? ": " : "",
                 r.detail);
    mor_arena_destroy(arena);
}

/* "20 13 9 15": of every step. */
static const char* counts(const outcome* r, char text[64])
{
    int used = 0;
    for (int k = 0; k < WORLDS; k++)
        used += snprintf(text + used, 64 - (size_t)used, k ? " %d" : "%d", r->iterations[k]);
    return text;
}

static mor_code write_table(const mor_reproduce* o, const outcome* results, mor_error* error)
{
    char text[64];
    mor_path csv = mor_reproduce_path(o, "figure-tables/tables.csv");
    FILE* out = mor_reproduce_open(csv.text);
    if (!out) return mor_fail(error, MOR_SYSTEM, "cannot write %s", csv.text);
    fprintf(out, "paper,model,solver,here,option,form,steps,steps_solved,iterations,error,tick\n");
    for (int i = 0; i < LINES; i++)
        fprintf(out, "%s,%s,\"%s\",%s,%s,%s,%d,%d,%s,%.3e,%s\n", lines[i].paper, lines[i].model, lines[i].name,
                lines[i].solver, lines[i].option ? lines[i].option : "", mor_form_name(lines[i].form), (int)WORLDS,
                results[i].solved, counts(&results[i], text), results[i].error,
                results[i].solved == WORLDS ? "yes" : "no");
    mor_code code = mor_reproduce_close(out, csv.text, error);
    mor_fragment f;
    if (code) return code;
    if (!mor_fragment_begin(&f, o, "tables", "Solvers and models: Table 1 of the RPIsim paper and of the BPMD paper"))
        return mor_fail(error, MOR_SYSTEM, "cannot write into %s", o->directory);
    for (int i = 0; i < LINES; i++) {
        char claim[160];
        const struct line* l = &lines[i];
        bool good = results[i].solved == WORLDS;
        snprintf(claim, sizeof claim, "%s: %s, %s", l->paper, l->model, l->name);
        if (good)
            mor_fragment_claim(&f, claim, true, "✓ <code>%s</code>%s%s on %s: %d of %d steps, iterations %s%s%s",
                               l->solver, l->option ? " " : "", l->option ? l->option : "", mor_form_name(l->form),
                               results[i].solved, WORLDS, counts(&results[i], text), results[i].detail[0] ? "; " : "",
                               results[i].detail);
        else
            mor_fragment_claim(&f, claim, false, "<code>%s</code>%s%s on %s: %d of %d steps; %s", l->solver,
                               l->option ? " " : "", l->option ? l->option : "", mor_form_name(l->form),
                               results[i].solved, WORLDS, results[i].detail);
    }
    mor_fragment_text(
        &f, "A tick stands where a run proves it: the solver was given the step in that form, without "
            "conversion, and the judge finds an error of at most 1e-6 in all six steps. Iterations are told "
            "step by step. Steps: 8 spheres in a cube, a cube sliding down a slope, 100 kg on 1 kg, a cart "
            "on four wheels, whose joints make its LCP a mixed one, a stack of five cubes, and 100 kg sliding "
            "on 1 kg, on which FB and CCK differ. Gauss-Seidel and Jacobi get the rows of "
            "the (mixed) LCP; rows of the friction cone have no diagonal and are relaxed together with "
            "those they depend on.");
    return mor_fragment_end(&f, error);
}

mor_code mor_reproduce_tables(const mor_reproduce* o, mor_error* error)
{
    outcome results[LINES];
    memset(results, 0, sizeof results);
    mor_code code = MOR_OK;
    for (int k = 0; k < WORLDS && !code; k++) {
        const char* sets[] = { steps[k].set[0], steps[k].set[1], NULL };
        mor_scene* scene;
        mor_world* w = mor_reproduce_world(o, steps[k].scene, steps[k].set[0] ? sets : NULL, &scene, error);
        if (!w) return MOR_BAD_INPUT;
        for (int i = 0; i < steps[k].after && !code; i++) code = mor_world_step(w, NULL, error);
        if (!code) {
            code = mor_stage_user(w, w->own, error);
            if (!code) code = mor_stage_collide(w, w->own, error);
            if (!code) code = mor_stage_assemble(w, w->own, error);
            if (!code && w->last->island_count == 0)
                code = mor_fail(error, MOR_BAD_INPUT, "%s: nothing touches after %d steps", steps[k].scene,
                                steps[k].after);
        }
        for (int i = 0; i < LINES && !code; i++) {
            run_line(&lines[i], w, k, &results[i]);
            if (o->progress) o->progress(o->user, "tables", k * LINES + i + 1, WORLDS * LINES);
        }
        mor_world_destroy(w);
        mor_scene_destroy(scene);
    }
    return code ? code : write_table(o, results, error);
}
