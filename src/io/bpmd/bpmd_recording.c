/* BPMD frames as a recording, so that everything that shows recordings shows them.
 *
 * Bodies have the shapes of the file's scene where it can be read here (mor_bpmd_shapes). Otherwise a body that moves
 * is the box with its mass and moments of inertia, and one that does not is the plane of its contacts, if they all lie
 * in one; else it is not drawn. The time of a frame is that of its state, the forces are those of the stored answer.
 * A recording has the same bodies throughout: frames with others than the first one shown are left out.
 *
 * Cost: linear in bodies and contacts. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/failed.h"
#include "formulation/assemble.h"
#include "io/bpmd/bpmd.h"
#include "io/bpmd/bpmd_reader.h"
#include "io/recording/frames.h"
#include "model/step.h"

typedef struct drawing {
    const mor_bpmd* file;
    const mor_library* library;
    mor_world* scene; /* with the shapes; NULL: none */
    mor_frames_body* bodies;
    mor_frames_shape* shapes;
    int body_count, shape_count;
    mor_geometry** made; /* one per body, NULL: none */
} drawing;

/* The plane that all contacts of body `b` lie in, its normal away from the body. */
static bool plane_of(const mor_bpmd_frame* f, int b, mor_vec3* normal, mor_vec3* point)
{
    bool any = false;
    for (int i = 0; i < f->contact_count; i++) {
        const mor_bpmd_contact* c = &f->contacts[i];
        int side = c->body[0] == b ? 0 : 1;
        if (c->body[side] != b) continue;
        mor_vec3 n = side ? mor_scale(-1.0, c->normal) : c->normal;
        if (!any) *normal = n, *point = c->point[side];
        else if (mor_dot(n, *normal) < 1.0 - 1e-9 || fabs(mor_dot(mor_sub(c->point[side], *point), *normal)) > 1e-3)
            return false;
        any = true;
    }
    return any;
}

/* The rotation that takes z to n. */
static mor_quat turn_to(mor_vec3 n)
{
    mor_quat q = { 1.0 + n.z, -n.y, n.x, 0.0 };
    double size = sqrt(q.w * q.w + q.x * q.x + q.y * q.y);
    if (size < 1e-9) return (mor_quat){ 0.0, 1.0, 0.0, 0.0 };
    return (mor_quat){ q.w / size, q.x / size, q.y / size, 0.0 };
}

static mor_geometry* flat_box(mor_vec3 half, mor_error* error)
{
    const mor_vec3 corners[4] = { mor_v3(-half.x, -half.y, 0), mor_v3(half.x, -half.y, 0), mor_v3(half.x, half.y, 0),
                                  mor_v3(-half.x, half.y, 0) };
    return mor_geometry_polygon(corners, 4, error);
}

/* What stands for a body without shapes. */
static mor_code stand_in(drawing* d, const mor_bpmd_frame* f, int b, mor_error* error)
{
    mor_vec3 half = mor_bpmd_half_edges(&f->bodies[b]), normal = { 0 }, point = { 0 };
    mor_error why = { .code = MOR_SYSTEM };
    mor_pose pose = { .rotation = { 1, 0, 0, 0 } };
    bool planar = f->dimension == 2;
    if (planar && f->bodies[b].kind == MOR_DYNAMIC) { /* a square of the same moment of inertia */
        double edge = f->bodies[b].mass > 0.0 ? sqrt(1.5 * f->bodies[b].inertia.m[2][2] / f->bodies[b].mass) : 0.0;
        half = mor_v3(edge, edge, 0.0);
        if (edge > 0.0) d->made[b] = flat_box(half, &why);
        else d->made[b] = mor_geometry_particle(&why);
    } else if (f->bodies[b].kind == MOR_DYNAMIC && half.x > 0.0 && half.y > 0.0 && half.z > 0.0)
        d->made[b] = mor_geometry_box(2.0 * half.x, 2.0 * half.y, 2.0 * half.z, &why);
    else if (f->bodies[b].kind == MOR_DYNAMIC) d->made[b] = mor_geometry_sphere(0.01, &why); /* a point */
    else if (!planar && plane_of(f, b, &normal, &point)) {
        d->made[b] = mor_geometry_plane(&why);
        pose.position = mor_unrotate(f->bodies[b].q, mor_sub(point, f->bodies[b].x));
        pose.rotation = turn_to(mor_unrotate(f->bodies[b].q, normal));
    } else return MOR_OK;
    if (!d->made[b]) { /* the inertia is that of no box that could be drawn */
        return mor_fail(error, why.code, "%s: body %d cannot be drawn: %s", d->file->h5.path, f->bodies[b].id,
                        why.text);
    }
    d->shapes[d->shape_count++] = (mor_frames_shape){ b, d->made[b], pose };
    return MOR_OK;
}

static mor_code describe(drawing* d, const mor_bpmd_frame* f, mor_error* error)
{
    int count = d->body_count = f->body_count, shapes = count;
    for (int i = 0; d->scene && i < count; i++) shapes += mor_body_shape_count(d->scene, mor_world_body(d->scene, i));
    d->bodies = calloc((size_t)count + 1, sizeof *d->bodies);
    d->shapes = calloc((size_t)shapes + 1, sizeof *d->shapes);
    d->made = calloc((size_t)count + 1, sizeof(mor_geometry*));
    if (!d->bodies || !d->shapes || !d->made) return mor_fail(error, MOR_SYSTEM, "out of memory");
    for (int i = 0; i < count; i++) {
        const mor_bpmd_body* from = &f->bodies[i];
        mor_frames_body* to = &d->bodies[i];
        to->kind = from->kind;
        to->mass = (mor_mass){ .mass = isfinite(from->mass) ? from->mass : 0.0, .inertia = from->inertia };
        snprintf(to->name, sizeof to->name, "body %d", from->id);
        if (!d->scene) {
            mor_code code = stand_in(d, f, i, error);
            if (code) return code;
            continue;
        }
        mor_body_id id = mor_world_body(d->scene, i);
        snprintf(to->name, sizeof to->name, "%s", mor_body_name(d->scene, id));
        to->mass = mor_body_mass(d->scene, id);
        for (int k = 0; k < mor_body_shape_count(d->scene, id); k++) {
            mor_body_shape shape = mor_body_get_shape(d->scene, id, k);
            d->shapes[d->shape_count++] = (mor_frames_shape){ i, shape.geometry, shape.pose };
        }
    }
    return MOR_OK;
}

static bool same_bodies(const drawing* d, const mor_bpmd_frame* f)
{
    bool same = f->body_count == d->body_count;
    for (int i = 0; i < f->body_count && same; i++)
        same = f->bodies[i].kind == d->bodies[i].kind &&
               (f->bodies[i].kind != MOR_DYNAMIC ||
                fabs(f->bodies[i].mass - d->bodies[i].mass.mass) <= 1e-9 * d->bodies[i].mass.mass);
    return same;
}

/* Directions of the rows of every contact; false: they are not known. */
static bool tangents(const mor_bpmd_frame* f, const mor_library* library, mor_vec3* t)
{
    for (int i = 0; i < f->contact_count; i++) {
        mor_vec3 n = f->contacts[i].normal;
        if (f->dimension == 2) t[2 * i] = mor_v3(-n.y, n.x, 0.0), t[2 * i + 1] = mor_v3(0.0, 0.0, 1.0);
        else mor_tangents(n, mor_v3(1.0, 0.0, 0.0), &t[2 * i], &t[2 * i + 1]);
    }
    if (f->friction_align == 0 || f->dimension == 2) return true;
    int* order = malloc(((size_t)f->contact_count + 1) * sizeof *order); /* along the slip of the start */
    mor_world* w = order ? mor_bpmd_world(f, library, order, NULL) : NULL;
    const mor_contact* contacts = w ? w->own->contacts.data : NULL;
    for (int i = 0; contacts && i < f->contact_count; i++)
        mor_contact_tangents(w, &contacts[i], &t[2 * order[i]], &t[2 * order[i] + 1]);
    free(order);
    mor_world_destroy(w);
    return contacts != NULL;
}

static mor_code put(const drawing* d, mor_frames* to, const mor_bpmd_frame* f, mor_error* error)
{
    mor_vec3* t = malloc((2 * (size_t)f->contact_count + 1) * sizeof *t);
    if (!t) return mor_fail(error, MOR_SYSTEM, "out of memory");
    bool forces = (f->answered || f->stored_by[0]) && !f->stored_velocities && tangents(f, d->library, t);
    double *pose, *velocity;
    mor_frame* frame = mor_frames_begin(to, f->contact_count, &pose, &velocity);
    frame->step_number = f->step;
    frame->time = f->time;
    frame->step_size = f->h;
    frame->status = f->status;
    frame->iterations = f->iterations;
    frame->velocity_error = f->answered ? f->velocity_error : 0.0;
    frame->contacts = f->contact_count;
    for (int i = 0; i < f->body_count; i++) {
        const mor_bpmd_body* b = &f->bodies[i];
        mor_vec3 x = mor_sub(b->x, mor_rotate(b->q, d->bodies[i].mass.com));
        const double p[7] = { x.x, x.y, x.z, b->q.w, b->q.x, b->q.y, b->q.z },
                     v[6] = { b->v.x, b->v.y, b->v.z, b->w.x, b->w.y, b->w.z };
        memcpy(pose + 7 * i, p, sizeof p);
        memcpy(velocity + 6 * i, v, sizeof v);
        if (b->kind != MOR_DYNAMIC) continue;
        frame->kinetic += 0.5 * (b->mass * mor_dot(b->v, b->v) + mor_dot(b->w, b->L));
        frame->potential -= b->mass * mor_dot(f->gravity, b->x);
    }
    frame->total = frame->kinetic + frame->potential;
    for (int i = 0; i < f->contact_count; i++) {
        const mor_bpmd_contact* c = &f->contacts[i];
        mor_contact one = { .shape = { c->shape[0], c->shape[1] },
                            .point = { c->point[0], c->point[1] },
                            .normal = c->normal,
                            .gap = c->gap,
                            .feature = c->feature,
                            .group = c->group,
                            .plane = c->plane,
                            .held = c->held };
        frame->penetration = fmax(frame->penetration, -c->gap);
        if (forces) {
            mor_vec3 friction = mor_madd(mor_scale(c->impulse[1], t[2 * i]), c->impulse[2], t[2 * i + 1]);
            one.normal_impulse = c->impulse[0];
            one.impulse = mor_madd(friction, c->impulse[0], c->normal);
            frame->normal_total += c->impulse[0];
            frame->normal_max = fmax(frame->normal_max, c->impulse[0]);
            frame->friction_total += mor_norm(friction);
        }
        mor_frames_contact(to, &one, c->body);
    }
    mor_frames_end(to);
    free(t);
    return mor_frames_state(to, error);
}

mor_code mor_bpmd_to_recording(const mor_bpmd* file, int only, const mor_library* library, const char* path, int* kept,
                               mor_error* error)
{
    int count = mor_bpmd_count(file), first = only < 0 ? 0 : only;
    char formulation[64], solver[64], name[128];
    drawing d = { .file = file, .library = library, .scene = mor_bpmd_shapes(file, library) };
    mor_frames* to = NULL;
    mor_bpmd_frame f = { 0 };
    mor_code code = MOR_OK;
    *kept = 0;
    mor_bpmd_meta_text(file, "formulation", formulation, sizeof formulation);
    mor_bpmd_meta_text(file, "solver", solver, sizeof solver);
    mor_bpmd_meta_text(file, "scene_name", name, sizeof name);
    for (int k = first; k < (only < 0 ? count : only + 1) && !code; k++) {
        code = mor_bpmd_read(file, k, &f, error);
        if (!code && !to) {
            if (d.scene && mor_world_body_count(d.scene) != f.body_count)
                mor_world_destroy(d.scene), d.scene = NULL; /* bodies came or went */
            code = describe(&d, &f, error);
            mor_frames_def def = { .scene_name = name,
                                   .scene_text = mor_bpmd_scene_text(file),
                                   .formulation = formulation,
                                   .solver = f.stored_by[0] ? f.stored_by : solver,
                                   .collision = "",
                                   .integrator = "",
                                   .stabilisation = "",
                                   .step = f.h,
                                   .dimension = f.dimension,
                                   .gravity = f.gravity,
                                   .every = 1,
                                   .contacts = true,
                                   .body_count = d.body_count,
                                   .bodies = d.bodies,
                                   .shape_count = d.shape_count,
                                   .shapes = d.shapes };
            if (!code && !(to = mor_frames_create(path, &def, error))) code = mor_failed(error, MOR_SYSTEM);
        }
        if (!code && same_bodies(&d, &f)) {
            code = put(&d, to, &f, error);
            *kept += 1;
        }
        mor_bpmd_frame_clear(&f);
    }
    if (to) {
        mor_code closed = mor_frames_close(to, code ? NULL : error);
        if (!code) code = closed;
    }
    for (int i = 0; d.made && i < d.body_count; i++) mor_geometry_release(d.made[i]);
    free(d.made);
    free(d.bodies);
    free(d.shapes);
    mor_world_destroy(d.scene);
    return code;
}
