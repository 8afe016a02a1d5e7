/* SDF worlds and models (1.6 to 1.9), through the records of an MJCF model.
 *
 * A model is a graph: links with poses, joints with a parent and a child. Links that are no child of a joint are roots;
 * a root is free unless its model is static or a joint holds it to the world. Records want a tree of bodies, each seen
 * from its parent, with joints in the frame of the body: with X_l the pose of a link in the world and X_j that of the
 * joint in its child,
 *
 *     body  X_parent^-1 X_child,    joint  anchor p_j, axis R_j a  (expressed_in: R_child^-1 R_frame a).
 *
 * Poses are told relative_to a frame, a link, a joint or a nested model; by default links and frames are relative to
 * their model, joints to their child link, models to the world. Names of nested models are "model::name".
 *
 * Reference: SDFormat specification 1.9, pose frame semantics (sdformat.org). */
#include "io/mjcf/mjcf.h"
#include "io/sdf/sdf_reader.h"
#include "io/sdf/sdf.h"
#include "io/urdf/urdf.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH = 32 };

static const char* scoped(reader* r, const char* scope, const char* name)
{
    if (!*scope) return name;
    size_t n = strlen(scope), k = strlen(name);
    char* text = mor_arena_alloc(r->m->arena, n + k + 3);
    if (!text) return NULL;
    memcpy(text, scope, n);
    memcpy(text + n, "::", 2);
    memcpy(text + n + 2, name, k + 1);
    return text;
}

static named* add(reader* r, const mor_xml* at, const char* name, int kind, int model)
{
    named* n = mor_mjcf_grow(r->m, (void**)&r->items, &r->count, &r->room, sizeof *r->items);
    if (n)
        *n = (named){ .name = name, .at = at, .kind = kind, .model = model, .pose = mor_pose_identity(), .body = -1 };
    return n;
}

/* The text of a child element without blanks around it, or NULL. */
const char* mor_sdf_text(reader* r, const mor_xml* e, const char* name)
{
    const mor_xml* c = mor_xml_child(e, name);
    if (!c || !c->text) return NULL;
    const char* s = c->text + strspn(c->text, " \t\r\n");
    size_t n = strlen(s);
    while (n && strchr(" \t\r\n", s[n - 1])) n--;
    const char* copy = mor_xml_copy(r->m->arena, s, n);
    r->lacks = r->lacks || !copy;
    return copy;
}

mor_code mor_sdf_numbers(reader* r, const mor_xml* e, const char* name, int count, double* out)
{
    const mor_xml* c = mor_xml_child(e, name);
    if (!c) return MOR_OK;
    char what[80];
    snprintf(what, sizeof what, "<%.60s>", name);
    return mor_xml_parse_numbers(c, what, c->text ? c->text : "", count, count, out, NULL, r->m->error);
}

static bool truth_of(reader* r, const mor_xml* e, const char* name)
{
    const char* text = mor_sdf_text(r, e, name);
    return text && (strcmp(text, "true") == 0 || strcmp(text, "1") == 0);
}

/* <pose>x y z roll pitch yaw</pose> of an element; its relative_to with the scope. */
mor_code mor_sdf_pose(reader* r, const mor_xml* e, const char* scope, mor_pose* pose, const char** relative)
{
    const mor_xml* c = mor_xml_child(e, "pose");
    double v[7] = { 0 };
    int n = 0;
    if (!c) return MOR_OK;
    const char *to = mor_xml_get(c, "relative_to"), *degrees = mor_xml_get(c, "degrees"), *format;
    format = mor_xml_get(c, "rotation_format");
    bool quaternion = format && strcmp(format, "quat_xyzw") == 0;
    if (c->text && c->text[strspn(c->text, " \t\r\n")]) {
        mor_code code =
            mor_xml_parse_numbers(c, "<pose>", c->text, quaternion ? 7 : 6, quaternion ? 7 : 6, v, &n, r->m->error);
        if (code) return code;
    }
    double unit = degrees && strcmp(degrees, "true") == 0 ? 0.017453292519943295769 : 1.0;
    pose->position = mor_v3(v[0], v[1], v[2]);
    if (quaternion) {
        pose->rotation = mor_quat_normalize((mor_quat){ v[6], v[3], v[4], v[5] });
    } else {
        mor_quat x = mor_quat_axis_angle(mor_v3(1, 0, 0), unit * v[3]),
                 y = mor_quat_axis_angle(mor_v3(0, 1, 0), unit * v[4]),
                 z = mor_quat_axis_angle(mor_v3(0, 0, 1), unit * v[5]), zy = mor_quat_mul(z, y);
        pose->rotation = mor_quat_normalize(mor_quat_mul(zy, x));
    }
    if (to && *to && relative && !(*relative = scoped(r, scope, to)))
        return mor_fail(r->m->error, MOR_SYSTEM, "out of memory");
    return MOR_OK;
}

/* ------------------------------------------------------------------------------------- names */

static named* find(reader* r, const char* name)
{
    for (int i = 0; name && i < r->count; i++)
        if (strcmp(r->items[i].name, name) == 0) return &r->items[i];
    return NULL;
}

/* Where an item is in the world. */
static mor_code place(reader* r, const named* n, int depth, mor_pose* out)
{
    mor_pose base = mor_pose_identity();
    if (depth > DEPTH) return mor_xml_fail(n->at, r->m->error, "the pose of '%.60s' is relative to itself", n->name);
    const named* to = n->relative ? find(r, n->relative) : NULL;
    if (n->relative && !to) {
        const char* tail = strrchr(n->relative, ':');
        tail = tail ? tail + 1 : n->relative;
        if (strcmp(tail, "__model__") != 0 && strcmp(tail, "world") != 0)
            return mor_xml_fail(n->at, r->m->error, "the pose is relative to '%.60s', which is not there", n->relative);
        if (strcmp(tail, "world") == 0) {
            *out = n->pose;
            return MOR_OK;
        }
    }
    if (!to && n->kind == 1) to = find(r, n->child);
    if (!to && n->kind == 2) to = find(r, n->child);
    if (!to && n->model >= 0) to = &r->items[n->model];
    mor_code code = to && to != n ? place(r, to, depth + 1, &base) : MOR_OK;
    *out = mor_pose_mul(&base, &n->pose);
    out->rotation = mor_quat_normalize(out->rotation);
    return code;
}

/* ------------------------------------------------------------------------------ collecting */

static mor_code collect_model(reader* r, const mor_xml* e, const char* scope, int outer, const mor_xml* include,
                              int depth);

static mor_code collect_include(reader* r, const mor_xml* e, const char* scope, int outer, int depth)
{
    const char* uri = mor_sdf_text(r, e, "uri");
    char found[4200], inside[4300];
    if (!uri || !*uri) return mor_xml_fail(e, r->m->error, "<include> has no <uri>");
    if (depth > DEPTH) return mor_xml_fail(e, r->m->error, "includes are nested too deep");
    if (!mor_urdf_find_file(e->file, r->packages, uri, found, sizeof found)) {
        snprintf(inside, sizeof inside, "%s/model.sdf", uri);
        if (!mor_urdf_find_file(e->file, r->packages, inside, found, sizeof found))
            return mor_xml_fail(e, r->m->error, "'%.200s' is not found", uri);
    }
    mor_error inner = { 0 };
    mor_xml* root = mor_xml_read(r->m->arena, found, &inner);
    if (!root) { /* a folder: its model.sdf */
        snprintf(inside, sizeof inside, "%.4180s/model.sdf", found);
        mor_error again = { 0 };
        root = inner.line ? NULL : mor_xml_read(r->m->arena, inside, &again);
        if (!root)
            return inner.line || inner.code == MOR_SYSTEM ? (*r->m->error = inner, inner.code)
                                                          : mor_xml_fail(e, r->m->error, "%s", inner.text);
    }
    const mor_xml* model = mor_xml_child(root, "model");
    if (!model) return mor_xml_fail(root, r->m->error, "the included file has no <model>");
    return collect_model(r, model, scope, outer, e, depth + 1);
}

static mor_code collect_joint(reader* r, const mor_xml* e, const char* scope, int model)
{
    const mor_xml *from = mor_xml_child(e, "parent"), *to = mor_xml_child(e, "child");
    const char* name = mor_xml_get(e, "name");
    if (!name || !from || !from->text || !to || !to->text)
        return mor_xml_fail(e, r->m->error, "<joint> needs a name, a <parent> and a <child>");
    const char *parent = mor_sdf_text(r, e, "parent"), *child = mor_sdf_text(r, e, "child");
    named* n = parent && child ? add(r, e, scoped(r, scope, name), 1, model) : NULL;
    if (n)
        n->parent = strcmp(parent, "world") == 0 ? "world" : scoped(r, scope, parent),
        n->child = scoped(r, scope, child);
    if (!n || !n->parent || !n->child) return mor_fail(r->m->error, MOR_SYSTEM, "out of memory");
    return mor_sdf_pose(r, e, scope, &n->pose, &n->relative);
}

static mor_code collect_model(reader* r, const mor_xml* e, const char* scope, int outer, const mor_xml* include,
                              int depth)
{
    const char* name = include ? mor_sdf_text(r, include, "name") : NULL;
    if (!name) name = mor_xml_get(e, "name");
    if (!name) return mor_xml_fail(e, r->m->error, "<model> has no name");
    if (depth > DEPTH) return mor_xml_fail(e, r->m->error, "models are nested too deep");
    bool nested = outer >= 0;
    bool bare = !nested && r->bare; /* the only model of a file: names without a scope */
    const char* full = nested ? scoped(r, scope, name) : bare ? "" : name;
    int model = r->count;
    named* n = full ? add(r, e, bare ? "__model__" : full, 3, outer) : NULL;
    if (!n) return mor_fail(r->m->error, MOR_SYSTEM, "out of memory");
    n->is_static = truth_of(r, e, "static") || (include && truth_of(r, include, "static"));
    n->self_collide = truth_of(r, e, "self_collide");
    bool placed = include && mor_xml_child(include, "pose");
    mor_code code = mor_sdf_pose(r, placed ? include : e, scope, &n->pose, &n->relative);
    for (const mor_xml* c = e->first; c && !code; c = c->next) {
        const char* own = mor_xml_get(c, "name");
        bool link = strcmp(c->name, "link") == 0, frame = strcmp(c->name, "frame") == 0;
        if (link || frame) {
            if (!own) return mor_xml_fail(c, r->m->error, "<%s> has no name", c->name);
            named* x = add(r, c, scoped(r, full, own), link ? 0 : 2, model);
            if (!x || !x->name) return mor_fail(r->m->error, MOR_SYSTEM, "out of memory");
            const char* attached = frame ? mor_xml_get(c, "attached_to") : NULL;
            if (attached && *attached) x->child = scoped(r, full, attached);
            code = mor_sdf_pose(r, c, full, &x->pose, &x->relative);
        } else if (strcmp(c->name, "joint") == 0) {
            code = collect_joint(r, c, full, model);
        } else if (strcmp(c->name, "model") == 0) {
            code = collect_model(r, c, full, model, NULL, depth + 1);
        } else if (strcmp(c->name, "include") == 0) {
            code = collect_include(r, c, full, model, depth);
        } else if (strcmp(c->name, "plugin") == 0 || strcmp(c->name, "gripper") == 0) {
            mor_mjcf_note(r->m, c, c->name, "<%s> is not used", c->name);
        }
    }
    return code;
}

/* -------------------------------------------------------------------------- links to bodies */

static mor_code read_inertial(reader* r, const mor_xml* link, mor_mjcf_body* b)
{
    static const char* const names[] = { "ixx", "iyy", "izz", "ixy", "ixz", "iyz" };
    const mor_xml *e = mor_xml_child(link, "inertial"), *in = e ? mor_xml_child(e, "inertia") : NULL;
    double mass = 1.0, I[6] = { 1, 1, 1, 0, 0, 0 };
    mor_pose pose = mor_pose_identity();
    b->has_inertial = true; /* SDF: 1 kg and 1 kg m^2 unless told */
    mor_code code = e ? mor_sdf_numbers(r, e, "mass", 1, &mass) : MOR_OK;
    for (int i = 0; i < 6 && in && !code; i++) code = mor_sdf_numbers(r, in, names[i], 1, &I[i]);
    if (e && !code) code = mor_sdf_pose(r, e, "", &pose, NULL);
    if (code) return code;
    mor_mat3 T = { { { I[0], I[3], I[4] }, { I[3], I[1], I[5] }, { I[4], I[5], I[2] } } },
             R = mor_quat_matrix(pose.rotation);
    b->mass = (mor_mass){ mass, pose.position, mor_mat3_rotate(&R, &T) };
    mor_error why = { 0 };
    if (mor_mass_check(&b->mass, &why)) return mor_xml_fail(e ? e : link, r->m->error, "%s", why.text);
    return MOR_OK;
}

/* <limit> and <dynamics> of an axis. */
static mor_code read_limits(reader* r, const mor_xml* a, bool endless, mor_mjcf_joint* x)
{
    const mor_xml *limit = mor_xml_child(a, "limit"), *d = mor_xml_child(a, "dynamics");
    double range[2] = { -1e16, 1e16 };
    mor_code code = limit ? mor_sdf_numbers(r, limit, "lower", 1, &range[0]) : MOR_OK;
    if (limit && !code) code = mor_sdf_numbers(r, limit, "upper", 1, &range[1]);
    if (limit && !endless && (range[0] > -1e15 || range[1] < 1e15)) {
        if (!(range[0] <= range[1]))
            return mor_xml_fail(limit, r->m->error, "the limits go from %g to %g", range[0], range[1]);
        x->limited = 1, x->has_range = true;
        x->range[0] = range[0], x->range[1] = range[1];
    }
    if (d && !code) code = mor_sdf_numbers(r, d, "damping", 1, &x->damping);
    if (d && !code) code = mor_sdf_numbers(r, d, "friction", 1, &x->friction);
    if (d && !code) code = mor_sdf_numbers(r, d, "spring_stiffness", 1, &x->stiffness);
    if (d && !code) code = mor_sdf_numbers(r, d, "spring_reference", 1, &x->springref);
    if (!code && (x->damping < 0.0 || x->friction < 0.0 || x->stiffness < 0.0))
        return mor_xml_fail(d, r->m->error, "damping, friction and spring_stiffness of a joint are at least 0");
    return code;
}

static mor_code read_joint(reader* r, const named* j, int body)
{
    static const struct {
        const char* name;
        int type;
    } types[] = { { "revolute", MOR_MJCF_HINGE },
                  { "continuous", MOR_MJCF_HINGE },
                  { "prismatic", MOR_MJCF_SLIDE },
                  { "ball", MOR_MJCF_BALL },
                  { "fixed", -1 } };
    const char* type = mor_xml_get(j->at, "type");
    size_t k = 0;
    while (k < 5 && (!type || strcmp(type, types[k].name) != 0)) k++;
    if (k == 5)
        return mor_xml_fail(j->at, r->m->error,
                            "joints of type '%.40s' are not supported; known: revolute, continuous, "
                            "prismatic, ball, fixed",
                            type ? type : "");
    if (types[k].type < 0) return MOR_OK;
    mor_pose own, link;
    const named* child = find(r, j->child);
    mor_code code = place(r, j, 0, &own);
    if (!code) code = place(r, child, 0, &link);
    if (code) return code;
    mor_pose back = mor_pose_inverse(&link), at = mor_pose_mul(&back, &own);
    mor_mjcf_joint* x = MOR_MJCF_ADD(r->m, joints);
    if (!x) return MOR_SYSTEM;
    *x = (mor_mjcf_joint){ .at = j->at, .name = j->name, .body = body, .type = types[k].type, .pos = at.position };
    x->number = -1;
    x->axis = mor_v3(0, 0, 1);
    x->limited = 2;
    r->m->bodies[body].joint_count++;
    const mor_xml *a = mor_xml_child(j->at, "axis"), *xyz = a ? mor_xml_child(a, "xyz") : NULL;
    double v[3] = { 0, 0, 1 };
    if (a && !code) code = mor_sdf_numbers(r, a, "xyz", 3, v);
    if (code || x->type == MOR_MJCF_BALL) return code;
    const char* in = xyz ? mor_xml_get(xyz, "expressed_in") : NULL;
    mor_quat turn = at.rotation;
    if ((in && *in) || (a && truth_of(r, a, "use_parent_model_frame"))) {
        char scope[512];
        const char* tail = strrchr(j->name, ':');
        snprintf(scope, sizeof scope, "%.*s", tail ? (int)(tail - 1 - j->name) : 0, j->name);
        const named* frame =
            in && *in && strcmp(in, "__model__") != 0 ? find(r, scoped(r, scope, in)) : &r->items[j->model];
        mor_pose f;
        if (!frame) return mor_xml_fail(xyz, r->m->error, "expressed_in '%.60s' is not there", in);
        if ((code = place(r, frame, 0, &f))) return code;
        turn = mor_quat_mul(mor_quat_conj(link.rotation), f.rotation);
    }
    x->axis = mor_rotate(turn, mor_v3(v[0], v[1], v[2]));
    if (!(mor_norm(x->axis) > 1e-10)) return mor_xml_fail(j->at, r->m->error, "the axis of the joint has no length");
    return a ? read_limits(r, a, k == 1, x) : MOR_OK;
}

/* The body of a link with what hangs on it. `joint`: the item it hangs on, -1: none. */
static mor_code grow(reader* r, int item, int parent, const mor_pose* above, int joint, int depth)
{
    named* n = &r->items[item];
    const named* model = &r->items[n->model];
    bool fixed = false, self = false;
    int outermost = n->model;
    for (int k = n->model; k >= 0; outermost = k, k = r->items[k].model) {
        fixed = fixed || r->items[k].is_static;
        self = self || r->items[k].self_collide;
    }
    (void)model;
    if (n->body >= 0)
        return mor_xml_fail(n->at, r->m->error, "the link '%.60s' hangs on two joints; loops are not read", n->name);
    if (depth > 400)
        return mor_xml_fail(n->at, r->m->error, "the joints form a loop, or a chain of more than 400 links");
    mor_pose here, back = mor_pose_inverse(above);
    mor_code code = place(r, n, 0, &here);
    mor_mjcf_body* b = MOR_MJCF_ADD(r->m, bodies);
    if (!b) return MOR_SYSTEM;
    int body = n->body = r->m->bodies_count - 1;
    *b = (mor_mjcf_body){ .at = n->at, .name = n->name, .parent = parent, .joint = r->m->joints_count };
    b->pose = mor_pose_mul(&back, &here);
    b->pose.rotation = mor_quat_normalize(b->pose.rotation);
    b->tree = b->frame = -1;
    if (!code && joint >= 0 && !fixed) code = read_joint(r, &r->items[joint], body);
    if (!code && joint < 0 && !fixed) {
        mor_mjcf_joint* x = MOR_MJCF_ADD(r->m, joints);
        if (!x) return MOR_SYSTEM;
        *x = (mor_mjcf_joint){ .at = n->at, .body = body, .type = MOR_MJCF_FREE, .axis = { 0, 0, 1 }, .number = -1 };
        r->m->bodies[body].joint_count = 1;
    }
    if (!code) code = read_inertial(r, n->at, &r->m->bodies[body]);
    unsigned own = 1u << (unsigned)(outermost % 30);
    bool seen = false;
    for (const mor_xml* c = mor_xml_child(n->at, "visual"); c && !code; c = mor_xml_sibling(c))
        code = mor_sdf_visual(r, c, body, &seen);
    for (const mor_xml* c = mor_xml_child(n->at, "collision"); c && !code; c = mor_xml_sibling(c))
        code = mor_sdf_collision(r, c, body, own, self, seen);
    for (int i = 0; i < r->count && !code; i++) {
        const named* j = &r->items[i];
        if (j->kind != 1 || strcmp(j->parent, n->name) != 0) continue;
        const named* child = find(r, j->child);
        if (!child || child->kind != 0) return mor_xml_fail(j->at, r->m->error, "there is no link '%.60s'", j->child);
        code = grow(r, (int)(child - r->items), body, &here, i, depth + 1);
    }
    return code;
}

/* Roots: links that are no joint's child, or whose parent is the world. */
static mor_code grow_all(reader* r)
{
    mor_code code = MOR_OK;
    mor_pose origin = mor_pose_identity();
    for (int i = 0; i < r->count && !code; i++) {
        const named* j = &r->items[i];
        if (j->kind != 1) continue;
        const named *p = find(r, j->parent), *c = find(r, j->child);
        if (!c || c->kind != 0) return mor_xml_fail(j->at, r->m->error, "there is no link '%.60s'", j->child);
        if (strcmp(j->parent, "world") != 0 && (!p || p->kind != 0))
            return mor_xml_fail(j->at, r->m->error, "there is no link '%.60s'", j->parent);
    }
    for (int i = 0; i < r->count && !code; i++) {
        if (r->items[i].kind != 0) continue;
        int joint = -1;
        for (int k = 0; k < r->count; k++)
            if (r->items[k].kind == 1 && strcmp(r->items[k].child, r->items[i].name) == 0) joint = k;
        if (joint < 0 || strcmp(r->items[joint].parent, "world") == 0) code = grow(r, i, 0, &origin, joint, 0);
    }
    for (int i = 0; i < r->count && !code; i++)
        if (r->items[i].kind == 0 && r->items[i].body < 0)
            return mor_xml_fail(r->items[i].at, r->m->error, "the joints of link '%.60s' form a loop",
                                r->items[i].name);
    return code;
}

static mor_code fill(mor_mjcf* m, const mor_xml* root, const char* packages)
{
    reader r = { .m = m, .packages = packages };
    r.bare = mor_xml_child(root, "world") == NULL;
    const mor_xml *world = mor_xml_child(root, "world"), *top = world ? world : root;
    mor_code code = MOR_OK;
    double g[3] = { 0, 0, -9.8 }, step = 0.001;
    const char* name = mor_xml_get(world                          ? world
                                   : mor_xml_child(root, "model") ? mor_xml_child(root, "model")
                                                                  : root,
                                   "name");
    m->model = name ? name : "sdf";
    m->degrees = false;
    m->sdf = true;
    if (world) code = mor_sdf_numbers(&r, world, "gravity", 3, g);
    const mor_xml* physics = world ? mor_xml_child(world, "physics") : NULL;
    if (physics && !code) code = mor_sdf_numbers(&r, physics, "max_step_size", 1, &step);
    if (!code && !(step > 0.0)) return mor_xml_fail(physics, m->error, "max_step_size is %g", step);
    m->gravity = world ? mor_v3(g[0], g[1], g[2]) : mor_v3(0, 0, -9.81);
    m->timestep = step;
    for (const mor_xml* c = top->first; c && !code; c = c->next) {
        if (strcmp(c->name, "model") == 0) code = collect_model(&r, c, "", -1, NULL, 0);
        else if (strcmp(c->name, "include") == 0) code = collect_include(&r, c, "", -1, 0);
        else if (strcmp(c->name, "frame") == 0 && mor_xml_get(c, "name")) {
            named* x = add(&r, c, mor_xml_get(c, "name"), 2, -1);
            if (!x) return MOR_SYSTEM;
            code = mor_sdf_pose(&r, c, "", &x->pose, &x->relative);
        } else if (strcmp(c->name, "plugin") == 0) mor_mjcf_note(m, c, "plugin", "<plugin> is not used");
    }
    if (!code && r.count == 0) return mor_xml_fail(root, m->error, "the file has no <model>");
    if (!code) code = grow_all(&r);
    return r.lacks ? mor_fail(m->error, MOR_SYSTEM, "out of memory") : code;
}

bool mor_sdf_is(const char* path) { return mor_xml_begins(path, "sdf"); }

mor_mjcf* mor_sdf_read(const char* path, const char* packages, bool shapes, char* notes, size_t notes_size,
                       mor_error* error)
{
    mor_error local = { 0 };
    if (!error) error = &local;
    mor_mjcf* m = mor_mjcf_create(path, notes, notes_size, error);
    if (!m) return NULL;
    mor_xml* root = mor_xml_read(m->arena, path, error);
    mor_code code = root ? MOR_OK : error->code;
    if (root && strcmp(root->name, "sdf") != 0)
        code = mor_xml_fail(root, error, "the first element is <%.40s>; an SDF file begins with <sdf>", root->name);
    if (!code) m->bodies[0].at = root;
    if (!code) code = fill(m, root, packages);
    if (!code) code = mor_mjcf_finish(m, shapes);
    return mor_mjcf_give(m, code);
}
