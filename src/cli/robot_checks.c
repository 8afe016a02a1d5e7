/* Loops and checks of moreau robot.
 *
 * Suspicious are, beside what the reader of URDF tells already (not positive, triangle inequality):
 *     a radius of gyration k = sqrt(trace(I)/(2 m)) larger than the part's shapes reach from its centre of mass:
 *       no distribution of mass within the shapes gives it
 *     parts lighter than 1/100 of what carries them: marker links; they make stiff problems */
#include "cli/robot_checks.h"
#include "io/mjcf/mjcf.h"
#include "io/sdf/sdf.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --------------------------------------------------------------------------------------- loops */

static mor_code find_frame(const mor_robot_model* m, const char* name, int* frame, mor_error* error)
{
    *frame = strcmp(name, "world") == 0 ? -1 : mor_robot_find_frame(m, name);
    int joint = *frame < 0 ? mor_robot_find_joint(m, name) : -1;
    if (joint >= 0) *frame = mor_robot_find_frame(m, mor_robot_link(m, mor_robot_link_of_joint(m, joint))->name);
    if (*frame < 0 && strcmp(name, "world") != 0)
        return mor_fail(error, MOR_BAD_INPUT, "--loop: the robot has no link '%.60s'", name);
    return MOR_OK;
}

mor_code mor_cli_read_loop(const mor_robot_model* m, const char* text, mor_cli_loop* loop, mor_error* error)
{
    char copy[3 * MOR_NAME_SIZE], *word[4] = { NULL };
    snprintf(copy, sizeof copy, "%s", text);
    int n = 0;
    for (char* w = strtok(copy, ","); w && n < 4; w = strtok(NULL, ",")) word[n++] = w;
    if (n < 2 || n > 3)
        return mor_fail(error, MOR_BAD_INPUT,
                        "--loop takes two links and, if you like, point or weld: a,b,weld; not '%.80s'", text);
    loop->kind = MOR_JOINT_SPHERICAL;
    if (n == 3 && strcmp(word[2], "weld") == 0) loop->kind = MOR_JOINT_FIXED;
    else if (n == 3 && strcmp(word[2], "point") != 0)
        return mor_fail(error, MOR_BAD_INPUT, "--loop is point or weld, not '%.40s'", word[2]);
    for (int i = 0; i < 2; i++) {
        mor_code code = find_frame(m, word[i], &loop->frame[i], error);
        if (code != MOR_OK) return code;
    }
    return MOR_OK;
}

/* The loop as a joint of the world, from the frames as they are. */
static mor_joint_def joint_of(const mor_world* w, const mor_robot_model* m, const mor_robot_work* work,
                              const mor_cli_loop* l, int number)
{
    mor_joint_def d = mor_joint_def_default();
    snprintf(d.name, sizeof d.name, "loop_%d", number);
    d.kind = l->kind;
    d.framed = true;
    for (int i = 0; i < 2; i++) {
        d.rotation[i] = (mor_quat){ 1, 0, 0, 0 };
        if (l->frame[i] < 0) continue;
        mor_pose pose = mor_robot_frame_pose(m, work, l->frame[i]);
        d.point[i] = pose.position;
        d.rotation[i] = pose.rotation;
        d.body[i] = mor_world_robot_link(w, 0, mor_robot_frame(m, l->frame[i])->link);
    }
    return d;
}

static double gap_of(const mor_robot_model* m, const mor_robot_work* work, const mor_cli_loop* l)
{
    mor_pose p[2];
    for (int i = 0; i < 2; i++)
        p[i] = l->frame[i] < 0 ? mor_pose_identity() : mor_robot_frame_pose(m, work, l->frame[i]);
    mor_vec3 d = mor_sub(p[0].position, p[1].position);
    mor_quat q = mor_quat_mul(mor_quat_conj(p[1].rotation), p[0].rotation);
    double turn = l->kind == MOR_JOINT_FIXED ? 2.0 * sqrt(q.x * q.x + q.y * q.y + q.z * q.z) : 0.0;
    return sqrt(mor_dot(d, d) + turn * turn);
}

mor_code mor_cli_close_loops(mor_robot_model* m, const mor_pose* base, const double* s, const mor_cli_loop* loops,
                             int count, mor_cli_closure* out, mor_error* error)
{
    memset(out, 0, sizeof *out);
    mor_world_def wd = mor_world_def_default();
    mor_world* w = mor_world_create(&wd, error);
    mor_robot_work* work = mor_robot_work_create(m);
    double* after = calloc((size_t)mor_robot_joint_count(m) + 1, sizeof *after);
    mor_code code = w && work && after ? MOR_OK : mor_fail(error, MOR_SYSTEM, "out of memory");
    mor_robot_def d = mor_robot_def_default();
    d.model = m;
    d.pose = *base;
    d.s = s;
    d.collide = d.limits = d.damping = d.friction = false;
    snprintf(d.name, sizeof d.name, "robot");
    if (code == MOR_OK && mor_world_add_robot(w, &d, error) < 0) code = error->code;
    if (code == MOR_OK) mor_robot_update(m, work, base, s, NULL);
    for (int i = 0; code == MOR_OK && i < count; i++) {
        mor_joint_def j = joint_of(w, m, work, &loops[i], i);
        out->gap[i] = gap_of(m, work, &loops[i]);
        if (mor_world_add_joint(w, &j, error) < 0) code = error->code;
    }
    if (code == MOR_OK) {
        out->rank = mor_world_joint_rank(w);
        out->left = mor_world_assemble(w);
        out->closed_rank = mor_world_joint_rank(w);
        mor_world_robot_state(w, 0, NULL, after, NULL);
        for (int i = 0; i < mor_robot_joint_count(m); i++) out->moved = fmax(out->moved, fabs(after[i] - s[i]));
    }
    mor_robot_work_destroy(work);
    mor_world_destroy(w);
    free(after);
    return code;
}

static const char* frame_name(const mor_robot_model* m, int frame)
{
    return frame < 0 ? "world" : mor_robot_frame(m, frame)->name;
}

static void print_rank(const char* where, const mor_joint_rank* r)
{
    printf("  %s: %d equations", where, r->equations);
    if (r->rank < r->equations) printf(" of rank %d (%d redundant)", r->rank, r->equations - r->rank);
    printf(", %d degrees of freedom left\n", r->freedom);
}

void mor_cli_print_loops(const mor_robot_model* m, const mor_cli_loop* loops, int count, const mor_cli_closure* c)
{
    printf("\nloops:\n");
    for (int i = 0; i < count; i++)
        printf("  %s - %s (%s): open by %.3g\n", frame_name(m, loops[i].frame[0]), frame_name(m, loops[i].frame[1]),
               loops[i].kind == MOR_JOINT_FIXED ? "weld" : "point", c->gap[i]);
    print_rank("here", &c->rank);
    if (!(c->left < 1e-9)) {
        printf("  they do not close from this state: %.3g is left; give another with --state\n", c->left);
        return;
    }
    if (c->moved < 1e-6) return;
    printf("  they close when the joints move by up to %.3g\n", c->moved);
    print_rank("closed", &c->closed_rank);
}

void mor_cli_write_loops(mor_json* json, const mor_robot_model* m, const mor_cli_loop* loops, int count,
                         const mor_cli_closure* c)
{
    mor_json_object(json, "loops");
    mor_json_list(json, "frames");
    for (int i = 0; i < count; i++) {
        mor_json_list(json, NULL);
        for (int k = 0; k < 2; k++) mor_json_text(json, NULL, frame_name(m, loops[i].frame[k]));
        mor_json_end(json);
    }
    mor_json_end(json);
    mor_json_numbers(json, "gap", c->gap, count);
    mor_json_integer(json, "equations", c->rank.equations);
    mor_json_integer(json, "rank", c->rank.rank);
    mor_json_integer(json, "freedom", c->rank.freedom);
    mor_json_number(json, "closed_gap", c->left);
    mor_json_end(json);
}

/* -------------------------------------------------------------------------------------- checks */

/* How far the shapes of a link reach from its centre of mass; 0: it has none. */
static double reach_of(const mor_robot_model* m, int link)
{
    double reach = 0.0;
    mor_vec3 com = mor_robot_link(m, link)->mass.com;
    for (int i = 0; i < mor_robot_shape_count(m); i++) {
        const mor_link_shape* s = mor_robot_shape(m, i);
        if (s->link == link) reach = fmax(reach, mor_norm(mor_sub(s->pose.position, com)) + s->geometry->radius);
    }
    return reach;
}

int mor_cli_print_checks(const mor_robot_model* m)
{
    int lines = 0;
    for (int i = 0; i < mor_robot_link_count(m); i++) {
        const mor_link_def* l = mor_robot_link(m, i);
        const mor_mat3* I = &l->mass.inertia;
        double mass = l->mass.mass, reach = reach_of(m, i);
        double k = mass > 0.0 ? sqrt((I->m[0][0] + I->m[1][1] + I->m[2][2]) / (2.0 * mass)) : 0.0;
        char text[300] = "";
        if (reach > 0.0 && k > reach)
            snprintf(text, sizeof text, "its inertia is that of %.3g kg at %.2g m, but its shapes reach %.2g m only",
                     mass, k, reach);
        else if (i > 0 && mass > 0.0 && mass < 1e-2 * mor_robot_link(m, l->parent)->mass.mass)
            snprintf(text, sizeof text, "%.3g kg on a part of %.3g kg: very light", mass,
                     mor_robot_link(m, l->parent)->mass.mass);
        if (!*text) continue;
        if (lines++ == 0) printf("\nsuspicious:\n");
        printf("  %s: %s\n", l->name, text);
    }
    return lines;
}

mor_robot_model* mor_cli_mjcf_tree(const char* path, const char* tree, bool shapes, char* notes, size_t size,
                                   mor_error* error)
{
    mor_mjcf* m = mor_sdf_is(path) ? mor_sdf_read(path, getenv("GZ_SIM_RESOURCE_PATH"), shapes, notes, size, error)
                                   : mor_mjcf_read(path, shapes, notes, size, error);
    if (!m) return NULL;
    mor_robot_model* model = NULL;
    size_t used = strlen(notes);
    for (int i = 0; i < m->trees_count; i++) {
        bool chosen = tree ? strcmp(m->trees[i].name, tree) == 0 : i == 0;
        if (chosen && !model) model = mor_robot_retain(m->trees[i].model);
        else if (used + 200 < size)
            used += (size_t)snprintf(notes + used, size - used, "%s: the tree '%.90s' is another robot; see --tree\n",
                                     path, m->trees[i].name);
    }
    if (!model && tree) mor_fail(error, MOR_BAD_INPUT, "%s: there is no tree '%s'", path, tree);
    else if (!model) mor_fail(error, MOR_BAD_INPUT, "%s: nothing in the model moves", path);
    mor_mjcf_destroy(m);
    return model;
}
