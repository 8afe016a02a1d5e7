/* Values of a plan that the scene does not take: refused before the first simulation, with their place in the plan.
 *
 * A method is tried with the starts of all its parameters. If the scene refuses it, every parameter is tried alone, so
 * that the one at fault is named; what is left is said of the method. */
#include "lab/calibrate_columns.h"
#include "lab/calibrate_engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Does the scene take the values of a method, and the starts of its parameters `from` ... `to` - 1? */
static bool takes(const mor_calibration* c, const mor_cal_method* m, int from, int to, mor_error* error)
{
    enum { ROOM = MOR_CAL_SETS + MOR_CAL_PARAMETERS * MOR_CAL_PATHS + 1 };
    const char* sets[ROOM];
    char(*text)[220] = malloc(sizeof *text * MOR_CAL_PARAMETERS * MOR_CAL_PATHS);
    int n = 0, used = 0;
    if (!text) return true; /* out of memory shows elsewhere */
    for (int i = 0; i < m->set_count; i++) sets[n++] = m->sets[i];
    for (int i = from; i < to; i++) {
        const mor_cal_parameter* p = &c->parameters[m->parameters[i]];
        for (int k = 0; k < p->path_count; k++) {
            if (mor_cal_is_engine_path(p->paths[k])) continue;
            snprintf(text[used], sizeof *text, "%s=%.17g", p->paths[k], p->factors[k] * p->start);
            sets[n++] = text[used++];
        }
    }
    sets[n] = NULL;
    mor_scene* scene = mor_scene_load(c->scene, sets, c->library, error);
    free(text);
    mor_scene_destroy(scene);
    return scene != NULL;
}

/* What follows the place "--set VALUE:1:COLUMN: " in a sentence about a value. */
static const char* without_place(const char* text)
{
    const char* at = strncmp(text, "--set ", 6) == 0 ? strstr(text, ": ") : NULL;
    return at ? at + 2 : text;
}

mor_code mor_cal_check_values(const mor_calibration* c, const mor_cal_method* m, const mor_node* at, mor_error* error)
{
    mor_error why = { 0 };
    if (takes(c, m, 0, m->parameter_count, &why)) return MOR_OK;
    for (int i = 0; i < m->parameter_count; i++) {
        mor_error one = { 0 };
        const mor_cal_parameter* p = &c->parameters[m->parameters[i]];
        if (!takes(c, m, i, i + 1, &one) && takes(c, m, 0, 0, &(mor_error){ 0 }))
            return mor_node_fail(p->node, error, "%.60s: %.300s", p->name, without_place(one.text));
    }
    return mor_node_fail(at, error, "%.300s", without_place(why.text));
}
