/* Attributes of MJCF elements: numbers, words, poses, default classes.
 *
 * Orientations: quat (w x y z), axisangle, xyaxes, zaxis (the least turn from z), euler with the sequence of the
 * compiler, small letters about axes that move along, capitals about fixed ones.
 *
 * Default classes form a tree with `main` on top; an element takes, attribute by attribute, its own value, that of its
 * class, of the class above and so on. Here the elements of the classes are listed from main down, and readers apply
 * them in that order.
 *
 * Reference: MuJoCo documentation, XML reference (frame orientations, default classes). */
#include "base/elementary.h"
#include "io/mjcf/mjcf.h"
#include "model/joints.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEGREE 0.017453292519943295769

void* mor_mjcf_grow(mor_mjcf* m, void** items, int* count, int* room, size_t size)
{
    if (*count == *room) {
        int more = *room ? 2 * *room : 16;
        void* memory = mor_arena_zero(m->arena, (size_t)more, size);
        if (!memory) {
            mor_fail(m->error, MOR_SYSTEM, "%s: out of memory", m->path);
            return NULL;
        }
        if (*count) memcpy(memory, *items, (size_t)*count * size);
        *items = memory;
        *room = more;
    }
    return (char*)*items + (size_t)(*count)++ * size;
}

void mor_mjcf_note(mor_mjcf* m, const mor_xml* at, const char* what, const char* format, ...)
{
    for (int i = 0; i < m->told_count; i++)
        if (strcmp(m->told[i], what) == 0) return;
    const char** told = MOR_MJCF_ADD(m, told);
    if (told) *told = mor_xml_copy(m->arena, what, strlen(what));
    if (told && !*told) m->told_count--;
    if (!m->notes || m->notes_length + 1 >= m->notes_size) return;
    char text[600];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    size_t room = m->notes_size - m->notes_length;
    int n = snprintf(m->notes + m->notes_length, room, "%s:%d:%d: %s\n", at->file, at->line, at->column, text);
    if (n > 0 && (size_t)n < room) m->notes_length += (size_t)n;
    else m->notes[m->notes_length] = '\0';
}

/* Whether a word stands in a blank-separated list. */
static bool listed(const char* list, const char* word)
{
    size_t n = strlen(word);
    for (const char* s = list; s && *s;) {
        size_t length = strcspn(s, " ");
        if (length == n && memcmp(s, word, n) == 0) return true;
        s += length + (s[length] == ' ');
    }
    return false;
}

static const char* nearest(const char* list, const char* word, char* buffer, size_t size)
{
    const char* words[64];
    int n = 0;
    snprintf(buffer, size, "%s", list);
    for (char* s = strtok(buffer, " "); s && n < 63; s = strtok(NULL, " ")) words[n++] = s;
    words[n] = NULL;
    return mor_did_you_mean(word, words);
}

mor_code mor_mjcf_check(mor_mjcf* m, const mor_xml* e, const char* known, const char* noted, const char* refused)
{
    for (const char** a = e->attributes; *a; a += 2) {
        if (listed(known, *a)) continue;
        char what[160], buffer[1200];
        snprintf(what, sizeof what, "%.70s of <%.70s>", *a, e->name);
        if (listed(refused, *a))
            return mor_xml_fail(e, m->error, "%s would change the motion and is not supported", what);
        if (listed(noted, *a)) {
            mor_mjcf_note(m, e, what, "%s is not used (here and elsewhere)", what);
            continue;
        }
        const char* near = nearest(known, *a, buffer, sizeof buffer);
        return mor_xml_fail(e, m->error, "<%.60s> has no attribute '%.60s'%s%s%s", e->name, *a,
                            near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
    }
    return MOR_OK;
}

mor_code mor_mjcf_choice(mor_mjcf* m, const mor_xml* e, const char* name, const char* choices, int* out)
{
    const char* text = mor_xml_get(e, name);
    if (!text) return MOR_OK;
    size_t n = strlen(text);
    int k = 0;
    for (const char* s = choices; *s; k++) {
        size_t length = strcspn(s, "|");
        if (length == n && memcmp(s, text, n) == 0) {
            *out = k;
            return MOR_OK;
        }
        s += length + (s[length] == '|');
    }
    return mor_xml_fail(e, m->error, "%s of <%.60s> is '%.60s'; known: %s", name, e->name, text, choices);
}

mor_code mor_mjcf_bool(mor_mjcf* m, const mor_xml* e, const char* name, bool* out)
{
    int value = *out ? 1 : 0;
    mor_code code = mor_mjcf_choice(m, e, name, "false|true", &value);
    *out = value == 1;
    return code;
}

mor_code mor_mjcf_number(mor_mjcf* m, const mor_xml* e, const char* name, double* out)
{
    return mor_xml_numbers(e, name, 1, 1, out, NULL, m->error);
}

/* ---------------------------------------------------------------------------------- classes */

static const mor_xml* find_class(const mor_xml* parent, const char* name)
{
    for (const mor_xml* c = parent->first; c; c = c->next) {
        if (strcmp(c->name, "default") != 0) continue;
        const char* own = mor_xml_get(c, "class");
        if (own && strcmp(own, name) == 0) return c;
        const mor_xml* inner = find_class(c, name);
        if (inner) return inner;
    }
    return NULL;
}

mor_code mor_mjcf_classes(mor_mjcf* m, const mor_xml* at, const char* name, const mor_xml** out, int room, int* count)
{
    *count = 0;
    const mor_xml* chain[MOR_MJCF_CLASSES];
    int n = 0;
    if (name && strcmp(name, "main") != 0) {
        const mor_xml* found = NULL;
        for (int i = 0; i < m->defaults_count && !found; i++) {
            const char* own = mor_xml_get(m->defaults[i], "class");
            found = own && strcmp(own, name) == 0 ? m->defaults[i] : find_class(m->defaults[i], name);
        }
        if (!found) return mor_xml_fail(at, m->error, "there is no default class '%.60s'", name);
        for (; found->parent && strcmp(found->parent->name, "default") == 0; found = found->parent) {
            if (n == MOR_MJCF_CLASSES)
                return mor_xml_fail(at, m->error, "default classes are nested more than %d deep", MOR_MJCF_CLASSES);
            chain[n++] = found;
        }
    }
    for (int i = 0; i < m->defaults_count && *count < room; i++) out[(*count)++] = m->defaults[i]; /* main */
    while (n > 0 && *count < room) out[(*count)++] = chain[--n];
    return MOR_OK;
}

const char* mor_mjcf_class(const mor_xml* e, const char* around)
{
    const char* own = mor_xml_get(e, "class");
    return own ? own : around;
}

/* ------------------------------------------------------------------------------------ poses */

/* The least turn from z to v. */
static mor_quat from_z(mor_vec3 v)
{
    mor_vec3 z = mor_normalize(v, mor_v3(0, 0, 1)), axis = mor_v3(-z.y, z.x, 0);
    double sine = mor_norm(axis), angle = mor_atan2(sine, z.z);
    return mor_quat_axis_angle(sine > 1e-10 ? mor_scale(1.0 / sine, axis) : mor_v3(1, 0, 0), angle);
}

mor_quat mor_mjcf_euler(const mor_mjcf* m, const double e[3])
{
    mor_quat q = { 1, 0, 0, 0 };
    for (int i = 0; i < 3; i++) {
        char letter = m->euler[i], small = letter >= 'a' ? letter : (char)(letter - 'A' + 'a');
        mor_vec3 axis = mor_v3(small == 'x', small == 'y', small == 'z');
        mor_quat turn = mor_quat_axis_angle(axis, m->degrees ? e[i] * DEGREE : e[i]);
        q = letter >= 'a' ? mor_quat_mul(q, turn) : mor_quat_mul(turn, q);
    }
    return mor_quat_normalize(q);
}

mor_code mor_mjcf_pose(mor_mjcf* m, const mor_xml* e, mor_pose* pose)
{
    double v[6];
    int n, given = 0;
    mor_code code = mor_xml_numbers(e, "pos", 3, 3, v, &n, m->error);
    if (code == MOR_OK && n) pose->position = mor_v3(v[0], v[1], v[2]);
    if (code == MOR_OK && (code = mor_xml_numbers(e, "quat", 4, 4, v, &n, m->error)) == MOR_OK && n) {
        double size = v[0] * v[0] + v[1] * v[1] + v[2] * v[2] + v[3] * v[3];
        if (!(size > 1e-20)) return mor_xml_fail(e, m->error, "quat of <%.60s> is zero", e->name);
        pose->rotation = mor_quat_normalize((mor_quat){ v[0], v[1], v[2], v[3] });
        given++;
    }
    if (code == MOR_OK && (code = mor_xml_numbers(e, "axisangle", 4, 4, v, &n, m->error)) == MOR_OK && n) {
        mor_vec3 axis = mor_v3(v[0], v[1], v[2]);
        if (!(mor_norm(axis) > 1e-10)) return mor_xml_fail(e, m->error, "the axis of axisangle has no length");
        pose->rotation = mor_quat_axis_angle(mor_scale(1.0 / mor_norm(axis), axis), m->degrees ? v[3] * DEGREE : v[3]);
        given++;
    }
    if (code == MOR_OK && (code = mor_xml_numbers(e, "xyaxes", 6, 6, v, &n, m->error)) == MOR_OK && n) {
        mor_vec3 x = mor_v3(v[0], v[1], v[2]), y = mor_v3(v[3], v[4], v[5]);
        if (!(mor_norm(mor_cross(x, y)) > 1e-10 * mor_norm(x) * mor_norm(y)) || !(mor_norm(x) > 1e-10))
            return mor_xml_fail(e, m->error, "the two axes of xyaxes are parallel or have no length");
        x = mor_scale(1.0 / mor_norm(x), x);
        y = mor_madd(y, -mor_dot(x, y), x);
        y = mor_scale(1.0 / mor_norm(y), y);
        pose->rotation = mor_quat_of_axes(x, y, mor_cross(x, y));
        given++;
    }
    if (code == MOR_OK && (code = mor_xml_numbers(e, "zaxis", 3, 3, v, &n, m->error)) == MOR_OK && n) {
        if (!(mor_norm(mor_v3(v[0], v[1], v[2])) > 1e-10)) return mor_xml_fail(e, m->error, "zaxis has no length");
        pose->rotation = from_z(mor_v3(v[0], v[1], v[2]));
        given++;
    }
    if (code == MOR_OK && (code = mor_xml_numbers(e, "euler", 3, 3, v, &n, m->error)) == MOR_OK && n) {
        pose->rotation = mor_mjcf_euler(m, v);
        given++;
    }
    if (code == MOR_OK && given > 1)
        return mor_xml_fail(e, m->error,
                            "<%.60s> has %d orientations; give one of quat, axisangle, xyaxes, zaxis, euler", e->name,
                            given);
    return code;
}
