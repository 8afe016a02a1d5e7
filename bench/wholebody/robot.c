/* One robot on its feet, as a world of ours and as a model of MuJoCo's (wholebody.h). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "wholebody.h"

#define RADIUS 0.005
#define KP 2000.0
#define KD 60.0

double bench_cpu(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void bench_fine(mor_code code, const mor_error* error)
{
    if (code == MOR_OK) return;
    fprintf(stderr, "bench_wholebody: %s\n", error->text);
    exit(1);
}

robot bench_make(const char* label, mor_robot_model* model, const char* left, const char* right, const double box[4])
{
    robot r = { .label = label, .model = model };
    int n = mor_robot_joint_count(model);
    double* inertia = calloc((size_t)n + 1, sizeof *inertia);
    mor_error error;
    for (int i = 0; i < n; i++) inertia[i] = 0.1;
    bench_fine(mor_robot_set_reflected(model, inertia, NULL, &error), &error);
    free(inertia);
    for (int k = 0; k < 4; k++) r.print[k] = mor_v3(box[k / 2], box[2 + (k == 1 || k == 2)], 0);
    const char* name[2] = { left, right };
    mor_robot_work* work = mor_robot_work_create(model);
    double* zero = calloc((size_t)mor_robot_dof(model) + 1, sizeof *zero);
    mor_pose base = mor_pose_identity();
    mor_robot_update(model, work, &base, zero, NULL);
    for (int f = 0; f < 2; f++) {
        int frame = mor_robot_find_frame(model, name[f]);
        if (frame < 0) {
            fprintf(stderr, "bench_wholebody: %s has no link %s\n", label, name[f]);
            exit(1);
        }
        r.feet[f] = frame;
        mor_pose pose = mor_robot_frame_pose(model, work, frame);
        for (int k = 0; k < 4; k++) r.height = fmax(r.height, RADIUS - mor_pose_point(&pose, r.print[k]).z);
    }
    mor_geometry* ball = mor_geometry_sphere(RADIUS, &error);
    for (int k = 0; k < 8; k++) {
        const mor_frame_def* f = mor_robot_frame(model, r.feet[k / 4]);
        mor_link_shape shape = { .link = f->link,
                                 .geometry = ball,
                                 .pose = { mor_pose_point(&f->pose, r.print[k % 4]), f->pose.rotation },
                                 .frame = r.feet[k / 4] };
        bench_fine(mor_robot_add_shape(model, &shape, &error), &error);
    }
    mor_geometry_release(ball);
    mor_robot_work_destroy(work);
    free(zero);
    return r;
}

/* ------------------------------------------------------------------------------------- ours */

static void hold(void* user, mor_world* w)
{
    double* x = user;
    const mor_robot_model* m = mor_world_robot_model(w, 0);
    int n = mor_robot_joint_count(m), N = mor_robot_dof(m);
    mor_world_robot_state(w, 0, NULL, x, x + n);
    for (int j = 0; j < n; j++) x[j] = -KP * x[j] - KD * x[n + N - n + j];
    mor_world_robot_apply(w, 0, x);
}

mor_world* bench_our_world(robot* r, const char* formulation, const char* solver, double* scratch)
{
    mor_error error;
    mor_world_def d = mor_world_def_default();
    d.step = 1e-3;
    mor_world* w = mor_world_create(&d, &error);
    mor_material material = mor_material_default();
    material.friction = 0.8;
    int number = mor_world_add_material(w, &material);
    mor_geometry* plane = mor_geometry_plane(&error);
    mor_body_def ground = mor_body_def_default();
    ground.kind = MOR_FIXED;
    ground.material = number;
    ground.shapes = &(mor_body_shape){ plane, mor_pose_identity(), -1 };
    ground.shape_count = 1;
    mor_world_add_body(w, &ground, &error);
    mor_geometry_release(plane);
    mor_robot_def def = mor_robot_def_default();
    snprintf(def.name, sizeof def.name, "robot");
    def.model = r->model;
    def.pose.position = mor_v3(0, 0, r->height);
    def.material = number;
    def.limits = def.friction = false;
    if (mor_world_add_robot(w, &def, &error) < 0) bench_fine(MOR_BAD_INPUT, &error);
    bench_fine(mor_world_set_method(w, "formulation", formulation, &error), &error);
    bench_fine(mor_world_set_method(w, "solver", solver, &error), &error);
    mor_world_on_user(w, hold, scratch);
    return w;
}

/* ---------------------------------------------------------------------------------- MuJoCo's */

#ifdef HAVE_MUJOCO
static void write_body(FILE* f, const robot* r, int link)
{
    const mor_robot_model* m = r->model;
    const mor_link_def* l = mor_robot_link(m, link);
    mor_pose p = link ? l->pose : (mor_pose){ mor_v3(0, 0, r->height), { 1, 0, 0, 0 } };
    mor_quat q = p.rotation;
    fprintf(f, "<body name=\"l%d\" pos=\"%.17g %.17g %.17g\" quat=\"%.17g %.17g %.17g %.17g\">\n", link, p.position.x,
            p.position.y, p.position.z, q.w, q.x, q.y, q.z);
    if (!link) fprintf(f, "<freejoint/>\n");
    else
        fprintf(f, "<joint name=\"j%d\" type=\"%s\" axis=\"%.17g %.17g %.17g\" armature=\"0.1\" damping=\"%.17g\"/>\n",
                link, l->type == MOR_PRISMATIC ? "slide" : "hinge", l->axis.x, l->axis.y, l->axis.z, l->damping);
    const double(*I)[3] = l->mass.inertia.m;
    if (l->mass.mass > 0.0)
        fprintf(f,
                "<inertial pos=\"%.17g %.17g %.17g\" mass=\"%.17g\" fullinertia=\"%.17g %.17g %.17g %.17g %.17g "
                "%.17g\"/>\n",
                l->mass.com.x, l->mass.com.y, l->mass.com.z, l->mass.mass, fmax(I[0][0], 1e-9), fmax(I[1][1], 1e-9),
                fmax(I[2][2], 1e-9), I[0][1], I[0][2], I[1][2]);
    for (int k = 0; k < 2; k++) {
        const mor_frame_def* frame = mor_robot_frame(m, r->feet[k]);
        for (int i = 0; i < 4 && frame->link == link; i++) {
            mor_vec3 x = mor_pose_point(&frame->pose, r->print[i]);
            fprintf(f, "<geom type=\"sphere\" size=\"%g\" pos=\"%.17g %.17g %.17g\" mass=\"0\"/>\n", RADIUS, x.x, x.y,
                    x.z);
        }
    }
    for (int c = link + 1; c < mor_robot_link_count(m); c++)
        if (mor_robot_link(m, c)->parent == link) write_body(f, r, c);
    fprintf(f, "</body>\n");
}

mjModel* bench_their_model(const robot* r, bool elliptic, bool motors)
{
    char path[] = "/tmp/moreau-bench-XXXXXX";
    int fd = mkstemp(path);
    FILE* f = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (!f) return NULL;
    fprintf(f,
            "<mujoco><compiler angle=\"radian\" inertiafromgeom=\"false\" balanceinertia=\"true\" boundmass=\"0\"/>\n"
            "<option timestep=\"0.001\" cone=\"%s\"/>\n<default><geom friction=\"0.8 0 0\" condim=\"3\" contype=\"1\" "
            "conaffinity=\"2\"/></default>\n"
            "<worldbody><geom type=\"plane\" size=\"10 10 0.1\" contype=\"2\" conaffinity=\"1\"/>\n",
            elliptic ? "elliptic" : "pyramidal");
    write_body(f, r, 0);
    fprintf(f, "</worldbody>\n");
    if (motors) {
        fprintf(f, "<actuator>\n");
        for (int i = 1; i < mor_robot_link_count(r->model); i++) fprintf(f, "<motor joint=\"j%d\"/>\n", i);
        fprintf(f, "</actuator>\n");
    }
    fprintf(f, "</mujoco>\n");
    fclose(f);
    char error[1000] = "";
    mjModel* m = mj_loadXML(path, NULL, error, sizeof error);
    if (!m) fprintf(stderr, "bench_wholebody: MuJoCo: %s\n", error);
    remove(path);
    return m;
}

void bench_their_steps(const mjModel* m, mjData* d, int count)
{
    for (int i = 0; i < count; i++) {
        for (int j = 0; j < m->nv - 6; j++) d->qfrc_applied[6 + j] = -KP * d->qpos[7 + j] - KD * d->qvel[6 + j];
        mj_step(m, d);
    }
}
#endif

mor_robot_model* bench_read_model(const char* path, const char* const* joints, int count)
{
    mor_urdf_options u = mor_urdf_options_default();
    mor_error error;
    u.floating = true;
    u.shapes = false;
    u.joints = joints;
    u.joint_count = count;
    mor_robot_model* m = mor_urdf_read(path, &u, NULL, 0, &error);
    if (!m) fprintf(stderr, "bench_wholebody: SKIP %s: %s\n", path, error.text);
    return m;
}
