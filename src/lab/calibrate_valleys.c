/* Profiles, and valleys: where two parameters together leave the error as it is.
 *
 * A profile holds one parameter and fits all others again. Quadratics around the best point do not see valleys that
 * bend, so each parameter is moved with the one that it is most coupled to, on the true error. */
#include "base/elementary.h"
#include "lab/calibrate_work.h"

#include <math.h>
#include <string.h>

typedef struct others {
    mor_cal_work* k;
    int held;
    double value;
} others;

static double cost_of_others(void* user, const double* rest)
{
    others* o = user;
    double z[MOR_CAL_PARAMETERS], mean[3];
    for (int i = 0, r = 0; i < o->k->n; i++) z[i] = i == o->held ? o->value : rest[r++];
    const mor_cal_point* p = mor_cal_at(o->k, z);
    if (!p || mor_cal_mean(o->k->c, p->scores, true, mean)) return HUGE_VAL;
    return mean[0];
}

mor_code mor_cal_profile(mor_cal_work* k, mor_cal_result* r, mor_error* error)
{
    static volatile bool never;
    for (int j = 0; j < k->n; j++) {
        const mor_cal_parameter* p = &k->c->parameters[k->m->parameters[j]];
        mor_cal_interval* v = &r->intervals[j];
        double low = mor_cal_to_unit(p, v->low), high = mor_cal_to_unit(p, v->high), margin = 0.5 * (high - low) + 0.01;
        low = mor_max(low - margin, 0.0), high = mor_min(high + margin, 1.0);
        for (int i = 0; i < k->c->profile; i++) {
            others o = { k, j, k->c->profile > 1 ? low + (high - low) * i / (k->c->profile - 1) : k->z[j] };
            double rest[MOR_CAL_PARAMETERS], best;
            for (int a = 0, b = 0; a < k->n; a++)
                if (a != j) rest[b++] = k->z[a];
            if (k->n == 1) {
                best = cost_of_others(&o, rest);
            } else {
                mor_code code = mor_optimise("sbplx", k->n - 1, NULL, rest, cost_of_others, &o, 20 * k->n,
                                             k->c->tolerance, 0.05, 1, &never, &best, error);
                if (code) return code;
            }
            v->profile_x[v->profile_count] = mor_cal_from_unit(p, o.value);
            v->profile_error[v->profile_count++] = best;
        }
    }
    return MOR_OK;
}

/* Looks for valleys: parameter j goes 0.15 of its range away and the one that it is most coupled to makes up for it.
 * Where that helps, all others are fitted there. Points as good as the best one then lie far from it. */
mor_code mor_cal_walk_valleys(mor_cal_work* k, mor_error* error)
{
    static volatile bool never;
    double model[MOR_CAL_TERMS], C[MOR_CAL_PARAMETERS][MOR_CAL_PARAMETERS];
    mor_cal_mean_model(k, false, model);
    for (int i = 0, t = k->n + 1; i < k->n; i++)
        for (int j = i; j < k->n; j++) C[i][j] = C[j][i] = model[t++] / (k->d[i] * k->d[j]);
    for (int j = 0; j < k->n; j++) {
        int other = -1;
        double most = 0.3;
        for (int i = 0; i < k->n; i++) {
            double coupling = fabs(C[i][j]) / sqrt(mor_max(C[i][i] * C[j][j], 1e-300));
            if (i != j && !k->flat[i] && !k->flat[j] && C[i][i] > 0.0 && coupling > most) most = coupling, other = i;
        }
        for (int side = -1; other >= 0 && side <= 1; side += 2) {
            double z[MOR_CAL_PARAMETERS], alone, together, rest[MOR_CAL_PARAMETERS], best;
            memcpy(z, k->z, sizeof z);
            z[j] = mor_min(mor_max(z[j] + 0.15 * side, 0.0), 1.0);
            const mor_cal_point* p = mor_cal_at(k, z);
            if (!p) return MOR_OK;
            mor_cal_significance(k, p, &alone);
            z[other] = mor_min(mor_max(z[other] - C[other][j] / C[other][other] * (z[j] - k->z[j]), 0.0), 1.0);
            if (!(p = mor_cal_at(k, z))) return MOR_OK;
            mor_cal_significance(k, p, &together);
            if (!(together < 0.5 * alone)) continue;
            others o = { k, j, z[j] };
            for (int a = 0, b = 0; a < k->n; a++)
                if (a != j) rest[b++] = z[a];
            mor_code code = mor_optimise("sbplx", k->n - 1, NULL, rest, cost_of_others, &o, 12 * (k->n - 1),
                                         k->c->tolerance, 0.03, 1, &never, &best, error);
            if (code) return code;
        }
    }
    return MOR_OK;
}

/* All points that were ever tried and fit as well widen the intervals. */
void mor_cal_take_equals(mor_cal_work* k, mor_cal_result* r)
{
    for (int i = 0; i < k->c->point_count; i++) {
        const mor_cal_point* p = k->c->points[i];
        double part;
        if (p->method != k->method || mor_cal_significance(k, p, &part) > 1.0 || part > 0.01) continue;
        for (int j = 0; j < k->n; j++) {
            if (k->flat[j]) continue;
            mor_cal_widen(&r->intervals[j], p->x[j]);
            for (int m = 0; m < k->n; m++) { /* far apart, yet as good: the two go together */
                double a = mor_cal_to_unit(&k->c->parameters[k->m->parameters[j]], p->x[j]) - k->z[j];
                double b = mor_cal_to_unit(&k->c->parameters[k->m->parameters[m]], p->x[m]) - k->z[m];
                if (m != j && !k->flat[m] && fabs(a) > 0.1 && fabs(b) > 0.03)
                    r->correlation[j][m] = r->correlation[m][j] = a * b > 0.0 ? 1.0 : -1.0;
            }
        }
    }
}
