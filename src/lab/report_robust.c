/* How often every solver ended how, over all problems, formulations and tolerances, and the reason it gave most
 * often. */
#include <string.h>

#include "lab/page.h"
#include "lab/report_data.h"
#include "plot/page_chart.h"

enum { STATES = MOR_APPROXIMATE + 1, MOST_REASONS = 64 };

typedef struct row {
    int runs, count[STATES], assumed;
    int reasons[MOST_REASONS], reason_count;
    const char* texts[MOST_REASONS];
} row;

/* Reasons are counted by their text without numbers: "after 812 iterations" and "after 9 iterations" are one. */
static bool same_reason(const char* a, const char* b)
{
    for (;; a++, b++) {
        while (*a && strchr("0123456789.+-e", *a)) a++;
        while (*b && strchr("0123456789.+-e", *b)) b++;
        if (*a != *b) return false;
        if (!*a) return true;
    }
}

static void count_run(row* r, const mor_lab_run* run)
{
    r->runs++;
    r->assumed += run->assumed;
    if (run->status >= 0 && run->status < STATES) r->count[run->status]++;
    if (run->status == MOR_SOLVED || !run->detail[0]) return;
    int k = 0;
    while (k < r->reason_count && !same_reason(r->texts[k], run->detail)) k++;
    if (k == MOST_REASONS) return;
    if (k == r->reason_count) r->texts[r->reason_count] = run->detail, r->reasons[r->reason_count++] = 0;
    r->reasons[k]++;
}

static void write_row(const mor_lab* lab, int f, int s, FILE* out)
{
    row r = { 0 };
    for (int i = 0; i < lab->run_count; i++)
        if (lab->runs[i].formulation == f && lab->runs[i].solver == s) count_run(&r, &lab->runs[i]);
    if (r.runs == 0) return;
    fprintf(out, "<tr><td>%s</td><td>%s</td>", mor_lab_solver_name(lab, s), mor_lab_formulation_name(lab, f));
    mor_page_number(out, "%.0f", r.runs);
    for (int k = 0; k < STATES; k++) mor_page_number(out, "%.0f", r.count[k]);
    mor_page_number(out, "%.0f", r.assumed);
    int most = -1;
    for (int k = 0; k < r.reason_count; k++)
        if (most < 0 || r.reasons[k] > r.reasons[most]) most = k;
    fputs("<td>", out);
    if (most >= 0) {
        fprintf(out, "%d times: ", r.reasons[most]);
        mor_html_text(out, r.texts[most]);
    }
    fputs("</td></tr>\n", out);
}

void mor_report_robust(const mor_lab* lab, FILE* out)
{
    fputs("<h2 id=\"robust\">Robustness</h2><p>How often every solver ended how, over all problems and tolerances, and "
          "the "
          "reason it gave most often.</p><div class=\"tall\"><table class=\"sort\"><thead><tr><th>solver</th>"
          "<th>formulation</th><th class=\"n\">runs</th>",
          out);
    for (int k = 0; k < STATES; k++) {
        fputs("<th class=\"n\">", out);
        for (const char* c = mor_status_name((mor_status)k); *c; c++) fputc(*c == '_' ? ' ' : *c, out);
        fputs("</th>", out);
    }
    fputs("<th class=\"n\">not tried</th><th>most frequent reason</th></tr></thead><tbody>\n", out);
    for (int s = -1; s < lab->solver_count; s++)
        for (int f = -1; f < lab->formulation_count; f++) write_row(lab, f, s, out);
    fputs("</tbody></table></div>\n", out);
}
