/* Measures of a run: paths into its document, quantities of a world. See measure.h. */
#include "lab/measure.h"

#include "base/elementary.h"
#include "moreau/state.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WHY = 300, MOST_NAMES = 256 };

/* ------------------------------------------------------------------------ paths of documents */

/* The text of a member called "name", or NULL. */
static const char* name_of(const mor_json_value* v)
{
    const mor_json_value* name = mor_json_get(v, "name");
    return name && name->kind == MOR_JSON_TEXT ? name->text : NULL;
}

/* Does `path` begin with the word? Returns what follows it ("" or after the dot), or NULL. */
static const char* after(const char* path, const char* word)
{
    size_t n = word ? strlen(word) : 0;
    if (n == 0 || strncmp(path, word, n) != 0 || (path[n] && path[n] != '.')) return NULL;
    return path[n] ? path + n + 1 : path + n;
}

/* The member that the path begins with; *path moves behind its word. Names may hold dots: the longest that fits. */
static const mor_json_value* member(const mor_json_value* v, const char** path)
{
    const mor_json_value* found = NULL;
    const char *rest = NULL, *digits = *path + strspn(*path, "0123456789");
    for (const mor_json_value* m = v->first; m; m = m->next) {
        const char* r = after(*path, v->kind == MOR_JSON_OBJECT ? m->key : name_of(m));
        if (r && (!rest || r > rest)) found = m, rest = r;
    }
    if (!found && v->kind == MOR_JSON_LIST && digits > *path && digits - *path < 9 && (!*digits || *digits == '.')) {
        int index = atoi(*path);
        found = v->first;
        while (found && index-- > 0) found = found->next;
        rest = *digits ? digits + 1 : digits;
    }
    if (found) *path = rest;
    return found;
}

/* "there is no 'x' in bodies; did you mean 'y'?" */
static void tell_missing(const mor_json_value* v, const char* whole, const char* path, char* why)
{
    const char* names[MOST_NAMES + 1];
    int n = 0;
    char word[80], list[160] = "";
    snprintf(word, sizeof word, "%.*s", (int)(strcspn(path, ".") < 70 ? strcspn(path, ".") : 70), path);
    for (const mor_json_value* m = v->first; m && n < MOST_NAMES; m = m->next) {
        const char* name = v->kind == MOR_JSON_OBJECT ? m->key : name_of(m);
        if (name) names[n++] = name;
    }
    names[n] = NULL;
    for (int i = 0; i < n && strlen(list) + strlen(names[i]) + 3 < sizeof list; i++)
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", i ? ", " : "", names[i]);
    const char* near = mor_did_you_mean(word, names);
    int prefix = (int)(path - whole);
    snprintf(why, WHY, "there is no '%s'%s%.*s%s", word, prefix ? " in " : "", prefix > 1 ? prefix - 1 : 0, whole,
             v->kind != MOR_JSON_OBJECT && v->kind != MOR_JSON_LIST ? ", which is a single value" : "");
    size_t used = strlen(why);
    if (near) snprintf(why + used, WHY - used, "; did you mean '%s'?", near);
    else if (n) snprintf(why + used, WHY - used, "; there is %s", list);
    else if (v->kind == MOR_JSON_LIST && v->count == 0)
        snprintf(why + used, WHY - used, "; it is empty%s",
                 strncmp(whole, "samples.", 8) == 0 ? ": name times of samples with at: [...]" : "");
    else if (v->kind == MOR_JSON_LIST) snprintf(why + used, WHY - used, "; give an index below %d", v->count);
}

bool mor_measure_find(const mor_json_value* root, const char* path, double* value, char* why)
{
    const mor_json_value* v = root;
    for (const char* p = path; *p;) {
        const mor_json_value* m = v->kind == MOR_JSON_OBJECT || v->kind == MOR_JSON_LIST ? member(v, &p) : NULL;
        if (!m) {
            if (why) tell_missing(v, path, p, why);
            return false;
        }
        v = m;
    }
    bool numbers = v->kind == MOR_JSON_LIST && v->first;
    double square = 0.0;
    for (const mor_json_value* m = v->first; m && numbers; m = m->next) {
        numbers = m->kind == MOR_JSON_NUMBER;
        square += m->number * m->number;
    }
    if (v->kind == MOR_JSON_NUMBER || v->kind == MOR_JSON_BOOL) *value = v->number;
    else if (v->kind == MOR_JSON_NULL) *value = NAN;
    else if (numbers) *value = sqrt(square);
    else {
        if (why)
            snprintf(why, WHY, "'%.100s' is %s, not a number", path,
                     v->kind == MOR_JSON_TEXT ? "a text"
                                              : "a part of the document; give the path to one of its numbers");
        return false;
    }
    return true;
}

/* ----------------------------------------------------------------------- quantities of a world */

enum {
    POSITION,
    COM,
    QUATERNION,
    VELOCITY,
    ANGULAR_VELOCITY,
    ANGLE,
    ROBOT_Q,
    ROBOT_QD,
    JOINT,
    ENERGY,
    KINETIC,
    POTENTIAL,
    CONTACTS,
    PENETRATION
};

static const char* const whole_words[] = { "energy", "kinetic_energy", "potential_energy", "contacts", "penetration",
                                           "bodies", "robots",         "joints",           NULL };
static const char* const body_words[] = {
    "position", "com", "quaternion", "velocity", "angular_velocity", "angle", NULL
};

static int word_index(const char* const* words, const char* path, const char** rest)
{
    for (int i = 0; words[i]; i++)
        if ((*rest = after(path, words[i]))) return i;
    return -1;
}

/* An index below `most`, or -1 for nothing; -2 with a sentence. */
static int read_index(const char* rest, int most, const char* path, mor_error* error)
{
    if (!*rest) return -1;
    size_t n = strspn(rest, "0123456789");
    int i = n && n < 9 && !rest[n] ? atoi(rest) : most;
    if (i < most) return i;
    mor_fail(error, MOR_BAD_INPUT, "'%.100s' ends with '%.40s'; give an index below %d", path, rest, most);
    return -2;
}

static mor_code make_body(mor_probe* probe, const mor_world* w, const char* path, const char* name, mor_error* error)
{
    const char* rest = NULL;
    const char* names[MOST_NAMES + 1];
    int n = 0;
    for (int i = 0; i < mor_world_body_count(w); i++) {
        const char* one = mor_body_name(w, mor_world_body(w, i));
        const char* r = after(name, one);
        if (n < MOST_NAMES) names[n++] = one;
        if (r && (!rest || r > rest)) rest = r, probe->body = mor_world_body(w, i);
    }
    names[n] = NULL;
    char word[80];
    snprintf(word, sizeof word, "%.*s", (int)(strcspn(name, ".") < 70 ? strcspn(name, ".") : 70), name);
    const char* near = mor_did_you_mean(word, names);
    if (!rest)
        return mor_fail(error, MOR_BAD_INPUT, "there is no body '%s'%s%s%s", word, near ? "; did you mean '" : "",
                        near ? near : "", near ? "'?" : "");
    const char* end = NULL;
    int kind = word_index(body_words, rest, &end), dimension = mor_world_dimension(w);
    bool planar = dimension == 2;
    if (kind < 0 || (planar && kind == QUATERNION) || (!planar && kind == ANGLE))
        return mor_fail(error, MOR_BAD_INPUT, "'%.100s': a body has position, com, %s, velocity, angular_velocity",
                        path, planar ? "angle" : "quaternion");
    probe->kind = kind;
    int most = kind == QUATERNION ? 4 : kind == ANGLE || (planar && kind == ANGULAR_VELOCITY) ? 1 : dimension;
    probe->component = most == 1 && !*end ? 2 : read_index(end, most, path, error);
    if (most == 1 && probe->component == 0) probe->component = 2;
    return probe->component < -1 ? MOR_BAD_INPUT : MOR_OK;
}

static mor_code make_robot(mor_probe* probe, const mor_world* w, const char* path, const char* name, mor_error* error)
{
    for (int i = 0; i < mor_world_robot_count(w); i++) {
        const char* rest = after(name, mor_world_robot_name(w, i));
        const char *q = rest ? after(rest, "q") : NULL, *qd = rest ? after(rest, "qd") : NULL;
        if (!q && !qd) continue;
        mor_span s = mor_world_robot_span(w, i);
        int k = read_index(q ? q : qd, q ? s.q_count : s.nu_count, path, error);
        if (k == -1) mor_fail(error, MOR_BAD_INPUT, "'%.100s': give the index of a joint", path);
        probe->kind = q ? ROBOT_Q : ROBOT_QD;
        probe->index = (q ? s.q : s.nu) + k;
        return k < 0 ? MOR_BAD_INPUT : MOR_OK;
    }
    return mor_fail(error, MOR_BAD_INPUT, "'%.100s': expected robots.NAME.q.INDEX or robots.NAME.qd.INDEX", path);
}

static mor_code make_joint(mor_probe* probe, const mor_world* w, const char* path, const char* name, mor_error* error)
{
    for (int i = 0; i < mor_world_joint_count(w); i++) {
        const char* rest = after(name, mor_world_joint(w, i)->name);
        if (!rest || strcmp(rest, "position") != 0) continue;
        probe->kind = JOINT;
        probe->index = i;
        return MOR_OK;
    }
    return mor_fail(error, MOR_BAD_INPUT, "'%.100s': expected joints.NAME.position", path);
}

mor_code mor_probe_make(mor_probe* probe, const mor_world* w, const char* path, mor_error* error)
{
    const char* rest = NULL;
    int k = word_index(whole_words, path, &rest);
    *probe = (mor_probe){ .component = -1 };
    if (k == 5) return make_body(probe, w, path, rest, error);
    if (k == 6) return make_robot(probe, w, path, rest, error);
    if (k == 7) return make_joint(probe, w, path, rest, error);
    if (k < 0 || *rest)
        return mor_fail(error, MOR_BAD_INPUT,
                        "'%.100s' is no quantity of a step; there are bodies.NAME..., robots.NAME..., "
                        "joints.NAME.position, energy, kinetic_energy, potential_energy, contacts, penetration",
                        path);
    probe->kind = ENERGY + k;
    return MOR_OK;
}

static double pick(const double* x, int count, int component)
{
    if (component >= 0) return x[component];
    double square = 0.0;
    for (int i = 0; i < count; i++) square += x[i] * x[i];
    return sqrt(square);
}

static double body_value(const mor_probe* p, const mor_world* w)
{
    if (!mor_body_valid(w, p->body)) return NAN;
    mor_body_state s = mor_body_get_state(w, p->body);
    mor_quat q = s.pose.rotation;
    mor_vec3 v = p->kind == POSITION   ? s.pose.position
                 : p->kind == COM      ? s.com
                 : p->kind == VELOCITY ? s.velocity
                                       : s.angular_velocity;
    if (p->kind == ANGLE) return 2.0 * mor_atan2(q.z, q.w);
    if (p->kind == QUATERNION) return pick((double[4]){ q.w, q.x, q.y, q.z }, 4, p->component);
    return pick((double[3]){ v.x, v.y, v.z }, 3, p->component);
}

static double robot_value(const mor_probe* p, const mor_world* w)
{
    bool position = p->kind == ROBOT_Q;
    int n = position ? mor_world_q_count(w) : mor_world_nu_count(w);
    double* x = malloc(((size_t)n + 1) * sizeof *x);
    mor_code code = !x ? MOR_SYSTEM : position ? mor_world_get_q(w, x, n, NULL) : mor_world_get_nu(w, x, n, NULL);
    double value = code ? NAN : x[p->index];
    free(x);
    return value;
}

double mor_probe_value(const mor_probe* p, const mor_world* w, const mor_step_report* report)
{
    switch (p->kind) {
    case ROBOT_Q:
    case ROBOT_QD:
        return robot_value(p, w);
    case JOINT:
        return mor_world_joint_position(w, p->index);
    case ENERGY:
        return mor_world_kinetic_energy(w) + mor_world_potential_energy(w);
    case KINETIC:
        return mor_world_kinetic_energy(w);
    case POTENTIAL:
        return mor_world_potential_energy(w);
    case CONTACTS:
        return mor_world_contact_count(w);
    case PENETRATION:
        return report ? report->penetration : mor_world_penetration(w);
    default:
        return body_value(p, w);
    }
}
