/* The report of a comparison: one web page that needs nothing else. Tables sort by a click on their head, the table of
 * runs filters as one types, legends highlight their curve; without scripts everything but the table of runs is still
 * there, and it prints. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

#include "lab/compare.h"
#include "lab/page.h"
#include "lab/profile.h"
#include "lab/report_charts.h"
#include "lab/report_data.h"
#include "plot/page_chart.h"

/* -------------------------------------------------------------------------------- classes */

static bool is_small(const mor_lab_problem* p) { return p->rows <= 60; }
static bool is_medium(const mor_lab_problem* p) { return p->rows > 60 && p->rows <= 600; }
static bool is_large(const mor_lab_problem* p) { return p->rows > 600; }
static bool is_stiff(const mor_lab_problem* p) { return p->mass_ratio >= 1e3; }
static bool is_redundant(const mor_lab_problem* p) { return p->deficiency > 0; }
static bool is_full_rank(const mor_lab_problem* p) { return p->deficiency == 0; }

static const struct {
    const char* name;
    bool (*member)(const mor_lab_problem* problem);
} classes[] = { { "all problems", NULL },
                { "small: up to 60 rows", is_small },
                { "medium: 61 to 600 rows", is_medium },
                { "large: over 600 rows", is_large },
                { "mass ratio 1000 and more", is_stiff },
                { "redundant contacts (W singular)", is_redundant },
                { "W of full rank", is_full_rank } };
enum { CLASSES = sizeof classes / sizeof *classes };

static const char* title_of(const mor_lab* lab, int f)
{
    return f < 0 ? "stored problems" : mor_lab_formulation_name(lab, f);
}

static void time_cell(FILE* out, double s)
{
    if (!isfinite(s)) {
        fputs("<td class=\"n\" data-v=\"1e300\">–</td>", out);
        return;
    }
    const char* unit = s < 1e-3 ? "µs" : s < 1.0 ? "ms" : "s";
    fprintf(out, "<td class=\"n\" data-v=\"%.9g\">%.3g %s</td>", s, s * (s < 1e-3 ? 1e6 : s < 1.0 ? 1e3 : 1.0), unit);
}

int mor_report_ascending(const void* a, const void* b)
{
    double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

/* Sorted errors of a formulation's solved runs in the exact Coulomb problem; returns how many. `errors` has run_count
 * entries. */
static int coulomb_errors(const mor_lab* lab, int f, double* errors)
{
    int n = 0;
    for (int i = 0; i < lab->run_count; i++) {
        const mor_lab_run* r = &lab->runs[i];
        if (r->formulation == f && r->status == MOR_SOLVED && isfinite(r->coulomb) &&
            (r->solver < 0 || r->tol == lab->options.tol_count - 1))
            errors[n++] = r->coulomb;
    }
    qsort(errors, (size_t)n, sizeof *errors, mor_report_ascending);
    return n;
}

/* ----------------------------------------------------------------------------- at a glance */

static void glance(const mor_lab* lab, FILE* out)
{
    int tol = lab->options.tol_count - 1;
    fprintf(out,
            "<h2 id=\"glance\">At a glance</h2><p>The solver that solves most problems of a class at tolerance %g, and "
            "among equals the one with the least mean time. "
            "In brackets: solved of all, and the geometric mean of its time over the fastest "
            "solver's.</p><table><thead><tr><th>problems</th>",
            lab->options.tols[tol]);
    for (int f = -1; f < lab->formulation_count; f++) {
        mor_lab_profile p;
        bool shown = mor_lab_profile_make(lab, f, tol, NULL, &p) && p.problem_count;
        mor_lab_profile_free(&p);
        if (shown) fprintf(out, "<th>%s</th>", title_of(lab, f));
    }
    fputs("</tr></thead><tbody>\n", out);
    for (int c = 0; c < CLASSES; c++) {
        fprintf(out, "<tr><td>%s</td>", classes[c].name);
        for (int f = -1; f < lab->formulation_count; f++) {
            mor_lab_profile all, p;
            if (!mor_lab_profile_make(lab, f, tol, NULL, &all)) return;
            bool shown = all.problem_count > 0;
            mor_lab_profile_free(&all);
            if (!shown || !mor_lab_profile_make(lab, f, tol, classes[c].member, &p)) continue;
            int w = mor_lab_winner(&p);
            if (p.problem_count == 0) fputs("<td class=\"dim\">no such problem</td>", out);
            else if (w < 0) fprintf(out, "<td>none (0 of %d)</td>", p.problem_count);
            else
                fprintf(out, "<td><b>%s</b> (%d of %d, %.2g×)</td>", mor_lab_solver_name(lab, p.solvers[w]),
                        p.scores[w].solved, p.problem_count, p.scores[w].ratio);
            mor_lab_profile_free(&p);
        }
        fputs("</tr>\n", out);
    }
    double* errors = malloc(((size_t)lab->run_count + 1) * sizeof *errors);
    fputs("<tr><td>how far from Coulomb's law: median, 9 of 10 below [m/s]</td>", out);
    for (int f = -1; errors && f < lab->formulation_count; f++) {
        mor_lab_profile p;
        bool shown = mor_lab_profile_make(lab, f, tol, NULL, &p) && p.problem_count;
        mor_lab_profile_free(&p);
        if (!shown) continue;
        int n = f < 0 ? 0 : coulomb_errors(lab, f, errors);
        if (n) fprintf(out, "<td>%.0e, %.0e</td>", errors[n / 2], errors[n * 9 / 10]);
        else fputs("<td>–</td>", out);
    }
    free(errors);
    fputs("</tr>\n</tbody></table>\n", out);
}

/* ---------------------------------------------------------------------------------- scores */

static void scores(const mor_lab* lab, int f, FILE* out)
{
    fputs("<table class=\"sort\"><thead><tr><th>solver</th>", out);
    for (int t = 0; t < lab->options.tol_count; t++)
        fprintf(out,
                "<th class=\"n\">solved at %g</th><th class=\"n\">fastest</th><th class=\"n\">× best</th><th "
                "class=\"n\">median time</th><th class=\"n\">iterations</th><th class=\"n\">median error</th>",
                lab->options.tols[t]);
    fputs("</tr></thead><tbody>\n", out);
    mor_lab_profile p[MOR_LAB_TOLS];
    for (int t = 0; t < lab->options.tol_count; t++)
        if (!mor_lab_profile_make(lab, f, t, NULL, &p[t])) return;
    for (int k = 0; k < p[0].solver_count; k++) {
        fprintf(out, "<tr><td>%s</td>", mor_lab_solver_name(lab, p[0].solvers[k]));
        for (int t = 0; t < lab->options.tol_count; t++) {
            const mor_lab_score* s = NULL;
            for (int i = 0; i < p[t].solver_count; i++)
                if (p[t].solvers[i] == p[0].solvers[k]) s = &p[t].scores[i];
            if (!s) {
                fputs("<td></td><td></td><td></td><td></td><td></td><td></td>", out);
                continue;
            }
            double fraction = s->problems ? (double)s->solved / s->problems : 0.0;
            fprintf(out, "<td class=\"n bar\" data-v=\"%.9g\" style=\"--w:%.0f%%\">%d / %d</td>", fraction,
                    100.0 * fraction, s->solved, s->problems);
            mor_page_number(out, "%.0f", s->fastest);
            mor_page_number(out, "%.2f", s->ratio);
            time_cell(out, s->median);
            mor_page_number(out, "%.4g", s->median_iterations);
            mor_page_number(out, "%.1e", s->median_error);
        }
        fputs("</tr>\n", out);
    }
    fputs("</tbody></table>\n", out);
    for (int t = 0; t < lab->options.tol_count; t++) mor_lab_profile_free(&p[t]);
}

/* ----------------------------------------------------------------------------- formulations */

static void formulations(const mor_lab* lab, FILE* out)
{
    double* errors = malloc(((size_t)lab->run_count + 1) * sizeof *errors);
    if (!errors) return;
    fputs("<h2 id=\"formulations\">How far from Coulomb's law</h2><p>Impulses of every solved run, put into the exact "
          "Coulomb problem of the same step (gaps in the rows, "
          "circular cones) and judged in m/s. What is left when the solver is accurate is the formulation's own: the "
          "polygon, the relaxation, the springs. "
          "A formulation that poses another problem (ap has no gaps in its rows) is not wrong by this, but it is "
          "different.</p>"
          "<table class=\"sort\"><thead><tr><th>formulation</th><th class=\"n\">solved runs</th><th class=\"n\">median "
          "[m/s]</th><th class=\"n\">9 of 10 below</th><th class=\"n\">largest</th></tr></thead><tbody>\n",
          out);
    for (int f = 0; f < lab->formulation_count; f++) {
        int n = coulomb_errors(lab, f, errors);
        if (!n) continue;
        fprintf(out, "<tr><td>%s</td><td class=\"n\" data-v=\"%d\">%d</td>", mor_lab_formulation_name(lab, f), n, n);
        mor_page_number(out, "%.2e", errors[n / 2]);
        mor_page_number(out, "%.2e", errors[(n * 9) / 10 < n ? (n * 9) / 10 : n - 1]);
        mor_page_number(out, "%.2e", errors[n - 1]);
        fputs("</tr>\n", out);
    }
    fputs("</tbody></table>\n", out);
    free(errors);
}

/* -------------------------------------------------------------------------------- problems */

static const mor_lab_run* best_run(const mor_lab* lab, int problem)
{
    const mor_lab_run* best = NULL;
    for (int i = 0; i < lab->run_count; i++) {
        const mor_lab_run* r = &lab->runs[i];
        if (r->problem == problem && r->status == MOR_SOLVED && isfinite(r->coulomb) &&
            (!best || r->coulomb < best->coulomb))
            best = r;
    }
    return best;
}

/* What was told on the terminal about the files. */
static void notes(const mor_lab* lab, FILE* out)
{
    int count = mor_lab_notes_count(&lab->notes);
    if (count == 0) return;
    fprintf(out,
            "<details id=\"notes\"><summary>Where the files deviate from their format, and what was made of it (%d)"
            "</summary><ul>\n",
            count);
    for (int i = 0; i < count; i++) {
        char line[2000];
        mor_lab_notes_text(&lab->notes, i, line, sizeof line);
        fputs("<li>", out);
        mor_html_text(out, line);
        fputs("</li>\n", out);
    }
    fputs("</ul></details>\n", out);
}

static void problems(const mor_lab* lab, FILE* out)
{
    fprintf(
        out,
        "<h2 id=\"problems\">Problems</h2><p>%d problems. W = Gᵀ M⁻¹ G; stick, slide and open are counted in the "
        "answer nearest to Coulomb's law. As stored: the impulses the file came with, judged like all others in the "
        "exact Coulomb problem.</p>"
        "<div class=\"tall\"><table class=\"sort\" "
        "id=\"problem-table\"><thead><tr><th>problem</th><th>family</th><th>kind</th><th "
        "class=\"n\">bodies</th><th class=\"n\">contacts</th><th class=\"n\">rows</th><th class=\"n\">dof</th>"
        "<th class=\"n\">rows / dof</th><th class=\"n\">rank deficiency</th><th class=\"n\">condition of W</th><th "
        "class=\"n\">mass ratio</th><th class=\"n\">stick</th><th class=\"n\">slide</th><th "
        "class=\"n\">open</th><th>as stored</th><th class=\"n\">its error [m/s]</th></tr></thead><tbody>\n",
        lab->problem_count);
    for (int i = 0; i < lab->problem_count; i++) {
        const mor_lab_problem* p = &lab->problems[i];
        fputs("<tr><td>", out);
        mor_html_text(out, p->name);
        fputs("</td><td>", out);
        mor_html_text(out, p->family);
        fprintf(out, "</td><td>%s</td>", p->kind);
        bool frame = p->frame >= 0;
        mor_page_number(out, "%.0f", frame ? p->bodies : NAN);
        mor_page_number(out, "%.0f", p->contacts);
        mor_page_number(out, "%.0f", p->rows);
        mor_page_number(out, "%.0f", frame ? p->dof : NAN);
        mor_page_number(out, "%.2f", frame && p->dof ? (double)p->rows / p->dof : NAN);
        mor_page_number(out, "%.0f", p->deficiency >= 0 ? p->deficiency : NAN);
        mor_page_number(out, "%.1e", p->condition);
        mor_page_number(out, "%.4g", p->mass_ratio);
        const mor_lab_run* best = best_run(lab, i);
        mor_page_number(out, "%.0f", best ? best->sticking : NAN);
        mor_page_number(out, "%.0f", best ? best->sliding : NAN);
        mor_page_number(out, "%.0f", best ? best->open : NAN);
        fputs("<td>", out);
        mor_html_text(out, p->stored_by);
        fputs("</td>", out);
        mor_page_number(out, "%.1e", p->stored_error);
        fputs("</tr>\n", out);
    }
    fputs("</tbody></table></div>\n", out);
    notes(lab, out);
}

static void runs(const mor_lab* lab, FILE* out)
{
    fprintf(out,
            "<h2 id=\"runs\">Runs</h2><p>%d runs. <input id=\"filter\" aria-label=\"words that must occur\" "
            "placeholder=\"filter: words that must occur, e.g. pile nsgs not_converged\" size=\"50\"> <span "
            "id=\"count\" role=\"status\"></span></p>"
            "<div class=\"tall\"><table "
            "id=\"runs-table\"><thead><tr><th>problem</th><th>formulation</th><th>solver</th><th "
            "class=\"n\">tolerance</th><th>status</th><th class=\"n\">iterations</th>"
            "<th class=\"n\">solver [s]</th><th class=\"n\">total [s]</th><th class=\"n\">error</th><th "
            "class=\"n\">natural</th><th class=\"n\">FB</th><th class=\"n\">CCK</th><th class=\"n\">normal</th><th "
            "class=\"n\">friction</th>%s%s%s<th>detail</th></tr></thead><tbody></tbody></table></div>\n",
            lab->run_count, lab->options.error ? "<th class=\"n\">" : "",
            lab->options.error ? lab->options.error_name : "", lab->options.error ? "</th>" : "");
    mor_report_data(lab, out);
}

/* -------------------------------------------------------------------------------- the page */

static void machine(char* text, size_t size)
{
    struct utsname u;
    char line[256], cpu[160] = "unknown processor";
    FILE* f = fopen("/proc/cpuinfo", "r");
    while (f && fgets(line, sizeof line, f))
        if (strncmp(line, "model name", 10) == 0 && strchr(line, ':')) {
            snprintf(cpu, sizeof cpu, "%s", strchr(line, ':') + 2);
            cpu[strcspn(cpu, "\n")] = '\0';
            break;
        }
    if (f) fclose(f);
    if (uname(&u) != 0) snprintf(text, size, "%s", cpu);
    else snprintf(text, size, "%s, %s %s %s", cpu, u.sysname, u.release, u.machine);
}

static void head(const mor_lab* lab, FILE* out)
{
    char where[512], when[64] = "";
    time_t now = time(NULL);
    struct tm parts;
    if (gmtime_r(&now, &parts)) strftime(when, sizeof when, "%Y-%m-%d %H:%M UTC", &parts);
    machine(where, sizeof where);
    int failed = 0, assumed = 0;
    for (int i = 0; i < lab->run_count; i++)
        failed += lab->runs[i].status != MOR_SOLVED, assumed += lab->runs[i].assumed;
    mor_page_begin(out, "moreau compare");
    fprintf(out, "<h1>Comparison of contact solvers</h1>\n");
    if (!lab->complete)
        fprintf(out,
                "<p class=\"warn\">This comparison was interrupted: %d of %d runs are here. Scores and profiles are "
                "made from "
                "the problems on which all solvers have run; the others are in the table of runs only.</p>\n",
                lab->run_count, lab->planned);
    fprintf(out,
            "<p>%d problems, %d runs, %d of them not solved (%d of these not tried, see the rules). %s start, %g s and "
            "%g GB for each solve, tolerances",
            lab->problem_count, lab->run_count, failed, assumed, lab->options.warm ? "Warm" : "Cold",
            lab->options.time_limit, lab->options.memory_gb);
    for (int t = 0; t < lab->options.tol_count; t++) fprintf(out, "%s %g", t ? "," : "", lab->options.tols[t]);
    fprintf(out,
            ".</p>\n<p class=\"dim\">moreau %s · %s · %s · %d processes, %.0f s, %.0f s of CPU time<br>made by <code>",
            mor_version(), where, when, lab->options.jobs, lab->wall_s, lab->cpu_s);
    mor_html_text(out, lab->options.command);
    fputs("</code></p>\n<nav>", out);
    fputs("<a href=\"#glance\">at a glance</a> <a href=\"#explore\">explore</a>", out);
    for (int f = -1; f < lab->formulation_count; f++)
        for (int i = 0; i < lab->run_count; i++)
            if (lab->runs[i].formulation == f && lab->runs[i].solver >= 0) {
                fprintf(out, " <a href=\"#f%d\">%s</a>", f + 1, title_of(lab, f));
                break;
            }
    fputs(" <a href=\"#robust\">robustness</a> <a href=\"#formulations\">formulations</a> ", out);
    if (lab->scene_run_count) fputs("<a href=\"#scenes\">whole runs</a> ", out);
    fputs("<a href=\"#problems\">problems</a> <a href=\"#runs\">runs</a> <a href=\"#rules\">rules</a></nav>\n", out);
}

static void rules(const mor_lab* lab, FILE* out)
{
    fputs(mor_page_rules, out);
    fputs("<h3>Options of the solvers</h3><table class=\"sort\"><thead><tr><th>solver</th><th class=\"n\">most "
          "iterations</th><th>options</th></tr></thead><tbody>\n",
          out);
    for (int s = 0; s < lab->solver_count; s++) {
        fprintf(out, "<tr><td>%s</td><td class=\"n\" data-v=\"%d\">%d</td><td>", lab->solvers[s]->name,
                lab->solvers[s]->max_iter, lab->solvers[s]->max_iter);
        char* options = calloc(1, lab->solvers[s]->options_size + 1);
        if (options) mor_fields_default(lab->solvers[s]->fields, options);
        for (const mor_field* f = lab->solvers[s]->fields; options && f && f->name; f++) {
            char value[64];
            mor_field_print(f, options, value, sizeof value);
            fprintf(out, "%s%s=%s", f == lab->solvers[s]->fields ? "" : " ", f->name, value);
        }
        free(options);
        fputs("</td></tr>\n", out);
    }
    fputs("</tbody></table>\n", out);
}

void mor_lab_write_html(const mor_lab* lab, FILE* out)
{
    head(lab, out);
    glance(lab, out);
    fputs("<h2 id=\"explore-head\">Explore</h2><p>Hover shows a solver, a click on its name hides it. Drag over the "
          "points "
          "to select problems; a click on a point or a curve opens the problem. Escape clears.</p><div "
          "id=\"explore\"><noscript>This part needs scripts; all figures are in the tables below.</noscript></div>\n",
          out);
    for (int f = -1; f < lab->formulation_count; f++) {
        bool any = false;
        for (int i = 0; i < lab->run_count && !any; i++)
            any = lab->runs[i].formulation == f && lab->runs[i].solver >= 0;
        if (!any) continue;
        fprintf(out, "<h2 id=\"f%d\">%s</h2><p>", f + 1, title_of(lab, f));
        if (f >= 0) mor_html_text(out, lab->formulations[f]->summary);
        else fputs("problems read as they are stored, judged by their relative error", out);
        fputs(".</p>\n", out);
        scores(lab, f, out);
        mor_report_profiles(lab, f, out);
        fputs("<div class=\"charts\">", out);
        mor_report_sizes(lab, f, out);
        mor_report_precision(lab, f, out);
        fputs("</div>\n<h3>Convergence</h3><p>The error, as the tolerance means it, over the iterations of up to ",
              out);
        fprintf(out, "%d problems; one curve each.</p>\n", lab->options.traces);
        mor_report_convergence(lab, f, out);
    }
    mor_report_robust(lab, out);
    formulations(lab, out);
    mor_lab_report_scenes(lab, out);
    problems(lab, out);
    runs(lab, out);
    rules(lab, out);
    fputs("<script>\n", out);
    fwrite(mor_report_script, 1, mor_report_script_size, out);
    fputs("</script></body></html>\n", out);
}
