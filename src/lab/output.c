/* A comparison as JSON (CONTRACTS: compare --json) and as a table. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/json/json.h"
#include "lab/baseline.h"
#include "lab/compare.h"
#include "lab/profile.h"

enum { TAUS = 41 };

/* 1 ... 10^4, ten per decade. */
static double tau_at(int i) { return pow(10.0, 0.1 * i); }

static void write_problem(mor_json* j, const mor_lab_problem* p)
{
    mor_json_object(j, NULL);
    mor_json_text(j, "name", p->name);
    mor_json_text(j, "kind", p->kind);
    mor_json_text(j, "family", p->family);
    mor_json_integer(j, "size", p->rows);
    mor_json_integer(j, "contacts", p->contacts);
    mor_json_integer(j, "bodies", p->bodies);
    mor_json_integer(j, "dof", p->dof);
    mor_json_integer(j, "islands", p->islands);
    mor_json_number(j, "mass_ratio", p->mass_ratio);
    if (p->deficiency >= 0) mor_json_integer(j, "rank_deficiency", p->deficiency);
    else mor_json_null(j, "rank_deficiency");
    mor_json_number(j, "condition", p->condition);
    if (p->stored_by[0]) {
        mor_json_object(j, "stored");
        mor_json_text(j, "by", p->stored_by);
        mor_json_number(j, "velocity_error", p->stored_error);
        mor_json_end(j);
    }
    mor_json_end(j);
}

static void write_run(mor_json* j, const mor_lab* lab, const mor_lab_run* r)
{
    mor_json_object(j, NULL);
    mor_json_text(j, "problem", lab->problems[r->problem].name);
    mor_json_text(j, "formulation", mor_lab_formulation_name(lab, r->formulation));
    mor_json_text(j, "solver", mor_lab_solver_name(lab, r->solver));
    mor_json_number(j, "tol", lab->options.tols[r->tol]);
    mor_json_text(j, "status", mor_status_name((mor_status)r->status));
    mor_json_number(j, "time_s", r->time_s);
    mor_json_number(j, "total_s", r->total_s);
    mor_json_integer(j, "iterations", r->iterations);
    mor_json_number(j, "error", r->error);
    mor_json_object(j, "residual");
    mor_json_number(j, "relative", r->residual.relative);
    mor_json_number(j, "absolute", r->residual.absolute);
    mor_json_number(j, "velocity", r->residual.velocity);
    mor_json_number(j, "natural", r->residual.natural);
    mor_json_number(j, "fb", r->residual.fb);
    mor_json_number(j, "cck", r->residual.cck);
    mor_json_number(j, "normal", r->residual.normal_error);
    mor_json_number(j, "friction", r->residual.friction_error);
    mor_json_number(j, "friction_power", r->residual.friction_power);
    mor_json_end(j);
    mor_json_number(j, "coulomb_error", r->coulomb);
    if (lab->options.error) mor_json_number(j, "user_error", r->user_error);
    mor_json_integer(j, "sticking", r->sticking);
    mor_json_integer(j, "sliding", r->sliding);
    mor_json_integer(j, "open", r->open);
    mor_json_text(j, "start", lab->options.warm ? "warm" : "cold");
    if (r->detail[0]) mor_json_text(j, "detail", r->detail);
    mor_json_end(j);
}

static void write_scene(mor_json* j, const mor_lab* lab, const mor_lab_scene* r)
{
    mor_json_object(j, NULL);
    mor_json_text(j, "scene", lab->scene_names[r->scene]);
    mor_json_text(j, "formulation", mor_lab_formulation_name(lab, r->formulation));
    mor_json_text(j, "solver", mor_lab_solver_name(lab, r->solver));
    mor_json_number(j, "step", r->step);
    mor_json_bool(j, "reference", r->reference);
    mor_json_text(j, "status", mor_status_name((mor_status)r->status));
    mor_json_integer(j, "steps", r->steps);
    mor_json_integer(j, "steps_done", r->done);
    mor_json_integer(j, "failures", r->failures);
    mor_json_number(j, "position_error", r->error);
    mor_json_object(j, "energy");
    mor_json_number(j, "initial", r->energy_start);
    mor_json_number(j, "final", r->energy_end);
    mor_json_number(j, "max_gain", r->energy_gain);
    mor_json_end(j);
    mor_json_number(j, "max_penetration", r->penetration);
    mor_json_number(j, "cpu_s", r->cpu_s);
    if (r->detail[0]) mor_json_text(j, "detail", r->detail);
    mor_json_end(j);
}

static void write_watch(mor_json* j, const mor_lab* lab)
{
    const mor_lab_watch* w = lab->watch;
    mor_json_object(j, "baseline");
    mor_json_integer(j, "compared", w->compared);
    mor_json_number(j, "machine", w->machine);
    mor_json_list(j, "worse");
    for (int i = 0; i < w->count; i++) {
        const mor_lab_finding* f = &w->findings[i];
        mor_json_object(j, NULL);
        mor_json_text(j, "what", mor_lab_change_name(f->what));
        mor_json_text(j, "formulation", mor_lab_formulation_name(lab, f->formulation));
        mor_json_text(j, "solver", mor_lab_solver_name(lab, f->solver));
        mor_json_number(j, "tol", lab->options.tols[f->tol]);
        mor_json_integer(j, "problems", f->problems);
        mor_json_number(j, "ratio", f->ratio);
        mor_json_number(j, "low", f->low);
        mor_json_number(j, "high", f->high);
        mor_json_text(j, "example", lab->problems[f->example].name);
        mor_json_end(j);
    }
    mor_json_end(j);
    mor_json_end(j);
}

static void write_curve(mor_json* j, const mor_lab_profile* p, int k)
{
    double tau[TAUS], fraction[TAUS];
    for (int i = 0; i < TAUS; i++) tau[i] = tau_at(i), fraction[i] = mor_lab_rho(p, k, tau[i]);
    mor_json_numbers(j, "tau", tau, TAUS);
    mor_json_numbers(j, "fraction", fraction, TAUS);
}

static int first_formulation(const mor_lab* lab)
{
    for (int f = -1; f < lab->formulation_count; f++)
        for (int i = 0; i < lab->run_count; i++)
            if (lab->runs[i].formulation == f && lab->runs[i].solver >= 0) return f;
    return -1;
}

void mor_lab_write_json(const mor_lab* lab, FILE* out)
{
    mor_json json = mor_json_begin(out), *j = &json;
    mor_json_object(j, NULL);
    mor_json_text(j, "producer", "moreau " MOR_VERSION_STRING);
    mor_json_text(j, "command", lab->options.command);
    mor_json_bool(j, "complete", lab->complete);
    mor_json_number(j, "time_limit_s", lab->options.time_limit);
    mor_json_list(j, "notes");
    for (int i = 0; i < mor_lab_notes_count(&lab->notes); i++) {
        char line[2000];
        mor_lab_notes_text(&lab->notes, i, line, sizeof line);
        mor_json_text(j, NULL, line);
    }
    mor_json_end(j);
    mor_json_list(j, "problems");
    for (int i = 0; i < lab->problem_count; i++) write_problem(j, &lab->problems[i]);
    mor_json_end(j);
    mor_json_list(j, "runs");
    for (int i = 0; i < lab->run_count; i++) write_run(j, lab, &lab->runs[i]);
    mor_json_end(j);
    /* `profiles`: the first formulation at the tightest tolerance; `profiles_by`: all of them */
    mor_lab_profile p;
    mor_json_object(j, "profiles");
    if (mor_lab_profile_make(lab, first_formulation(lab), lab->options.tol_count - 1, NULL, &p)) {
        for (int k = 0; k < p.solver_count; k++) {
            mor_json_object(j, mor_lab_solver_name(lab, p.solvers[k]));
            write_curve(j, &p, k);
            mor_json_end(j);
        }
        mor_lab_profile_free(&p);
    }
    mor_json_end(j);
    mor_json_list(j, "profiles_by");
    for (int f = -1; f < lab->formulation_count; f++)
        for (int t = 0; t < lab->options.tol_count; t++) {
            if (!mor_lab_profile_make(lab, f, t, NULL, &p)) continue;
            for (int k = 0; k < p.solver_count; k++) {
                mor_json_object(j, NULL);
                mor_json_text(j, "formulation", mor_lab_formulation_name(lab, f));
                mor_json_text(j, "solver", mor_lab_solver_name(lab, p.solvers[k]));
                mor_json_number(j, "tol", lab->options.tols[t]);
                mor_json_integer(j, "problems", p.problem_count);
                mor_json_integer(j, "solved", p.scores[k].solved);
                write_curve(j, &p, k);
                mor_json_end(j);
            }
            mor_lab_profile_free(&p);
        }
    mor_json_end(j);
    if (lab->watch) write_watch(j, lab);
    mor_json_list(j, "scenes");
    for (int i = 0; i < lab->scene_run_count; i++) write_scene(j, lab, &lab->scene_runs[i]);
    mor_json_end(j);
    mor_json_end(j);
    mor_json_finish(j);
}

static void csv_text(FILE* out, const char* text)
{
    fputc('"', out);
    for (; *text; text++) {
        if (*text == '"') fputc('"', out);
        fputc(*text, out);
    }
    fputc('"', out);
}

void mor_lab_write_csv(const mor_lab* lab, FILE* out)
{
    fprintf(out,
            "problem,family,kind,size,contacts,formulation,solver,tol,start,status,iterations,time_s,total_s,error,"
            "relative,absolute,velocity,"
            "natural,fb,cck,normal,friction,friction_power,coulomb_error,user_error,sticking,sliding,open,detail\n");
    for (int i = 0; i < lab->run_count; i++) {
        const mor_lab_run* r = &lab->runs[i];
        const mor_lab_problem* p = &lab->problems[r->problem];
        csv_text(out, p->name);
        fputc(',', out);
        csv_text(out, p->family);
        fprintf(out, ",%s,%d,%d,%s,%s,%g,%s,%s,%d,%.6e,%.6e,%.17g", p->kind, p->rows, p->contacts,
                mor_lab_formulation_name(lab, r->formulation), mor_lab_solver_name(lab, r->solver),
                lab->options.tols[r->tol], lab->options.warm ? "warm" : "cold", mor_status_name((mor_status)r->status),
                r->iterations, r->time_s, r->total_s, r->error);
        const double* x = &r->residual.relative;
        for (size_t k = 0; k < sizeof r->residual / sizeof(double); k++) fprintf(out, ",%.17g", x[k]);
        fprintf(out, ",%.17g,%.17g,%d,%d,%d,", r->coulomb, r->user_error, r->sticking, r->sliding, r->open);
        csv_text(out, r->detail);
        fputc('\n', out);
    }
}
