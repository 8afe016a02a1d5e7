/* docs/scene.md from the parser's own tables, so that it cannot say anything else than the parser
 * does. */
#include "io/scene/scene_def.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef struct page {
    char* text;
    size_t size, used; /* used counts on when the buffer is full */
} page;

static void MOR_PRINTF(2, 3) put(page* p, const char* format, ...)
{
    va_list args;
    va_start(args, format);
    bool room = p->used < p->size;
    int n = vsnprintf(room ? p->text + p->used : NULL, room ? p->size - p->used : 0, format, args);
    va_end(args);
    if (n > 0) p->used += (size_t)n;
}

static void put_cell(page* p, const char* text)
{
    for (; *text; text++) put(p, *text == '|' ? "\\%c" : "%c", *text);
}

static void put_type(page* p, const mor_key* k)
{
    switch (k->type) {
    case MOR_KEY_NUMBER:
        put(p, "number");
        break;
    case MOR_KEY_INT:
        put(p, "whole number");
        break;
    case MOR_KEY_BOOL:
        put(p, "true or false");
        break;
    case MOR_KEY_CHOICE:
        put_cell(p, k->choices);
        break;
    case MOR_KEY_TEXT:
        put(p, "text");
        break;
    case MOR_KEY_VECTOR:
        put(p, "[x, y, z]; 2-D: [x, y]");
        break;
    case MOR_KEY_SPIN:
        put(p, "[x, y, z]; 2-D: number");
        break;
    case MOR_KEY_COUNTS:
        put(p, "[i, j, k]; 2-D: [i, j]");
        break;
    case MOR_KEY_NODE:
        put_cell(p, k->value);
        break;
    case MOR_KEY_LATER:
        put(p, "*not in this version*");
        break;
    }
    if (k->unit && *k->unit) put(p, " [%s]", k->unit);
    if (k->type != MOR_KEY_NUMBER && k->type != MOR_KEY_INT && k->type != MOR_KEY_COUNTS) return;
    if (k->min == MOR_POSITIVE) put(p, ", positive");
    else if (k->min == 0 && k->max == MOR_HUGE) put(p, ", not negative");
    else if (k->min == k->max && k->max != 0) put(p, " %g", k->max);
    else if (k->max != 0 && isfinite(k->max)) put(p, ", %.10g to %.16g", k->min, k->max);
}

static void put_table(page* p, const mor_key_table* table)
{
    put(p, "\n## %s\n\n", table->where);
    if (*table->intro) put(p, "%s\n\n", table->intro);
    put(p, "| key | value | default | meaning |\n|---|---|---|---|\n");
    for (const mor_key* k = table->keys; k->name; k++) {
        put(p, "| `%s` | ", k->name);
        put_type(p, k);
        put(p, " | ");
        put_cell(p, k->fallback ? k->fallback : "");
        put(p, " | ");
        if (k->dimension) put(p, "%d-D only. ", k->dimension);
        put_cell(p, k->help);
        put(p, " |\n");
    }
}

static void put_options(page* p, const mor_field* fields)
{
    for (const mor_field* f = fields; f && f->name; f++) {
        put(p, "| `%s` | ", f->name);
        if (f->type == MOR_TYPE_CHOICE) {
            put_cell(p, f->choices);
            const char* s = f->choices;
            for (int k = (int)f->initial; k > 0 && s; k--) s = strchr(s, '|') ? strchr(s, '|') + 1 : NULL;
            put(p, " | %.*s | ", s ? (int)strcspn(s, "|") : 0, s ? s : "");
        } else if (f->type == MOR_TYPE_BOOL) {
            put(p, "true or false | %s | ", f->initial != 0.0 ? "true" : "false");
        } else {
            bool unit = f->unit && *f->unit;
            put(p, "%s%s%s%s, %g to %g", f->type == MOR_TYPE_INT ? "whole number" : "number", unit ? " [" : "",
                unit ? f->unit : "", unit ? "]" : "", f->min, f->max);
            if (f->choices) put(p, ", or %s", f->choices);
            if (f->choices && f->initial == -1.0) put(p, " | %s | ", f->choices);
            else put(p, " | %g | ", f->initial);
        }
        put_cell(p, f->help ? f->help : "");
        put(p, " |\n");
    }
}

static void put_method(page* p, const char* kind, const char* name, const char* summary, const mor_field* fields)
{
    put(p, "\n### %s `%s`\n\n%s\n", kind, name, summary ? summary : "");
    if (!fields || !fields->name) return;
    put(p, "\n| option | value | default | meaning |\n|---|---|---|---|\n");
    put_options(p, fields);
}

mor_code mor_scene_reference(char* buffer, size_t size)
{
    page p = { buffer, size, 0 };
    put(&p,
        "# The scene file, version 1\n\n"
        "A scene is a YAML file (JSON is a subset). This page is generated from the parser's tables. Lengths are in m, "
        "masses in\nkg, times in s; axes are right-handed with z up; quaternions have the real part first. Unknown "
        "keys "
        "are errors. No\nnumber may exceed %g. The smallest scene:\n\n"
        "<!-- file: ball.yaml -->\n"
        "```yaml\nmoreau: 1\nbodies:\n"
        "  - { name: ball, shape: { sphere: 0.5 }, mass: 1, position: [0, 0, 2] }\n"
        "  - { name: floor, shape: plane, fixed: true }\n```\n"
        "<!-- run: moreau run ball.yaml --steps 3 --quiet -->\n\n"
        "Any value can be changed from the command line: `--set time.step=0.005`, `--set "
        "method.solver.tol=1e-9`,\n"
        "`--set bodies.ball.mass=2`. A word of the path is a key, or in a list the `name` of an "
        "entry or its index from 0.\n\n",
        MOR_HUGE);
    put(&p, "%s", mor_scene_snippets);
    for (const mor_key_table* const* t = mor_key_tables; *t; t++) put_table(&p, *t);

    put(&p, "\n## Methods and their options\n\nOptions stand beside the name: `solver: { name: "
            "pgs, tol: 1e-8 }`.\n");
    for (int i = 0; mor_library_formulation_at(NULL, i); i++) {
        const mor_formulation* m = mor_library_formulation_at(NULL, i);
        put_method(&p, "formulation", m->name, m->summary, m->fields);
    }
    put_method(&p, "solver", "(every one)", "Options of all solvers.", mor_world_solver_fields());
    for (int i = 0; mor_library_solver_at(NULL, i); i++) {
        const mor_solver* m = mor_library_solver_at(NULL, i);
        put_method(&p, "solver", m->name, m->summary, m->fields);
    }
    for (int i = 0; mor_library_collision_at(NULL, i); i++) {
        const mor_collision* m = mor_library_collision_at(NULL, i);
        put_method(&p, "collision", m->name, m->summary, m->fields);
    }
    for (int i = 0; mor_library_controller_at(NULL, i); i++) {
        const mor_controller* m = mor_library_controller_at(NULL, i);
        put_method(&p, "controller", m->name, m->summary, m->fields);
    }
    put_method(&p, "method", "(the world)", "Keys of `method` itself.", mor_world_fields());
    return p.used < size ? MOR_OK : MOR_SYSTEM;
}
