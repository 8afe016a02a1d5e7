/* What the audit of measured motion found, for the terminal and as JSON. */
#include "io/json/json.h"
#include "lab/calibrate.h"

#include <math.h>

static void print_three(FILE* out, const char* format, double scale, const double* x)
{
    for (int i = 0; i < 3; i++) {
        fputs(i ? ", " : "(", out);
        fprintf(out, format, scale * x[i]);
    }
    fputc(')', out);
}

/* What was found, its errors where there are enough runs to tell them, and what the scene says. */
static void print_vector(FILE* out, const char* what, const char* unit, const char* format, const char* error_format,
                         double scale, const double* found, const double* error, const double* scene)
{
    fputs(what, out);
    print_three(out, format, scale, found);
    fprintf(out, " %s, ", unit);
    if (isfinite(error[0])) fputs("errors ", out), print_three(out, error_format, scale, error);
    else fputs("errors not known", out);
    fputs("; the scene ", out);
    print_three(out, "%g", scale, scene);
    fputc('\n', out);
}

void mor_cal_audit_print(const mor_cal_audit* a, FILE* out)
{
    fprintf(out, "%s: %d runs fly, %d samples\n", a->body, a->runs, a->samples);
    if (a->runs) {
        print_vector(out, "  gravity of the flights  ", "m/s^2", "%.4g", "%.2g", 1.0, a->gravity, a->gravity_error,
                     a->scene_gravity);
        print_vector(out, "  centre of mass          ", "mm", "%.2f", "%.2f", 1e3, a->com, a->com_error, a->scene_com);
        fprintf(out, "  noise about the flights %.3g mm rms\n", 1e3 * a->noise);
    }
    if (isfinite(a->velocity_scale))
        fprintf(out,
                "  velocities              off by %.3g (backward), %.3g (forward), %.3g (central differences) m/s, "
                "scale %.4g\n",
                a->velocity[0], a->velocity[1], a->velocity[2], a->velocity_scale);
    if (isfinite(a->spin_scale))
        fprintf(out, "  angular velocities      off by %.3g (world), %.3g (body axes) rad/s, scale %.4g\n", a->spin[0],
                a->spin[1], a->spin_scale);
    if (isfinite(a->rest_gap)) fprintf(out, "  gap at the end          %.3g mm\n", 1e3 * a->rest_gap);
    for (int i = 0; i < a->finding_count; i++) fprintf(out, "  look: %s\n", a->findings[i]);
    if (!a->finding_count) fputs("  nothing to look at\n", out);
}

void mor_cal_audit_json(const mor_cal_audit* audits, int count, FILE* out)
{
    mor_json json = mor_json_begin(out);
    mor_json_object(&json, NULL);
    for (int i = 0; i < count; i++) {
        const mor_cal_audit* a = &audits[i];
        mor_json_object(&json, a->body);
        mor_json_integer(&json, "runs", a->runs);
        mor_json_integer(&json, "samples", a->samples);
        mor_json_numbers(&json, "gravity", a->gravity, 3);
        mor_json_numbers(&json, "gravity_error", a->gravity_error, 3);
        mor_json_numbers(&json, "scene_gravity", a->scene_gravity, 3);
        mor_json_numbers(&json, "com", a->com, 3);
        mor_json_numbers(&json, "com_error", a->com_error, 3);
        mor_json_numbers(&json, "scene_com", a->scene_com, 3);
        mor_json_number(&json, "noise", a->noise);
        mor_json_numbers(&json, "velocity_off", a->velocity, 3);
        mor_json_number(&json, "velocity_scale", a->velocity_scale);
        mor_json_numbers(&json, "spin_off", a->spin, 2);
        mor_json_number(&json, "spin_scale", a->spin_scale);
        mor_json_number(&json, "rest_gap", a->rest_gap);
        mor_json_list(&json, "findings");
        for (int k = 0; k < a->finding_count; k++) mor_json_text(&json, NULL, a->findings[k]);
        mor_json_end(&json);
        mor_json_end(&json);
    }
    mor_json_end(&json);
    fputc('\n', out);
}
