/* Runs stepped by another simulator, which a plan names by its shared object (mor_engine_function in moreau/lab.h).
 *
 * It gets the world with its initial states, so that masses, centres of mass and states are those of every other
 * method, and the values of the paths engine.NAME. */
#include "lab/calibrate_engine.h"

#include <string.h>

static const char prefix[] = "engine.";

bool mor_cal_is_engine_path(const char* path) { return strncmp(path, prefix, sizeof prefix - 1) == 0; }

int mor_cal_engine_values(const mor_calibration* c, int method, const double* x, mor_engine_value* values)
{
    const mor_cal_method* m = &c->methods[method];
    int count = 0;
    for (int i = 0; i < m->parameter_count; i++) {
        const mor_cal_parameter* p = &c->parameters[m->parameters[i]];
        for (int k = 0; k < p->path_count; k++)
            if (mor_cal_is_engine_path(p->paths[k]))
                values[count++] = (mor_engine_value){ p->paths[k] + sizeof prefix - 1, p->factors[k] * x[i] };
    }
    return count;
}

mor_code mor_cal_check_engine_paths(const mor_calibration* c, const mor_cal_method* m, const mor_node* at,
                                    mor_error* error)
{
    for (int i = 0; i < m->parameter_count && !m->engine; i++) {
        const mor_cal_parameter* p = &c->parameters[m->parameters[i]];
        bool own = false;
        for (int k = 0; k < p->path_count; k++) own = own || !mor_cal_is_engine_path(p->paths[k]);
        if (!own) return mor_node_fail(at, error, "'%.60s' changes an engine only, and this method has none", p->name);
    }
    return MOR_OK;
}
