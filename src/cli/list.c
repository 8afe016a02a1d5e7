/* moreau list: the registries as a table or JSON. */
#include "cli/cli.h"
#include "cli/options.h"
#include "io/json/json.h"
#include "base/optimisers.h"
#include "moreau/control.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What every kind of method has in common. */
typedef struct item {
    const char *name, *summary, *reference;
    uint32_t forms; /* accepted by a solver, produced by a formulation */
    const mor_field *fields, *more_fields;
    uint32_t converted; /* taken by a solver through an exact conversion */
} item;

static const item shapes[] = {
    { "sphere", "sphere: r", "", 0, NULL, NULL, 0 },
    { "box", "box: [x, y, z], full edge lengths; 2-D: [x, y]", "", 0, NULL, NULL, 0 },
    { "plane", "plane: {normal, point}; fixed bodies only", "", 0, NULL, NULL, 0 },
    { "ellipsoid", "ellipsoid: [a, b, c], semi-axes", "", 0, NULL, NULL, 0 },
    { "capsule", "capsule: {radius, length}, along z", "", 0, NULL, NULL, 0 },
    { "cylinder", "cylinder: {radius, length, sides}; without sides it is smooth", "", 0, NULL, NULL, 0 },
    { "prism", "prism: {sides, radius, length}, first vertex on x", "", 0, NULL, NULL, 0 },
    { "cone", "cone: {radius, height}", "", 0, NULL, NULL, 0 },
    { "hull", "hull: [[x, y, z], ...], convex hull of points", "", 0, NULL, NULL, 0 },
    { "mesh", "mesh: file (.obj .stl .dae .poly), convex pieces", "", 0, NULL, NULL, 0 },
    { "tetrahedron", "tetrahedron: {edge | radius}", "", 0, NULL, NULL, 0 },
    { "octahedron", "octahedron: {edge | radius}", "", 0, NULL, NULL, 0 },
    { "dodecahedron", "dodecahedron: {edge | radius}", "", 0, NULL, NULL, 0 },
    { "icosahedron", "icosahedron: {edge | radius}", "", 0, NULL, NULL, 0 },
    { "particle", "particle: 2-D point", "", 0, NULL, NULL, 0 },
    { "disc", "disc: r, 2-D", "", 0, NULL, NULL, 0 },
    { "polygon", "polygon: [[x, y], ...], 2-D, convex", "", 0, NULL, NULL, 0 },
    { "chain", "chain: [[x, y], ...], 2-D open boundary, solid on the right; fixed bodies only", "", 0, NULL, NULL, 0 },
};

static void json_fields(mor_json* json, const mor_field* fields)
{
    static const char* types[] = { "bool", "int", "double", "choice" };
    for (const mor_field* f = fields; f && f->name; f++) {
        mor_json_object(json, NULL);
        mor_json_text(json, "name", f->name);
        mor_json_text(json, "type", types[f->type]);
        if (f->type == MOR_TYPE_BOOL) mor_json_bool(json, "default", f->initial != 0.0);
        else if (f->type == MOR_TYPE_CHOICE) {
            int zero[16] = { (int)f->initial };
            char word[64];
            mor_field at_zero = *f;
            at_zero.offset = 0;
            mor_field_print(&at_zero, zero, word, sizeof word);
            mor_json_text(json, "default", word);
            mor_json_text(json, "choices", f->choices);
        } else {
            if (f->choices && f->initial == -1.0) mor_json_text(json, "default", f->choices);
            else mor_json_number(json, "default", f->initial);
            mor_json_number(json, "min", f->min);
            mor_json_number(json, "max", f->max);
        }
        if (f->unit && *f->unit) mor_json_text(json, "unit", f->unit);
        mor_json_text(json, "help", f->help);
        mor_json_end(json);
    }
}

/* Stands for a document where only names are asked for, one per line. */
static mor_json names_only;

static void show(const item* it, mor_json* json)
{
    if (json == &names_only) {
        puts(it->name);
        return;
    }
    if (!json) {
        printf("%-16s %s\n", it->name, it->summary);
        if (it->forms) {
            printf("%-16s   forms:", "");
            for (int bit = 0; bit < 31; bit++)
                if (it->forms & 1u << bit) printf(" %s", mor_form_name((mor_form)(1u << bit)));
            putchar('\n');
        }
        const mor_field* tables[] = { it->fields, it->more_fields };
        for (int t = 0; t < 2; t++)
            for (const mor_field* f = tables[t]; f && f->name; f++)
                printf("%-16s   %s%s%s: %s\n", "", f->name, f->choices ? " = " : "", f->choices ? f->choices : "",
                       f->help);
        return;
    }
    mor_json_object(json, NULL);
    mor_json_text(json, "name", it->name);
    mor_json_text(json, "summary", it->summary);
    mor_json_text(json, "reference", it->reference ? it->reference : "");
    mor_json_list(json, "accepts");
    for (int bit = 0; bit < 31; bit++)
        if (it->forms & 1u << bit) mor_json_text(json, NULL, mor_form_name((mor_form)(1u << bit)));
    mor_json_end(json);
    if (it->converted) {
        mor_json_list(json, "through_conversion");
        for (int bit = 0; bit < 31; bit++)
            if (it->converted & 1u << bit) mor_json_text(json, NULL, mor_form_name((mor_form)(1u << bit)));
        mor_json_end(json);
    }
    mor_json_list(json, "options");
    json_fields(json, it->fields);
    json_fields(json, it->more_fields);
    mor_json_end(json);
    mor_json_end(json);
}

static uint32_t converted_forms(const mor_solver* solver)
{
    uint32_t bits = 0;
    for (int bit = 0; bit < 31 && mor_form_name((mor_form)(1u << bit)); bit++)
        if (!(solver->accepts & 1u << bit) && mor_solver_applies(solver, (mor_form)(1u << bit))) bits |= 1u << bit;
    return bits;
}

/* Which solver takes which problem, as in the tables of the papers. */
static void show_applicability(void)
{
    printf("\nx takes the problem as it is, c through an exact conversion\n\n%-18s", "");
    for (int bit = 0; bit < 31 && mor_form_name((mor_form)(1u << bit)); bit++)
        printf(" %s", mor_form_name((mor_form)(1u << bit)));
    putchar('\n');
    for (int i = 0; mor_library_solver_at(mor_cli_library(), i); i++) {
        const mor_solver* s = mor_library_solver_at(mor_cli_library(), i);
        uint32_t converted = converted_forms(s);
        printf("%-18s", s->name);
        for (int bit = 0; bit < 31 && mor_form_name((mor_form)(1u << bit)); bit++)
            printf(" %*s", (int)strlen(mor_form_name((mor_form)(1u << bit))),
                   s->accepts & 1u << bit  ? "x"
                   : converted & 1u << bit ? "c"
                                           : ".");
        putchar('\n');
    }
}

/* Scenes with the first line of each file as summary; second names say whose they are. */
static void show_scenes(mor_json* json)
{
    int count = 0;
    mor_cli_scene* list = mor_cli_scenes(&count);
    for (int i = 0; i < count; i++) {
        char text[400];
        if (*list[i].same_as) snprintf(text, sizeof text, "%s: %s", list[i].same_as, list[i].summary);
        else snprintf(text, sizeof text, "%s", list[i].summary);
        show(&(item){ .name = list[i].name, .summary = text }, json);
    }
    free(list);
}

static void show_formulations(mor_json* json)
{
    const mor_formulation* f;
    for (int i = 0; (f = mor_library_formulation_at(mor_cli_library(), i)); i++)
        show(&(item){ f->name, f->summary, f->reference, f->produces, f->fields, NULL, 0 }, json);
}

static void show_solvers(mor_json* json)
{
    const mor_solver* s;
    for (int i = 0; (s = mor_library_solver_at(mor_cli_library(), i)); i++)
        show(&(item){ s->name, s->summary, s->reference, s->accepts, mor_world_solver_fields(), s->fields,
                      converted_forms(s) },
             json);
    if (!json) show_applicability();
}

static void show_collision(mor_json* json)
{
    const mor_collision* c;
    for (int i = 0; (c = mor_library_collision_at(mor_cli_library(), i)); i++)
        show(&(item){ c->name, c->summary, c->reference, 0, c->fields, NULL, 0 }, json);
}

static void show_integrators(mor_json* json)
{
    const mor_integrator* it;
    for (int i = 0; (it = mor_integrator_at(i)); i++)
        show(&(item){ it->name, it->summary, it->reference, 0, i ? mor_world_integrator_fields() : NULL, NULL, 0 },
             json);
}

static void show_impacts(mor_json* json)
{
    const mor_impact_law* law;
    for (int i = 0; (law = mor_impact_law_at(i)); i++)
        show(&(item){ .name = mor_impact_law_name(law),
                      .summary = mor_impact_law_summary(law),
                      .reference = mor_impact_law_reference(law) },
             json);
}

static void show_optimisers(mor_json* json)
{
#define SHOW(word, algorithm, text) show(&(item){ .name = word, .summary = text, .reference = "" }, json);
    MOR_OPTIMISERS(SHOW)
#undef SHOW
}

static void show_shapes(mor_json* json)
{
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) show(&shapes[i], json);
}

static void show_joints(mor_json* json)
{
    for (int i = 0; i < MOR_JOINT_KINDS; i++) {
        const char* name = mor_joint_kind_name((mor_joint_kind)i);
        if (json) show(&(item){ .name = name, .summary = "" }, json);
        else puts(name);
    }
}

static void show_controllers(mor_json* json)
{
    const mor_controller* c;
    for (int i = 0; (c = mor_library_controller_at(mor_cli_library(), i)); i++)
        show(&(item){ c->name, c->summary, c->reference, 0, c->fields, NULL, 0 }, json);
}

static const struct kind {
    const char* name;
    void (*show)(mor_json*);
} kinds[] = {
    { "formulations", show_formulations },
    { "solvers", show_solvers },
    { "collision", show_collision },
    { "integrators", show_integrators },
    { "impacts", show_impacts },
    { "optimisers", show_optimisers },
    { "shapes", show_shapes },
    { "joints", show_joints },
    { "scenes", show_scenes },
    { "controllers", show_controllers },
};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* --------------------------------------------------------------------------------- command */

typedef struct arguments {
    const char* what;
    bool json, names;
} arguments;

static int take_kind(void* user, char* word)
{
    arguments* a = user;
    if (a->what) return mor_cli_usage("list", "unexpected '%s'", word);
    a->what = word;
    return 0;
}

static const mor_cli_option options[] = {
    { "--json", NULL, "one JSON document on standard output", MOR_CLI_FLAG, .offset = offsetof(arguments, json) },
    { "--names", NULL, "only names, one per line", MOR_CLI_FLAG, .offset = offsetof(arguments, names) },
    { .name = NULL },
};

static const mor_cli_command command = {
    .name = "list",
    .usage = "WHAT [--json|--names]",
    .about = "The methods by name with their options, and what scenes are made of. WHAT is one of formulations,\n"
             "solvers, collision, integrators, impacts, optimisers, shapes, joints, scenes and controllers.\n",
    .options = options,
    .operand = take_kind,
};

int mor_cli_list(int argc, char** argv)
{
    arguments a = { 0 };
    int status = mor_cli_parse(&command, argc, argv, &a);
    if (status) return status;
    if (!a.what)
        return mor_cli_usage("list", "what? formulations, solvers, collision, integrators, impacts, optimisers, "
                                     "shapes, joints, scenes or controllers");
    const char* names[KINDS + 1] = { 0 };
    const struct kind* kind = NULL;
    for (int i = 0; i < KINDS; i++) {
        names[i] = kinds[i].name;
        if (strcmp(a.what, names[i]) == 0) kind = &kinds[i];
    }
    if (!kind) return mor_cli_unknown("list", "word", a.what, names);
    if (!a.json) {
        kind->show(a.names ? &names_only : NULL);
        return 0;
    }
    mor_json json = mor_json_begin(stdout);
    mor_json_list(&json, NULL);
    kind->show(&json);
    mor_json_end(&json);
    mor_json_finish(&json); /* main tells when it is lost */
    return 0;
}
