/* A robot model as a URDF file.
 *
 * Every link of the model is a link, its frames that are not links become links on fixed joints. Poses are written as
 * xyz and rpy, R = Rz(yaw) Ry(pitch) Rx(roll); inertias about the centre of mass in link axes. A ball joint is one
 * joint of type "spherical" (this reader and Bullet's know it) that carries its last link. Polyhedra go to OBJ files
 * beside the file. Reflected inertia and springs have no place in URDF: the caller is told. */
#include "base/elementary.h"
#include "io/text/output.h"
#include "io/urdf/urdf.h"
#include "model/articulated.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void put_text(FILE* f, const char* text)
{
    for (; *text; text++) {
        const char* as = *text == '&' ? "&amp;" : *text == '<' ? "&lt;" : *text == '"' ? "&quot;" : NULL;
        if (as) fputs(as, f);
        else fputc(*text, f);
    }
}

/* Angles of a rotation; pitch of +-90 degrees puts all of the turn about the vertical into yaw. */
static void angles_of(mor_quat q, double rpy[3])
{
    mor_mat3 R = mor_quat_matrix(mor_quat_normalize(q));
    double across = mor_hypot(R.m[0][0], R.m[1][0]);
    rpy[1] = mor_atan2(-R.m[2][0], across);
    if (across > 1e-9) {
        rpy[0] = mor_atan2(R.m[2][1], R.m[2][2]);
        rpy[2] = mor_atan2(R.m[1][0], R.m[0][0]);
    } else {
        rpy[0] = 0.0;
        rpy[2] = mor_atan2(-R.m[0][1], R.m[1][1]);
    }
}

static void put_origin(FILE* f, const char* before, const mor_pose* p)
{
    double rpy[3];
    angles_of(p->rotation, rpy);
    fprintf(f, "%s<origin xyz=\"%.17g %.17g %.17g\" rpy=\"%.17g %.17g %.17g\"/>\n", before, p->position.x,
            p->position.y, p->position.z, rpy[0], rpy[1], rpy[2]);
}

/* The hull of a shape as an OBJ file; its name, relative to the URDF, in `name`. */
static mor_code put_mesh(const char* path, int number, const mor_polyhedron* P, char* name, size_t size,
                         mor_error* error)
{
    const char* slash = strrchr(path, '/');
    const char* base = slash ? slash + 1 : path;
    int stem = (int)strcspn(base, ".");
    char full[4200];
    snprintf(name, size, "%.*s_shape_%d.obj", stem, base, number);
    snprintf(full, sizeof full, "%.*s%s", slash ? (int)(slash + 1 - path) : 0, path, name);
    FILE* f = mor_output_open(full, error);
    if (!f) return error->code;
    for (int i = 0; i < P->vertex_count; i++)
        fprintf(f, "v %.17g %.17g %.17g\n", P->vertices[i].x, P->vertices[i].y, P->vertices[i].z);
    for (int i = 0; i < P->face_count; i++) {
        fprintf(f, "f");
        for (int k = P->face_start[i]; k < P->face_start[i + 1]; k++) fprintf(f, " %d", P->face_vertices[k] + 1);
        fprintf(f, "\n");
    }
    return mor_output_close(f, full, true, error);
}

static mor_code put_shape(FILE* f, const char* path, int number, const mor_link_shape* s, mor_error* error)
{
    const mor_geometry* g = s->geometry;
    char name[256];
    fprintf(f, "    <collision>\n");
    put_origin(f, "      ", &s->pose);
    fprintf(f, "      <geometry>");
    if (g->kind == MOR_SPHERE) fprintf(f, "<sphere radius=\"%.17g\"/>", g->size[0]);
    else if (g->kind == MOR_CYLINDER)
        fprintf(f, "<cylinder radius=\"%.17g\" length=\"%.17g\"/>", g->size[0], g->size[1]);
    else if (g->kind == MOR_CAPSULE) fprintf(f, "<capsule radius=\"%.17g\" length=\"%.17g\"/>", g->size[0], g->size[1]);
    else if (g->kind == MOR_POLYHEDRON && g->polyhedron->is_box) {
        mor_vec3 h = g->polyhedron->half;
        fprintf(f, "<box size=\"%.17g %.17g %.17g\"/>", 2 * h.x, 2 * h.y, 2 * h.z);
    } else if (g->kind == MOR_POLYHEDRON) {
        mor_code code = put_mesh(path, number, g->polyhedron, name, sizeof name, error);
        if (code) return code;
        fprintf(f, "<mesh filename=\"");
        put_text(f, name);
        fprintf(f, "\"/>");
    } else {
        return mor_fail(error, MOR_BAD_INPUT, "the shape '%s' cannot be written as URDF", g->label);
    }
    fprintf(f, "</geometry>\n    </collision>\n");
    return MOR_OK;
}

static mor_code put_link(FILE* f, const char* path, const mor_robot_model* m, int link, mor_error* error)
{
    const mor_link_def* l = &m->links[link];
    fprintf(f, "  <link name=\"");
    put_text(f, l->name);
    fprintf(f, "\">\n");
    if (l->mass.mass > 0.0) {
        const double(*I)[3] = l->mass.inertia.m;
        mor_pose at = { l->mass.com, { 1, 0, 0, 0 } };
        fprintf(f, "    <inertial>\n");
        put_origin(f, "      ", &at);
        fprintf(f, "      <mass value=\"%.17g\"/>\n", l->mass.mass);
        fprintf(
            f, "      <inertia ixx=\"%.17g\" ixy=\"%.17g\" ixz=\"%.17g\" iyy=\"%.17g\" iyz=\"%.17g\" izz=\"%.17g\"/>\n",
            I[0][0], I[0][1], I[0][2], I[1][1], I[1][2], I[2][2]);
        fprintf(f, "    </inertial>\n");
    }
    mor_code code = MOR_OK;
    for (int i = 0; i < m->shape_count && !code; i++)
        if (m->shapes[i].link == link) code = put_shape(f, path, i, &m->shapes[i], error);
    fprintf(f, "  </link>\n");
    return code;
}

static void put_ends(FILE* f, const char* parent, const char* child)
{
    fprintf(f, "    <parent link=\"");
    put_text(f, parent);
    fprintf(f, "\"/>\n    <child link=\"");
    put_text(f, child);
    fprintf(f, "\"/>\n");
}

static void put_joint(FILE* f, const mor_robot_model* m, int link)
{
    const mor_link_def* l = &m->links[link];
    bool ball = l->type == MOR_BALL, limited = isfinite(l->lower) || isfinite(l->upper);
    int child = ball ? link + 2 : link, length = (int)strlen(l->joint_name) - (ball ? 2 : 0);
    char name[MOR_NAME_SIZE];
    snprintf(name, sizeof name, "%.*s", length, l->joint_name);
    fprintf(f, "  <joint name=\"");
    put_text(f, name);
    fprintf(f, "\" type=\"%s\">\n",
            ball                       ? "spherical"
            : l->type == MOR_PRISMATIC ? "prismatic"
            : limited                  ? "revolute"
                                       : "continuous");
    put_origin(f, "    ", &l->pose);
    put_ends(f, m->links[l->parent].name, m->links[child].name);
    if (!ball) fprintf(f, "    <axis xyz=\"%.17g %.17g %.17g\"/>\n", l->axis.x, l->axis.y, l->axis.z);
    if (limited || l->type == MOR_PRISMATIC || isfinite(l->effort) || isfinite(l->speed)) {
        fprintf(f, "    <limit");
        if (limited || l->type == MOR_PRISMATIC)
            fprintf(f, " lower=\"%.17g\" upper=\"%.17g\"", isfinite(l->lower) ? l->lower : -1e9,
                    isfinite(l->upper) ? l->upper : 1e9);
        if (isfinite(l->effort)) fprintf(f, " effort=\"%.17g\"", l->effort);
        if (isfinite(l->speed)) fprintf(f, " velocity=\"%.17g\"", l->speed);
        fprintf(f, "/>\n");
    }
    if (l->damping > 0.0 || l->friction > 0.0)
        fprintf(f, "    <dynamics damping=\"%.17g\" friction=\"%.17g\"/>\n", l->damping, l->friction);
    if (l->mimic >= 0 && l->mimic != l->joint) {
        fprintf(f, "    <mimic joint=\"");
        put_text(f, m->links[m->link_of_joint[l->mimic]].joint_name);
        fprintf(f, "\" multiplier=\"%.17g\" offset=\"%.17g\"/>\n", l->mimic_ratio, l->mimic_offset);
    }
    fprintf(f, "  </joint>\n");
}

/* Frames that are not links themselves, as links on fixed joints. */
static void put_frame(FILE* f, const mor_robot_model* m, int frame)
{
    const mor_frame_def* x = &m->frames[frame];
    for (int i = 0; i < m->link_count; i++)
        if (strcmp(m->links[i].name, x->name) == 0) return;
    fprintf(f, "  <link name=\"");
    put_text(f, x->name);
    fprintf(f, "\"/>\n  <joint name=\"fixed_");
    put_text(f, x->name);
    fprintf(f, "\" type=\"fixed\">\n");
    put_origin(f, "    ", &x->pose);
    put_ends(f, m->links[x->link].name, x->name);
    fprintf(f, "  </joint>\n");
}

mor_code mor_urdf_write(const mor_robot_model* m, const char* name, const char* path, char* notes, size_t notes_size,
                        mor_error* error)
{
    mor_error local = { 0 };
    if (!error) error = &local;
    if (notes && notes_size) notes[0] = '\0';
    bool reflected = m->coupling != NULL, sprung = false, held = false;
    for (int i = 1; i < m->link_count; i++) {
        reflected = reflected || m->reflected[m->links[i].joint] > 0.0;
        sprung = sprung || m->links[i].stiffness > 0.0;
        held = held || m->links[i].mimic == m->links[i].joint;
    }
    if (notes)
        snprintf(notes, notes_size, "%s%s%s",
                 reflected ? "reflected inertia (armature) is not written: URDF has none\n" : "",
                 sprung ? "springs of joints are not written: URDF has none\n" : "",
                 held ? "joints that are held at a position move freely: URDF has no word for it\n" : "");
    FILE* f = mor_output_open(path, error);
    if (!f) return error->code;
    fprintf(f, "<robot name=\"");
    put_text(f, name);
    fprintf(f, "\">\n");
    mor_code code = MOR_OK;
    for (int i = 0; i < m->link_count && !code; i++)
        if (m->constants[i].ball != 1 && m->constants[i].ball != 2) code = put_link(f, path, m, i, error);
    for (int j = 0; j < m->joint_count && !code; j++) { /* in the order of s */
        int link = m->link_of_joint[j];
        if (m->constants[link].ball < 2) put_joint(f, m, link);
    }
    for (int i = 0; i < m->frame_count && !code; i++) put_frame(f, m, i);
    fprintf(f, "</robot>\n");
    mor_code closed = mor_output_close(f, path, code == MOR_OK, code ? NULL : error);
    return code ? code : closed;
}
