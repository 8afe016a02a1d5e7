/* MuJoCo models: the file, its includes, compiler and option, and the order in which the sections are read.
 *
 *     mujoco > compiler, option, default, asset, worldbody, contact, equality, tendon, actuator, sensor, keyframe
 *
 * What only concerns MuJoCo's solver and its soft contacts (solref, solimp, impratio, cone, integrator ...) is noted;
 * what is for the eye is passed over; what would change the motion and is not understood is refused where it stands.
 * Angles are degrees unless the compiler says radian. Limits act where a range is given (autolimits), as they do since
 * MuJoCo 2.3.
 *
 * Reference: E. Todorov, T. Erez, Y. Tassa (2012), MuJoCo: a physics engine for model-based control, IROS; MuJoCo
 * documentation, XML reference. */
#include "io/mjcf/mjcf.h"
#include "io/text/text_file.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { INCLUDES_MAX = 200 };

/* --------------------------------------------------------------------------------- includes */

/* Puts the children of the included files in the place of the include elements below e. */
static mor_code expand(mor_mjcf* m, mor_xml* e, int depth, int* files)
{
    mor_xml* before = NULL;
    for (mor_xml* c = e->first; c; c = c->next) {
        if (strcmp(c->name, "include") != 0) {
            mor_code code = expand(m, c, depth, files);
            if (code) return code;
            before = c;
            continue;
        }
        const char* name = mor_xml_get(c, "file");
        if (!name || !*name) return mor_xml_fail(c, m->error, "<include> has no file");
        if (depth >= 16 || ++*files > INCLUDES_MAX)
            return mor_xml_fail(c, m->error, "too many includes, or a file that includes itself");
        const char* path = mor_xml_path(m->arena, c->file, name);
        if (path && access(path, R_OK) != 0)
            path = mor_xml_path(m->arena, m->path, name); /* MuJoCo: relative to the main file */
        if (!path) return mor_fail(m->error, MOR_SYSTEM, "out of memory");
        mor_error inner = { 0 };
        mor_xml* root = mor_xml_read(m->arena, path, &inner);
        if (!root) {
            if (inner.line || inner.code == MOR_SYSTEM) *m->error = inner;
            else mor_xml_fail(c, m->error, "%s", inner.text);
            return inner.code;
        }
        mor_code code = expand(m, root, depth + 1, files);
        if (code) return code;
        mor_xml *first = root->first, *last = root->last, *after = c->next;
        for (mor_xml* k = first; k; k = k->next) k->parent = e;
        if (first) {
            last->next = after;
            if (before) before->next = first;
            else e->first = first;
            if (!after) e->last = last;
            c = last;
            before = last;
        } else {
            if (before) before->next = after;
            else e->first = after;
            if (!after) e->last = before;
            c->next = after;
        }
    }
    return MOR_OK;
}

/* ------------------------------------------------------------------------- compiler, option */

static mor_code read_compiler(mor_mjcf* m, const mor_xml* e)
{
    mor_code code = mor_mjcf_check(
        m, e,
        "angle autolimits balanceinertia boundinertia boundmass coordinate eulerseq inertiafromgeom inertiagrouprange "
        "meshdir texturedir assetdir settotalmass strippath exactmeshinertia discardvisual fusestatic usethread "
        "convexhull saveinertial alignfree",
        "fitaabb", NULL);
    int angle = m->degrees ? 1 : 0, coordinate = 0;
    const char* text;
    double range[2];
    int n;
    if (!code) code = mor_mjcf_choice(m, e, "angle", "radian|degree", &angle);
    m->degrees = angle == 1;
    if (!code) code = mor_mjcf_choice(m, e, "coordinate", "local|global", &coordinate);
    if (!code && coordinate) return mor_xml_fail(e, m->error, "global coordinates are not supported");
    if (!code) code = mor_mjcf_bool(m, e, "autolimits", &m->autolimits);
    if (!code) code = mor_mjcf_bool(m, e, "balanceinertia", &m->balance_inertia);
    if (!code) code = mor_mjcf_bool(m, e, "strippath", &m->strip_path);
    if (!code) code = mor_mjcf_bool(m, e, "exactmeshinertia", &m->exact_mesh);
    if (!code) code = mor_mjcf_bool(m, e, "discardvisual", &m->discard_visual);
    if (!code) code = mor_mjcf_number(m, e, "boundmass", &m->bound_mass);
    if (!code) code = mor_mjcf_number(m, e, "boundinertia", &m->bound_inertia);
    if (!code) code = mor_mjcf_number(m, e, "settotalmass", &m->total_mass);
    if (!code) code = mor_mjcf_choice(m, e, "inertiafromgeom", "false|true|auto", &m->inertia_from_geom);
    if (!code && !(code = mor_xml_numbers(e, "inertiagrouprange", 2, 2, range, &n, m->error)) && n)
        memcpy(m->group_range, range, sizeof range);
    if ((text = mor_xml_get(e, "assetdir"))) m->mesh_dir = m->texture_dir = text;
    if ((text = mor_xml_get(e, "texturedir"))) m->texture_dir = text;
    if ((text = mor_xml_get(e, "meshdir"))) m->mesh_dir = text;
    if (!code && (text = mor_xml_get(e, "eulerseq"))) {
        if (strlen(text) != 3 || strspn(text, "xyzXYZ") != 3)
            return mor_xml_fail(e, m->error, "eulerseq is '%.40s'; three letters of xyzXYZ are expected", text);
        memcpy(m->euler, text, 4);
    }
    return code;
}

static mor_code read_flag(mor_mjcf* m, const mor_xml* e)
{
    static const char* const passed = "nativeccd multiccd island autoreset warmstart energy fwdinv invdiscrete "
                                      "sensornoise sensor refsafe eulerdamp midphase override";
    const struct {
        const char* name;
        bool* off;
    } flags[] = { { "contact", &m->no_contact },
                  { "limit", &m->no_limit },
                  { "frictionloss", &m->no_friction },
                  { "equality", &m->no_equality },
                  { "passive", &m->no_passive },
                  { "actuation", &m->no_actuation },
                  { "filterparent", &m->no_filter_parent },
                  { "gravity", &m->no_gravity } };
    mor_code code = mor_mjcf_check(m, e, "contact limit frictionloss equality passive actuation filterparent gravity",
                                   passed, "constraint clampctrl spring damper");
    for (size_t i = 0; i < sizeof flags / sizeof *flags && !code; i++) {
        int on = *flags[i].off ? 0 : 1;
        code = mor_mjcf_choice(m, e, flags[i].name, "disable|enable", &on);
        *flags[i].off = on == 0;
    }
    return code;
}

static mor_code read_option(mor_mjcf* m, const mor_xml* e)
{
    mor_code code = mor_mjcf_check(
        m, e, "timestep gravity wind density viscosity magnetic",
        "integrator cone jacobian solver iterations tolerance ls_iterations ls_tolerance noslip_iterations "
        "noslip_tolerance mpr_iterations mpr_tolerance ccd_iterations ccd_tolerance sdf_iterations sdf_initpoints "
        "impratio apirate o_margin o_solref o_solimp o_friction collision actuatorgroupdisable sleep_tolerance",
        NULL);
    double g[3];
    int n;
    if (!code) code = mor_mjcf_number(m, e, "timestep", &m->timestep);
    if (!code && !(m->timestep > 0.0)) return mor_xml_fail(e, m->error, "the timestep is %g", m->timestep);
    if (!code && !(code = mor_xml_numbers(e, "gravity", 3, 3, g, &n, m->error)) && n)
        m->gravity = mor_v3(g[0], g[1], g[2]);
    if (!code && !(code = mor_xml_numbers(e, "wind", 3, 3, g, &n, m->error)) && n) m->wind = mor_v3(g[0], g[1], g[2]);
    if (!code) code = mor_mjcf_number(m, e, "density", &m->density);
    if (!code) code = mor_mjcf_number(m, e, "viscosity", &m->viscosity);
    if (!code && !(m->density >= 0.0 && m->viscosity >= 0.0))
        return mor_xml_fail(e, m->error, "density and viscosity of the fluid are at least 0");
    for (const mor_xml* c = e->first; c && !code; c = c->next) {
        if (strcmp(c->name, "flag") != 0) return mor_xml_fail(c, m->error, "<%.60s> in <option> is not known", c->name);
        code = read_flag(m, c);
    }
    return code;
}

static mor_code gather_defaults(mor_mjcf* m, const mor_xml* e)
{
    const mor_xml** d = MOR_MJCF_ADD(m, defaults);
    if (!d) return MOR_SYSTEM;
    *d = e;
    return MOR_OK;
}

/* ----------------------------------------------------------------------------------- sections */

typedef mor_code (*section)(mor_mjcf* m, const mor_xml* e);

static mor_code pass_over(mor_mjcf* m, const mor_xml* e)
{
    (void)m, (void)e;
    return MOR_OK;
}

static mor_code refuse(mor_mjcf* m, const mor_xml* e)
{
    return mor_xml_fail(e, m->error, "<%.60s> is not supported", e->name);
}

/* Plug-ins act where an element names one; that element is refused there. */
static mor_code note_extension(mor_mjcf* m, const mor_xml* e)
{
    mor_mjcf_note(m, e, "extension", "plug-ins of MuJoCo are not loaded");
    return MOR_OK;
}

/* In the order in which they are read: names are there before what speaks of them. */
static const struct {
    const char* name;
    section read;
} sections[] = { { "compiler", read_compiler },
                 { "option", read_option },
                 { "size", pass_over },
                 { "statistic", pass_over },
                 { "visual", pass_over },
                 { "custom", pass_over },
                 { "default", gather_defaults },
                 { "asset", mor_mjcf_read_assets },
                 { "worldbody", mor_mjcf_read_world },
                 { "contact", mor_mjcf_read_contacts },
                 { "tendon", mor_mjcf_read_tendons },
                 { "equality", mor_mjcf_read_equalities },
                 { "actuator", mor_mjcf_read_actuators },
                 { "keyframe", mor_mjcf_read_keys },
                 { "sensor", pass_over }, /* when the trees are known */
                 { "deformable", refuse },
                 { "extension", note_extension } };

static mor_code read_sections(mor_mjcf* m, const mor_xml* root)
{
    size_t count = sizeof sections / sizeof *sections;
    for (const mor_xml* c = root->first; c; c = c->next) {
        size_t i = 0;
        while (i < count && strcmp(c->name, sections[i].name) != 0) i++;
        if (i < count) continue;
        const char* names[32];
        for (i = 0; i < count; i++) names[i] = sections[i].name;
        names[count] = NULL;
        const char* near = mor_did_you_mean(c->name, names);
        return mor_xml_fail(c, m->error, "<%.60s> in <mujoco> is not known%s%s%s", c->name,
                            near ? "; did you mean <" : "", near ? near : "", near ? ">?" : "");
    }
    for (size_t i = 0; i < count; i++)
        for (const mor_xml* c = mor_xml_child(root, sections[i].name); c; c = mor_xml_sibling(c)) {
            mor_code code = sections[i].read(m, c);
            if (code) return code;
        }
    return MOR_OK;
}

mor_code mor_mjcf_finish(mor_mjcf* m, bool shapes)
{
    mor_code code = mor_mjcf_place_geoms(m);
    if (!code) code = mor_mjcf_masses(m);
    if (!code) code = mor_mjcf_grow_trees(m);
    if (!code) code = mor_mjcf_resolve(m);
    if (!code && shapes) code = mor_mjcf_shapes(m);
    return code ? code : mor_mjcf_start(m, NULL, m->error);
}

mor_code mor_mjcf_open(mor_mjcf* m, const mor_xml* at, const char* path, int depth, mor_xml** root)
{
    mor_error inner = { 0 };
    *root = mor_xml_read(m->arena, path, &inner);
    if (!*root) {
        if (inner.line || !at || inner.code == MOR_SYSTEM) *m->error = inner;
        else mor_xml_fail(at, m->error, "%s", inner.text);
        return inner.code ? inner.code : MOR_BAD_INPUT;
    }
    if (strcmp((*root)->name, "mujoco") != 0)
        return mor_xml_fail(*root, m->error, "the first element is <%.40s>; a MuJoCo model begins with <mujoco>",
                            (*root)->name);
    int files = 0;
    mor_code code = expand(m, *root, 0, &files);
    for (const mor_xml* c = mor_xml_child(*root, "compiler"); c && !code && !at; c = mor_xml_sibling(c))
        code = read_compiler(m, c); /* what turns of replicas are in */
    return code ? code : mor_mjcf_copy_parts(m, *root, depth);
}

static mor_code read_model(mor_mjcf* m, bool shapes)
{
    mor_xml* root = NULL;
    mor_code code = mor_mjcf_open(m, NULL, m->path, 0, &root);
    if (code) return code;
    const char* name = mor_xml_get(root, "model");
    m->model = name ? name : "model";
    m->bodies[0].at = root;
    if (!code) code = read_sections(m, root);
    if (!code && m->ellipsoid && (m->density > 0.0 || m->viscosity > 0.0))
        code = mor_xml_fail(m->ellipsoid, m->error, "fluidshape=\"ellipsoid\" is not supported");
    if (!code) code = mor_mjcf_finish(m, shapes);
    for (const mor_xml* c = mor_xml_child(root, "sensor"); c && !code; c = mor_xml_sibling(c))
        code = mor_mjcf_read_sensors(m, c);
    return code;
}

mor_mjcf* mor_mjcf_create(const char* path, char* notes, size_t notes_size, mor_error* error)
{
    if (notes && notes_size) notes[0] = '\0';
    mor_arena* arena = mor_arena_create(NULL);
    mor_mjcf* m = arena ? mor_arena_zero(arena, 1, sizeof *m) : NULL;
    char* copy = m ? mor_xml_copy(arena, path, strlen(path)) : NULL;
    if (copy)
        *m = (mor_mjcf){ .arena = arena,
                         .path = copy,
                         .error = error,
                         .notes = notes,
                         .notes_size = notes_size,
                         .degrees = true,
                         .autolimits = true,
                         .inertia_from_geom = 2,
                         .group_range = { 0, 5 },
                         .total_mass = -1.0,
                         .euler = "xyz",
                         .mesh_dir = "",
                         .texture_dir = "",
                         .gravity = { 0, 0, -9.81 },
                         .timestep = 0.002,
                         .key = -1 };
    mor_mjcf_body* world = copy ? MOR_MJCF_ADD(m, bodies) : NULL;
    if (!world) {
        mor_arena_destroy(arena);
        mor_fail(error, MOR_SYSTEM, "out of memory");
        return NULL;
    }
    *world = (mor_mjcf_body){ .name = "world", .parent = -1, .pose = mor_pose_identity(), .tree = -1 };
    world->in_link = mor_pose_identity();
    world->frame = -1;
    return m;
}

mor_mjcf* mor_mjcf_give(mor_mjcf* m, mor_code code)
{
    m->error = NULL;
    m->notes = NULL;
    if (code == MOR_OK) return m;
    mor_mjcf_destroy(m);
    return NULL;
}

mor_mjcf* mor_mjcf_read(const char* path, bool shapes, char* notes, size_t notes_size, mor_error* error)
{
    mor_error local = { 0 };
    if (!error) error = &local;
    mor_mjcf* m = mor_mjcf_create(path, notes, notes_size, error);
    return m ? mor_mjcf_give(m, read_model(m, shapes)) : NULL;
}

void mor_mjcf_destroy(mor_mjcf* m)
{
    if (!m) return;
    for (int i = 0; i < m->meshes_count; i++) mor_geometry_release(m->meshes[i].hull);
    for (int i = 0; i < m->geoms_count; i++) mor_geometry_release(m->geoms[i].geometry);
    for (int i = 0; i < m->trees_count; i++) mor_robot_destroy(m->trees[i].model);
    mor_arena_destroy(m->arena);
}

bool mor_xml_begins(const char* path, const char* name)
{
    char text[4096];
    long n = mor_file_head(path, text, sizeof text - 1);
    text[n > 0 ? n : 0] = '\0';
    for (const char* s = strchr(text, '<'); s;
         s = strchr(s + 1, '<')) { /* the first element: URDF files may hold one */
        if (strncmp(s, "<!--", 4) == 0) {
            if (!(s = strstr(s, "-->"))) return false;
        } else if (s[1] != '?' && s[1] != '!') {
            size_t k = strlen(name);
            return strncmp(s + 1, name, k) == 0 && strchr(" \t\r\n/>", s[1 + k]);
        }
    }
    return false;
}

bool mor_mjcf_is(const char* path) { return mor_xml_begins(path, "mujoco"); }

/* ------------------------------------------------------------------------------------ names */

#define FINDER(function, list)                                                                                         \
    int function(const mor_mjcf* m, const char* name)                                                                  \
    {                                                                                                                  \
        for (int i = 0; name && i < m->list##_count; i++)                                                              \
            if (m->list[i].name && strcmp(m->list[i].name, name) == 0) return i;                                       \
        return -1;                                                                                                     \
    }
FINDER(mor_mjcf_find_body, bodies)
FINDER(mor_mjcf_find_joint, joints)
FINDER(mor_mjcf_find_geom, geoms)
FINDER(mor_mjcf_find_site, sites)
FINDER(mor_mjcf_find_tendon, tendons)
FINDER(mor_mjcf_find_actuator, actuators)

mor_mjcf_mesh* mor_mjcf_find_mesh(mor_mjcf* m, const char* name)
{
    for (int i = 0; i < m->meshes_count; i++)
        if (strcmp(m->meshes[i].name, name) == 0) return &m->meshes[i];
    return NULL;
}
