/* The whole runs of scenes in a report: a table, and for each scene the error against the step and against the time it
 * cost. */
#include <math.h>
#include <stdio.h>

#include "lab/page.h"
#include "plot/page_chart.h"
#include "lab/compare.h"

static void charts(const mor_lab* lab, int scene, FILE* out)
{
    for (int what = 0; what < 2; what++) {
        mor_panel c = { .x_log = true, .log = true };
        snprintf(c.title, sizeof c.title, "%.60s: error against %s", lab->scene_names[scene],
                 what ? "CPU time" : "step");
        snprintf(c.x_label, sizeof c.x_label, what ? "CPU time of the run [s]" : "step [s]");
        snprintf(c.y_label, sizeof c.y_label, "position error [m]");
        mor_curve* s = NULL;
        int style = 0;
        for (int i = 0; i < lab->scene_run_count; i++) {
            const mor_lab_scene *r = &lab->scene_runs[i], *before = i ? r - 1 : NULL;
            if (r->scene != scene || r->reference) continue;
            if (!s || !before || before->formulation != r->formulation || before->solver != r->solver ||
                before->reference) {
                char label[80];
                snprintf(label, sizeof label, "%s %s", mor_lab_formulation_name(lab, r->formulation),
                         r->solver < 0 ? "" : mor_lab_solver_name(lab, r->solver));
                if (!before || before->reference || before->formulation != r->formulation ||
                    before->solver != r->solver)
                    s = mor_page_curve(&c, label, style++);
            }
            if (isfinite(r->error) && r->error > 0.0) mor_curve_point(s, what ? r->cpu_s : r->step, r->error);
        }
        mor_page_chart(&c, 330, 230, out);
        mor_panel_clear(&c);
    }
}

void mor_lab_report_scenes(const mor_lab* lab, FILE* out)
{
    if (lab->scene_run_count == 0) return;
    fputs("<h2 id=\"scenes\">Whole runs</h2><p>Position error: at ten times of the run, the root mean square distance "
          "of the bodies' centres from the reference (the run with the finest step), the largest of the ten. "
          "Energy gain: largest rise over the start without the work of forces, belts, gap correction and position "
          "projection. Penetration as the collision "
          "geometry sees it at the end of each step.</p>\n"
          "<table class=\"sort\"><thead><tr><th>scene</th><th>formulation</th><th>solver</th><th class=\"n\">step "
          "[s]</th><th class=\"n\">position error [m]</th><th class=\"n\">energy at end [J]</th><th class=\"n\">energy "
          "gain [J]</th>"
          "<th class=\"n\">penetration [m]</th><th class=\"n\">CPU [s]</th><th class=\"n\">failed "
          "steps</th><th>status</th></tr></thead><tbody>\n",
          out);
    for (int i = 0; i < lab->scene_run_count; i++) {
        const mor_lab_scene* r = &lab->scene_runs[i];
        fputs("<tr><td>", out);
        mor_html_text(out, lab->scene_names[r->scene]);
        fprintf(out, "</td><td>%s</td><td>%s</td>", mor_lab_formulation_name(lab, r->formulation),
                mor_lab_solver_name(lab, r->solver));
        mor_page_number(out, "%.4g", r->step);
        mor_page_number(out, "%.2e", r->reference ? NAN : r->error);
        mor_page_number(out, "%.5g", r->energy_end);
        mor_page_number(out, "%.1e", r->energy_gain);
        mor_page_number(out, "%.1e", r->penetration);
        mor_page_number(out, "%.3g", r->cpu_s);
        mor_page_number(out, "%.0f", r->failures);
        fprintf(out, "<td>%s%s", r->reference ? "reference, " : "", mor_status_name((mor_status)r->status));
        if (r->detail[0]) fputs(": ", out), mor_html_text(out, r->detail);
        fputs("</td></tr>\n", out);
    }
    fputs("</tbody></table>\n<div class=\"charts own\">", out);
    for (int s = 0; s < lab->scene_count; s++) charts(lab, s, out);
    fputs("</div>\n", out);
}
