/* Actuators, tendons, equalities, contact rules, keyframes and sensors of an MJCF file.
 *
 * All actuators are special cases of `general`,
 *
 *     force = gain . (1, length, rate) input + bias . (1, length, rate),
 *
 * input the control, or the activation of a first-order dynamics. `position` has gain kp and bias (0, -kp, -kv),
 * `velocity` gain kv and bias (0, 0, -kv), `motor` gain 1 and no bias, `damper` the gain (0, 0, -kv). `dampratio` d
 * stands for kv = 2 d sqrt(kp m), m the inertia of the joint at the reference, divided by the squared gear.
 *
 * Reference: MuJoCo documentation, Computation (actuation model) and XML reference. */
#include "io/mjcf/mjcf.h"
#include "moreau/control.h"

#include <stdio.h>
#include <string.h>

static const char* const kinds[] = { "general", "motor", "position", "velocity", "damper", "intvelocity", NULL };
static const char* const refused_kinds[] = { "cylinder", "muscle", "adhesion", "plugin", "dcmotor", NULL };

static bool one_of(const char* word, const char* const* list)
{
    for (; *list; list++)
        if (strcmp(word, *list) == 0) return true;
    return false;
}

/* Gains of the shorthand elements. */
static mor_code apply_kind(mor_mjcf* m, const mor_xml* e, mor_mjcf_actuator* a)
{
    double kp = a->gain[0], kv = NAN, ratio = NAN;
    mor_code code = MOR_OK;
    if (strcmp(e->name, "motor") == 0) {
        a->dyntype = a->gaintype = a->biastype = 0;
        memcpy(a->gain, (double[3]){ 1, 0, 0 }, sizeof a->gain);
        memset(a->bias, 0, sizeof a->bias);
    } else if (strcmp(e->name, "position") == 0 || strcmp(e->name, "intvelocity") == 0) {
        code = mor_mjcf_number(m, e, "kp", &kp);
        if (!code) code = mor_mjcf_number(m, e, "kv", &kv);
        if (!code) code = mor_mjcf_number(m, e, "dampratio", &ratio);
        if (!code && (kp < 0.0 || kv < 0.0)) return mor_xml_fail(e, m->error, "kp and kv are at least 0");
        if (!code && !isnan(kv) && !isnan(ratio))
            return mor_xml_fail(e, m->error, "kv and dampratio: give one of them");
        a->gaintype = 0, a->biastype = 1;
        memcpy(a->gain, (double[3]){ kp, 0, 0 }, sizeof a->gain);
        a->bias[0] = 0.0, a->bias[1] = -kp;
        if (!isnan(kv)) a->bias[2] = -kv, a->dampratio = 0.0;
        if (!isnan(ratio)) a->dampratio = ratio, a->bias[2] = 0.0;
        if (strcmp(e->name, "intvelocity") == 0) a->dyntype = 1;
        else if (mor_xml_get(e, "timeconst")) {
            code = mor_mjcf_number(m, e, "timeconst", &a->time_constant);
            a->dyntype = a->time_constant > 0.0 ? 3 : 0;
        }
    } else if (strcmp(e->name, "velocity") == 0 || strcmp(e->name, "damper") == 0) {
        kv = strcmp(e->name, "velocity") == 0 ? kp : 1.0;
        code = mor_mjcf_number(m, e, "kv", &kv);
        bool damper = strcmp(e->name, "damper") == 0;
        a->gaintype = damper, a->biastype = !damper;
        memcpy(a->gain, damper ? (double[3]){ 0, 0, -kv } : (double[3]){ kv, 0, 0 }, sizeof a->gain);
        memcpy(a->bias, damper ? (double[3]){ 0, 0, 0 } : (double[3]){ 0, 0, -kv }, sizeof a->bias);
    }
    return code;
}

static mor_code apply_general(mor_mjcf* m, const mor_xml* e, mor_mjcf_actuator* a)
{
    double v[10];
    int n, type;
    mor_code code = MOR_OK;
    type = a->dyntype;
    if (!code) code = mor_mjcf_choice(m, e, "dyntype", "none|integrator|filter|filterexact|muscle|user", &type);
    if (type > 3) a->refused = "dyntype";
    a->dyntype = type;
    type = a->gaintype;
    if (!code) code = mor_mjcf_choice(m, e, "gaintype", "fixed|affine|muscle|user", &type);
    if (type > 1) a->refused = "gaintype";
    a->gaintype = type;
    type = a->biastype;
    if (!code) code = mor_mjcf_choice(m, e, "biastype", "none|affine|muscle|user", &type);
    if (type > 1) a->refused = "biastype";
    a->biastype = type;
    if (!code && !(code = mor_xml_numbers(e, "gainprm", 1, 10, v, &n, m->error)) && n)
        for (int i = 0; i < 3 && i < n; i++) a->gain[i] = v[i];
    if (!code && !(code = mor_xml_numbers(e, "biasprm", 1, 10, v, &n, m->error)) && n) {
        for (int i = 0; i < 3 && i < n; i++) a->bias[i] = v[i];
        a->dampratio = 0.0;
    }
    if (!code && !(code = mor_xml_numbers(e, "dynprm", 1, 10, v, &n, m->error)) && n) a->time_constant = v[0];
    return code;
}

static mor_code apply_actuator(mor_mjcf* m, const mor_xml* e, mor_mjcf_actuator* a)
{
    mor_code code = mor_mjcf_check(
        m, e,
        "name class group user ctrllimited forcelimited actlimited ctrlrange forcerange actrange lengthrange gear "
        "cranklength joint tendon site jointinparent slidersite cranksite refsite body dyntype gaintype biastype "
        "dynprm "
        "gainprm biasprm kp kv dampratio timeconst inheritrange nsample interp",
        "actdim", "actearly delay");
    int n;
    double v[6];
    if (!code && !(code = mor_xml_numbers(e, "gear", 1, 6, v, &n, m->error)) && n)
        for (int i = 0; i < 6; i++) a->gear[i] = i < n ? v[i] : i == 0 ? 1.0 : 0.0;
    if (!code) code = mor_mjcf_choice(m, e, "ctrllimited", "auto|true|false", &a->control_limited);
    if (!code) code = mor_mjcf_choice(m, e, "forcelimited", "auto|true|false", &a->force_limited);
    if (!code) code = mor_mjcf_choice(m, e, "actlimited", "auto|true|false", &a->act_limited);
    const struct {
        const char* name;
        double* to;
        bool* has;
    } ranges[] = { { "ctrlrange", a->control_range, &a->has_control_range },
                   { "forcerange", a->force_range, &a->has_force_range },
                   { "actrange", a->act_range, &a->has_act_range } };
    for (int i = 0; i < 3 && !code; i++) {
        code = mor_xml_numbers(e, ranges[i].name, 2, 2, ranges[i].to, &n, m->error);
        if (n && !code) *ranges[i].has = true;
    }
    if (!code) code = mor_mjcf_number(m, e, "inheritrange", &a->inherit);
    if (!code) code = apply_kind(m, e, a);
    return code || strcmp(e->name, "general") != 0 ? code : apply_general(m, e, a);
}

/* What an actuator pulls on. */
static mor_code find_target(mor_mjcf* m, const mor_xml* e, mor_mjcf_actuator* a)
{
    const char *joint = mor_xml_get(e, "joint"), *tendon = mor_xml_get(e, "tendon"), *site = mor_xml_get(e, "site");
    if (!joint) joint = mor_xml_get(e, "jointinparent");
    if (mor_xml_get(e, "slidersite") || mor_xml_get(e, "cranksite") || mor_xml_get(e, "refsite") ||
        mor_xml_get(e, "body"))
        return mor_xml_fail(e, m->error, "actuators with slidersite, refsite or body are not supported");
    if (joint && (a->joint = mor_mjcf_find_joint(m, joint)) < 0)
        return mor_xml_fail(e, m->error, "there is no joint '%.60s'", joint);
    if (tendon && (a->tendon = mor_mjcf_find_tendon(m, tendon)) < 0)
        return mor_xml_fail(e, m->error, "there is no tendon '%.60s'", tendon);
    if (site && (a->site = mor_mjcf_find_site(m, site)) < 0)
        return mor_xml_fail(e, m->error, "there is no site '%.60s'", site);
    if ((a->joint >= 0) + (a->tendon >= 0) + (a->site >= 0) != 1)
        return mor_xml_fail(e, m->error, "an actuator acts on one of joint, tendon and site");
    if (a->joint >= 0 && m->joints[a->joint].type == MOR_MJCF_FREE)
        return mor_xml_fail(e, m->error, "actuators on free joints are not supported; use a site");
    return MOR_OK;
}

static mor_code finish_actuator(mor_mjcf* m, mor_mjcf_actuator* a)
{
    const mor_xml* e = a->at;
    if (a->refused) return mor_xml_fail(e, m->error, "this %s is not supported", a->refused);
    if (a->inherit > 0.0) {
        const mor_mjcf_joint* j = a->joint >= 0 ? &m->joints[a->joint] : NULL;
        if (!j || !j->has_range) return mor_xml_fail(e, m->error, "inheritrange needs a joint with a range");
        double mean = 0.5 * (j->range[0] + j->range[1]), half = 0.5 * (j->range[1] - j->range[0]) * a->inherit;
        a->control_range[0] = mean - half, a->control_range[1] = mean + half;
        a->has_control_range = true;
    }
    if (a->control_limited == 0) a->control_limited = a->has_control_range && m->autolimits ? 1 : 2;
    if (a->force_limited == 0) a->force_limited = a->has_force_range && m->autolimits ? 1 : 2;
    if (a->act_limited == 0) a->act_limited = a->has_act_range && m->autolimits ? 1 : 2;
    if (a->control_limited == 1 && !(a->control_range[0] < a->control_range[1]))
        return mor_xml_fail(e, m->error, "ctrlrange goes from %g to %g", a->control_range[0], a->control_range[1]);
    if (a->force_limited == 1 && !(a->force_range[0] < a->force_range[1]))
        return mor_xml_fail(e, m->error, "forcerange goes from %g to %g", a->force_range[0], a->force_range[1]);
    if (a->site >= 0 && (a->dyntype || a->gaintype || a->biastype))
        return mor_xml_fail(e, m->error, "actuators on sites have a fixed gain and no bias here");
    if (a->tendon >= 0 && m->tendons[a->tendon].spatial && a->dyntype)
        return mor_xml_fail(e, m->error, "actuators on spatial tendons have no activation here");
    if (a->dyntype >= 2 && !(a->time_constant > 0.0))
        return mor_xml_fail(e, m->error, "a filter needs a positive time constant (dynprm)");
    return MOR_OK;
}

mor_code mor_mjcf_read_actuators(mor_mjcf* m, const mor_xml* list)
{
    for (const mor_xml* e = list->first; e; e = e->next) {
        if (!one_of(e->name, kinds))
            return mor_xml_fail(e, m->error,
                                one_of(e->name, refused_kinds) ? "actuators of kind %.40s are not supported"
                                                               : "<%.40s> in <actuator> is not known",
                                e->name);
        mor_mjcf_actuator* a = MOR_MJCF_ADD(m, actuators);
        if (!a) return MOR_SYSTEM;
        *a = (mor_mjcf_actuator){ .at = e, .name = mor_xml_get(e, "name"), .joint = -1, .tendon = -1, .site = -1 };
        a->gear[0] = a->gain[0] = 1.0;
        a->time_constant = 1.0;
        const mor_xml* classes[MOR_MJCF_CLASSES + 8];
        int n;
        mor_code code = mor_mjcf_classes(m, e, mor_xml_get(e, "class"), classes, MOR_MJCF_CLASSES + 8, &n);
        for (int i = 0; i < n && !code; i++)
            for (const mor_xml* d = classes[i]->first; d && !code; d = d->next)
                if (one_of(d->name, kinds)) code = apply_actuator(m, d, a);
        if (!code) code = apply_actuator(m, e, a);
        if (!code) code = find_target(m, e, a);
        if (!code) code = finish_actuator(m, a);
        if (code) return code;
    }
    return MOR_OK;
}

/* ---------------------------------------------------------------------------------- tendons */

static mor_code read_tendon(mor_mjcf* m, const mor_xml* e, mor_mjcf_tendon* t)
{
    mor_code code = mor_mjcf_check(m, e,
                                   "name class group limited range stiffness damping springlength frictionloss width "
                                   "material rgba user armature actuatorfrcrange actuatorfrclimited",
                                   "solreflimit solimplimit solreffriction solimpfriction margin", NULL);
    int n, limited = 0;
    double friction = 0.0, armature = 0.0, v[2];
    if (!code && !(code = mor_xml_numbers(e, "range", 2, 2, t->range, &n, m->error)) && n) t->has_range = true;
    if (!code) code = mor_mjcf_choice(m, e, "limited", "auto|true|false", &limited);
    if (!code) code = mor_mjcf_number(m, e, "stiffness", &t->stiffness);
    if (!code) code = mor_mjcf_number(m, e, "damping", &t->damping);
    if (!code && !(code = mor_xml_numbers(e, "springlength", 1, 2, v, &n, m->error)) && n) {
        t->spring[0] = v[0], t->spring[1] = n > 1 ? v[1] : v[0];
        if (v[0] == -1.0) t->spring[0] = t->spring[1] = NAN;
    }
    if (!code) code = mor_mjcf_number(m, e, "frictionloss", &friction);
    if (!code) code = mor_mjcf_number(m, e, "armature", &armature);
    if (code) return code;
    bool acts = limited == 1 || (limited == 0 && t->has_range && m->autolimits);
    t->limited = acts;
    if (friction != 0.0) return mor_xml_fail(e, m->error, "frictionloss of tendons is not supported");
    if (armature != 0.0) return mor_xml_fail(e, m->error, "armature of tendons is not supported");
    return MOR_OK;
}

static mor_code add_term(mor_mjcf* m, mor_mjcf_term term)
{
    mor_mjcf_term* to = MOR_MJCF_ADD(m, terms);
    if (!to) return MOR_SYSTEM;
    *to = term;
    m->tendons[m->tendons_count - 1].count++;
    return MOR_OK;
}

/* A joint of a fixed tendon. */
static mor_code read_term(mor_mjcf* m, const mor_xml* c)
{
    double coef = NAN;
    const char* joint = mor_xml_get(c, "joint");
    int j = mor_mjcf_find_joint(m, joint);
    if (strcmp(c->name, "joint") != 0 || j < 0)
        return mor_xml_fail(c, m->error,
                            "a fixed tendon has <joint joint=\"...\" coef=\"...\"/>; there is no "
                            "joint '%.60s'",
                            joint ? joint : "");
    mor_code code = mor_mjcf_number(m, c, "coef", &coef);
    if (code) return code;
    if (isnan(coef)) return mor_xml_fail(c, m->error, "the coef of the joint is missing");
    if (m->joints[j].type > MOR_MJCF_SLIDE)
        return mor_xml_fail(c, m->error, "a fixed tendon runs over hinge and slide joints");
    return add_term(m, (mor_mjcf_term){ .joint = j, .coef = coef, .site = -1 });
}

/* A site, a pulley or a geom on the way of a spatial tendon. */
static mor_code read_way(mor_mjcf* m, const mor_xml* c)
{
    mor_mjcf_tendon* t = &m->tendons[m->tendons_count - 1];
    if (strcmp(c->name, "geom") == 0) {
        if (!t->wraps) t->wraps = c;
        return MOR_OK;
    }
    if (strcmp(c->name, "pulley") == 0) {
        double divisor = NAN;
        mor_code code = mor_mjcf_number(m, c, "divisor", &divisor);
        if (code) return code;
        if (!(divisor > 0.0)) return mor_xml_fail(c, m->error, "the divisor of a pulley is positive");
        return add_term(m, (mor_mjcf_term){ .joint = -1, .coef = divisor, .site = -1 });
    }
    const char* name = mor_xml_get(c, "site");
    int site = mor_mjcf_find_site(m, name);
    if (strcmp(c->name, "site") != 0 || site < 0)
        return mor_xml_fail(c, m->error,
                            "a spatial tendon runs over sites, geoms and pulleys; there is no site '%.60s'",
                            name ? name : "");
    return add_term(m, (mor_mjcf_term){ .joint = -1, .coef = 1.0, .site = site });
}

/* What a tendon says after its defaults. */
static mor_code check_tendon(mor_mjcf* m, const mor_mjcf_tendon* t)
{
    if (t->limited && !t->spatial)
        return mor_xml_fail(t->at, m->error,
                            "limits of fixed tendons are not supported; limited=\"false\" leaves them out");
    if (t->limited && !(t->range[0] < t->range[1] && t->range[1] > 0.0))
        return mor_xml_fail(t->at, m->error, "the range of the tendon goes from %g to %g", t->range[0], t->range[1]);
    return MOR_OK;
}

mor_code mor_mjcf_read_tendons(mor_mjcf* m, const mor_xml* list)
{
    for (const mor_xml* e = list->first; e; e = e->next) {
        bool spatial = strcmp(e->name, "spatial") == 0;
        if (!spatial && strcmp(e->name, "fixed") != 0)
            return mor_xml_fail(e, m->error, "<%.40s> in <tendon> is not known", e->name);
        mor_mjcf_tendon* t = MOR_MJCF_ADD(m, tendons);
        if (!t) return MOR_SYSTEM;
        *t = (mor_mjcf_tendon){ .at = e, .name = mor_xml_get(e, "name"), .first = m->terms_count, .spatial = spatial };
        t->spring[0] = t->spring[1] = NAN;
        const mor_xml* classes[MOR_MJCF_CLASSES + 8];
        int n;
        mor_code code = mor_mjcf_classes(m, e, mor_xml_get(e, "class"), classes, MOR_MJCF_CLASSES + 8, &n);
        for (int i = 0; i < n && !code; i++)
            for (const mor_xml* d = mor_xml_child(classes[i], "tendon"); d && !code; d = mor_xml_sibling(d))
                code = read_tendon(m, d, t);
        if (!code) code = read_tendon(m, e, t);
        if (!code) code = check_tendon(m, t);
        for (const mor_xml* c = e->first; c && !code; c = c->next) code = spatial ? read_way(m, c) : read_term(m, c);
        if (code) return code;
    }
    return MOR_OK;
}
