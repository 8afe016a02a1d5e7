/* Snapshots: everything the next step depends on, as one block of bytes.
 *
 * Positions, velocities, momenta and applied forces of all bodies, the contacts of the last step with their
 * impulses (the warm start), time and step. Not stored: what is computed again bit for bit from these (the
 * contacts of the coming step, the broad phase), and the definition of the world (shapes, methods). The
 * layout is that of this build: a snapshot is for restarting a run, a recording is for keeping it. */
#include "control/control.h"
#include "model/world.h"

#include <string.h>

#define MAGIC "moreau snapshot 1"

typedef struct header {
    char magic[24];
    uint64_t layout; /* sizes of the structs below, so that another build's snapshot is refused */
    int bodies, contacts, step, step_base;
    double h, time, time_base, deepest;
    mor_adaptive_state adaptive;
} header;

typedef struct body_bytes {
    mor_vec3 x, v, w, L, force, torque;
    mor_quat q;
    double angle;
} body_bytes;

static uint64_t layout(void)
{
    return (uint64_t)sizeof(body_bytes) << 32 | (sizeof(header) << 16) | sizeof(mor_contact);
}

/* Numbers of one robot: base pose, s, nu, applied joint forces, remembered impulses. */
static size_t robot_numbers(const mor_robot* r)
{
    size_t n = (size_t)mor_robot_joint_count(r->model), N = (size_t)mor_robot_dof(r->model);
    return 7 + n + N + n + 3 * n;
}

enum { JOINT_NUMBERS = 17 + 6 * MOR_JOINT_ORDERS };

static size_t mechanism_bytes(const mor_world* w)
{
    size_t count = (size_t)w->joints.count * JOINT_NUMBERS;
    for (int i = 0; i < w->robot_count; i++) count += robot_numbers(w->robots[i]);
    count += (size_t)mor_control_numbers(w);
    return count * sizeof(double);
}

/* Copies `count` numbers to or from the snapshot. */
static unsigned char* carry(unsigned char* at, double* numbers, size_t count, bool store)
{
    if (store) memcpy(at, numbers, count * sizeof *numbers);
    else memcpy(numbers, at, count * sizeof *numbers);
    return at + count * sizeof *numbers;
}

static void carry_mechanisms(const mor_world* w, unsigned char* at, bool store)
{
    for (int i = 0; i < w->robot_count; i++) {
        mor_robot* r = w->robots[i];
        size_t n = (size_t)mor_robot_joint_count(r->model);
        mor_pose* b = &r->base;
        double pose[7] = { b->position.x, b->position.y, b->position.z, b->rotation.w,
                           b->rotation.x, b->rotation.y, b->rotation.z };
        at = carry(at, pose, 7, store);
        *b = (mor_pose){ { pose[0], pose[1], pose[2] }, { pose[3], pose[4], pose[5], pose[6] } };
        at = carry(at, r->s, n, store);
        at = carry(at, r->nu, (size_t)mor_robot_dof(r->model), store);
        at = carry(at, r->tau, n, store);
        at = carry(at, r->memory, 3 * n, store);
        if (!store) mor_robot_update(r->model, r->work, b, r->s, r->nu);
    }
    mor_joint* joints = w->joints.data;
    for (int i = 0; i < w->joints.count; i++) {
        at = carry(at, &joints[i].coordinate, 1, store);
        at = carry(at, joints[i].memory, 10, store);
        at = carry(at, joints[i].correction, 6, store);
        at = carry(at, joints[i].differences[0], 6 * MOR_JOINT_ORDERS, store);
    }
    size_t control = (size_t)mor_control_numbers(w);
    if (control == 0) return;
    if (store) mor_control_save(w, (double*)(void*)at);
    else mor_control_restore((mor_world*)w, (const double*)(const void*)at);
}

size_t mor_world_save(const mor_world* w, void* buffer, size_t size)
{
    size_t bodies = (size_t)w->alive_count * sizeof(body_bytes),
           contacts = (size_t)w->contacts.count * sizeof(mor_contact);
    size_t mechanisms = mechanism_bytes(w), total = sizeof(header) + bodies + contacts + mechanisms;
    if (!buffer) return total;
    if (size < total) return 0;
    header h;
    memset(&h, 0, sizeof h);
    memcpy(h.magic, MAGIC, sizeof MAGIC);
    h.layout = layout();
    h.bodies = w->alive_count;
    h.contacts = w->contacts.count;
    h.step = w->step;
    h.step_base = w->step_base;
    h.h = w->h;
    h.time = w->time;
    h.time_base = w->time_base;
    h.deepest = w->deepest;
    h.adaptive = w->adaptive;
    unsigned char* out = buffer;
    memcpy(out, &h, sizeof h);
    out += sizeof h;
    for (int i = 0; i < w->alive_count; i++, out += sizeof(body_bytes)) {
        const mor_body* b = &w->bodies[w->order[i]];
        body_bytes s = { b->x, b->v, b->w, b->L, b->force, b->torque, b->q, b->angle };
        memcpy(out, &s, sizeof s);
    }
    if (contacts) memcpy(out, w->contacts.data, contacts);
    carry_mechanisms(w, out + contacts, true);
    return total;
}

mor_code mor_world_restore(mor_world* w, const void* buffer, size_t size, mor_error* error)
{
    header h;
    if (size < sizeof h) return mor_fail(error, MOR_BAD_INPUT, "%zu bytes are no snapshot", size);
    memcpy(&h, buffer, sizeof h);
    if (memcmp(h.magic, MAGIC, sizeof MAGIC) != 0 || h.layout != layout())
        return mor_fail(error, MOR_BAD_INPUT, "not a snapshot of this version");
    if (h.bodies != w->alive_count)
        return mor_fail(error, MOR_BAD_INPUT, "the snapshot has %d bodies, the world %d", h.bodies, w->alive_count);
    if (h.contacts < 0 || size != sizeof h + (size_t)h.bodies * sizeof(body_bytes) +
                                      (size_t)h.contacts * sizeof(mor_contact) + mechanism_bytes(w))
        return mor_fail(error, MOR_BAD_INPUT, "the snapshot is truncated, or of other robots and joints");
    if (!mor_buffer_reserve(&w->allocator, &w->contacts, h.contacts, sizeof(mor_contact)))
        return mor_fail(error, MOR_SYSTEM, "out of memory");
    const unsigned char* in = (const unsigned char*)buffer + sizeof h;
    const unsigned char* contacts = in + (size_t)h.bodies * sizeof(body_bytes);
    for (int i = 0; i < h.contacts; i++) { /* a damaged snapshot must not index out of the world */
        mor_contact c;
        memcpy(&c, contacts + (size_t)i * sizeof c, sizeof c);
        if (c.body[0] < 0 || c.body[0] >= h.bodies || c.body[1] < 0 || c.body[1] >= h.bodies)
            return mor_fail(error, MOR_BAD_INPUT, "the snapshot is damaged: contact %d names a body that is not there",
                            i);
    }
    for (int i = 0; i < h.bodies; i++, in += sizeof(body_bytes)) {
        body_bytes s;
        memcpy(&s, in, sizeof s);
        mor_body* b = &w->bodies[w->order[i]];
        b->x = s.x, b->v = s.v, b->w = s.w, b->L = s.L;
        b->force = s.force, b->torque = s.torque;
        b->q = s.q, b->angle = s.angle;
    }
    if (h.contacts) memcpy(w->contacts.data, contacts, (size_t)h.contacts * sizeof(mor_contact));
    carry_mechanisms(w, (unsigned char*)contacts + (size_t)h.contacts * sizeof(mor_contact), false);
    w->contacts.count = h.contacts;
    w->step = h.step;
    w->step_base = h.step_base;
    w->h = h.h;
    w->time = h.time;
    w->time_base = h.time_base;
    w->deepest = h.deepest;
    w->adaptive = h.adaptive;
    w->detected = false;
    w->forced = true; /* the snapshot has applied forces too */
    return MOR_OK;
}
