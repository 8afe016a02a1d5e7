/* Golden lines of the formulations: small scenes for some steps, with every option, impact law, way to undo overlaps
 * and drift of joints. */
#include "golden.h"

#include "moreau/moreau.h"

#include <stdio.h>

enum { STEPS = 8, SETTINGS = 4, SCENES = 7, MOST = 3 };

/* One world; `setting` is one of --set, or NULL. False: the formulation does not take it. */
static bool run(const mor_formulation* f, const char* scene, const char* setting, int steps)
{
    char path[400], name[400], method[120];
    const char* overrides[SETTINGS + 1] = { method, setting };
    int count = setting ? 2 : 1;
    if (f->turning < 2) overrides[count++] = "materials.default.drilling=0";
    if (f->turning < 1 || f->produces == MOR_CQP) /* which takes a million iterations with rolling friction */
        overrides[count++] = "materials.default.rolling=0";
    snprintf(path, sizeof path, MOREAU_SOURCE_DIR "/tests/golden/scenes/%s.yaml", scene);
    snprintf(name, sizeof name, "%s %s%s%s", f->name, scene, setting ? "," : "", setting ? setting : "");
    snprintf(method, sizeof method, "method.formulation=%s", f->name);
    mor_error error = { 0 };
    mor_scene* s = mor_scene_load(path, overrides, NULL, &error);
    mor_world* w = s ? mor_scene_build(s, 1, &error) : NULL;
    int iterations = 0, unsolved = 0, taken = 0;
    mor_code code = w ? MOR_OK : MOR_BAD_INPUT;
    uint64_t h = GOLDEN_START;
    for (; taken < steps && code == MOR_OK; taken += code == MOR_OK) {
        mor_step_report r = { 0 };
        mor_scene_apply_forces(s, w);
        code = mor_world_step(w, &r, &error);
        iterations += r.iterations, unsolved += r.status != MOR_SOLVED && r.status != MOR_APPROXIMATE;
        h = golden_integers(h, (int[]){ (int)r.status, r.contacts, r.problem_size, r.struck, r.cured, r.parts }, 6);
        h = golden_numbers(h, (double[]){ r.residual, r.penetration, r.projection_work, r.contact_work }, 4);
    }
    uint64_t state = w ? mor_world_hash(w) : 0;
    for (int k = 0; k < 8; k++) h = golden_integers(h, (int[]){ (int)(state >> (8 * k) & 255) }, 1);
    bool refused = code != MOR_OK && taken == 0;
    golden_line(name,
                refused    ? "refused"
                : code     ? "stopped"
                : unsolved ? "unsolved"
                           : "ok",
                iterations, refused ? golden_text(0, code == MOR_STOPPED ? "stopped" : "bad input") : h);
    mor_world_destroy(w);
    mor_scene_destroy(s);
    return !refused;
}

void golden_formulation(const mor_formulation* f)
{
    static const char* const scenes[SCENES] = { "planar", "blocks", "linkage", "robots", "narrow", "hinges", "tumble" };
    static const char* const ways[] = { "method.gap_correction=velocity",
                                        "method.gap_correction=bounded",
                                        "method.friction_align=slip",
                                        "method.sticking=anchored",
                                        "method.friction_directions=5",
                                        "method.relinearise=2",
                                        "method.collision=features",
                                        "method.solver=psor",
                                        "method.solver=nsn-tree",
                                        "method.stabilisation=baumgarte",
                                        "method.stabilisation=projection",
                                        "method.stabilisation=none",
                                        "method.coordinates=minimal",
                                        "method.coordinates=maximal",
                                        "method.integrator=midpoint",
                                        "materials.default.impact=newton",
                                        "materials.default.impact=poisson",
                                        "materials.default.impact=tangential",
                                        "materials.default.impact=routh-poisson",
                                        "materials.default.impact=routh-stronge" };
    const char* taken[SCENES] = { 0 };
    char setting[500], values[GOLDEN_VALUES][64];
    int known = 0, turn = 0;
    for (int k = 0; k < SCENES; k++)
        if (run(f, scenes[k], NULL, 2 * STEPS)) taken[known++] = scenes[k];
    if (f->threads) run(f, "crowd", NULL, 3); /* whose contacts are grouped when there are many */
    for (size_t k = 0; k < sizeof ways / sizeof *ways && known; k++)
        for (int s = 0; s < MOST && s < known; s++) run(f, taken[turn++ % known], ways[k], STEPS);
    for (const mor_field* field = f->fields; field && field->name && known; field++) {
        int count = golden_values(field, values);
        for (int v = 0; v < count; v++) {
            snprintf(setting, sizeof setting, "method.formulation.%s=%s", field->name, values[v]);
            for (int s = 0; s < MOST && s < known; s++) run(f, taken[turn++ % known], setting, STEPS);
        }
    }
}
