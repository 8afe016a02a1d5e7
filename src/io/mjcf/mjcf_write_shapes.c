/* Shapes and masses of an MJCF file that is written; see mjcf_write.c. */
#include "io/mjcf/mjcf_write.h"

#include <stdarg.h>
#include <string.h>

void mor_write_note(mor_mjcf_writer* x, const char* format, ...)
{
    if (!x->notes || x->notes_length + 1 >= x->notes_size) return;
    va_list args;
    va_start(args, format);
    int n = vsnprintf(x->notes + x->notes_length, x->notes_size - x->notes_length, format, args);
    va_end(args);
    if (n > 0 && x->notes_length + (size_t)n < x->notes_size) x->notes_length += (size_t)n;
}

/* Names without the characters that XML gives a meaning. */
static void mor_write_text(FILE* f, const char* text)
{
    for (; *text; text++) {
        const char* as = *text == '&' ? "&amp;" : *text == '<' ? "&lt;" : *text == '"' ? "&quot;" : NULL;
        if (as) fputs(as, f);
        else fputc(*text, f);
    }
}

void mor_write_name(FILE* f, const char* attribute, const char* name)
{
    fprintf(f, " %s=\"", attribute);
    mor_write_text(f, name);
    fputc('"', f);
}

void mor_write_vector(FILE* f, const char* attribute, mor_vec3 v)
{
    fprintf(f, " %s=\"%.17g %.17g %.17g\"", attribute, v.x, v.y, v.z);
}

void mor_write_pose(FILE* f, const mor_pose* p)
{
    mor_write_vector(f, "pos", p->position);
    mor_quat q = p->rotation;
    fprintf(f, " quat=\"%.17g %.17g %.17g %.17g\"", q.w, q.x, q.y, q.z);
}

void mor_write_indent(const mor_mjcf_writer* x) { fprintf(x->f, "%*s", 2 * x->depth, ""); }

/* ----------------------------------------------------------------------------------- shapes */

/* Corners of polyhedra are assets, named by body and shape. */
void mor_write_meshes(mor_mjcf_writer* x)
{
    for (int i = 0; i < x->w->alive_count; i++) {
        const mor_body* b = &x->w->bodies[x->w->order[i]];
        for (int k = 0; k < b->shape_count; k++) {
            const mor_polyhedron* P = b->shapes[k].geometry->polyhedron;
            if (!P || P->is_box) continue;
            fprintf(x->f, "    <mesh name=\"shape_%d_%d\" vertex=\"", i, k);
            for (int v = 0; v < P->vertex_count; v++)
                fprintf(x->f, "%s%.17g %.17g %.17g", v ? "  " : "", P->vertices[v].x, P->vertices[v].y,
                        P->vertices[v].z);
            fprintf(x->f, "\"/>\n");
        }
    }
}

static mor_code put_shape(mor_mjcf_writer* x, int body, int shape)
{
    const mor_body* b = &x->w->bodies[x->w->order[body]];
    const mor_body_shape* s = &b->shapes[shape];
    const mor_geometry* g = s->geometry;
    int material = s->material >= 0 ? s->material : b->material;
    double friction = x->w->materials[material].friction;
    mor_write_indent(x);
    fprintf(x->f, "<geom");
    mor_write_pose(x->f, &s->pose);
    switch (g->kind) {
    case MOR_SPHERE:
        fprintf(x->f, " type=\"sphere\" size=\"%.17g\"", g->size[0] > 0.0 ? g->size[0] : 1e-6);
        break;
    case MOR_PLANE:
        fprintf(x->f, " type=\"plane\" size=\"0 0 1\"");
        break;
    case MOR_CAPSULE:
        fprintf(x->f, " type=\"capsule\" size=\"%.17g %.17g\"", g->size[0], 0.5 * g->size[1]);
        break;
    case MOR_CYLINDER:
        fprintf(x->f, " type=\"cylinder\" size=\"%.17g %.17g\"", g->size[0], 0.5 * g->size[1]);
        break;
    case MOR_POLYHEDRON:
        if (g->polyhedron->is_box) {
            fprintf(x->f, " type=\"box\"");
            mor_write_vector(x->f, "size", g->polyhedron->half);
        } else {
            fprintf(x->f, " type=\"mesh\" mesh=\"shape_%d_%d\"", body, shape);
        }
        break;
    default:
        return mor_fail(x->error, MOR_BAD_INPUT, "the shape '%s' of '%s' cannot be written as MJCF", g->label, b->name);
    }
    fprintf(x->f, " friction=\"%.17g 0 0\" mass=\"0\"", friction);
    if (b->no_collision) fprintf(x->f, " contype=\"0\" conaffinity=\"0\"");
    else if (b->robot && !x->w->robots[b->robot - 1]->self_collision) {
        if (b->robot > 29)
            return mor_fail(x->error, MOR_BAD_INPUT, "more than 29 robots without self-collision cannot be written");
        unsigned own = 1u << b->robot;
        fprintf(x->f, " contype=\"%u\" conaffinity=\"%u\"", own, 0x7fffffffu & ~own);
    } else if (b->filters) {
        fprintf(x->f, " contype=\"%u\" conaffinity=\"%u\"", (unsigned)(0x7fffffffu & b->filters[shape][0]),
                (unsigned)(0x7fffffffu & b->filters[shape][1]));
    }
    fprintf(x->f, "/>\n");
    return MOR_OK;
}

mor_code mor_write_shapes(mor_mjcf_writer* x, int slot)
{
    mor_code code = MOR_OK;
    int body = x->w->order_of[slot];
    for (int k = 0; k < x->w->bodies[slot].shape_count && !code; k++) code = put_shape(x, body, k);
    return code;
}

void mor_write_inertial(mor_mjcf_writer* x, const mor_mass* m)
{
    if (!(m->mass > 0.0)) return;
    mor_write_indent(x);
    fprintf(x->f, "<inertial mass=\"%.17g\"", m->mass);
    mor_write_vector(x->f, "pos", m->com);
    double moment[3];
    mor_quat q;
    mor_inertia_principal(&m->inertia, moment, &q);
    for (int i = 0; i < 3; i++) moment[i] = moment[i] > 0.0 ? moment[i] : 0.0;
    fprintf(x->f, " quat=\"%.17g %.17g %.17g %.17g\" diaginertia=\"%.17g %.17g %.17g\"/>\n", q.w, q.x, q.y, q.z,
            moment[0], moment[1], moment[2]);
}
