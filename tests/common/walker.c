#include "common/walker.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static mor_mass box_mass(double m, mor_vec3 com, double x, double y, double z)
{
    return (mor_mass){ m, com,
                       mor_mat3_diag(m * (y * y + z * z) / 12, m * (x * x + z * z) / 12, m * (x * x + y * y) / 12) };
}

static mor_link_def link_of(const char* name, const char* joint, int parent, int number, mor_vec3 at, mor_vec3 axis,
                            mor_mass mass)
{
    mor_link_def l = mor_link_def_default();
    snprintf(l.name, sizeof l.name, "%s", name);
    snprintf(l.joint_name, sizeof l.joint_name, "%s", joint);
    l.parent = parent;
    l.joint = number;
    l.pose = (mor_pose){ at, { 1, 0, 0, 0 } };
    l.axis = axis;
    l.mass = mass;
    return l;
}

static mor_frame_def frame_of(const char* name, int link, mor_vec3 at, double yaw)
{
    mor_frame_def f = { .link = link, .pose = { at, { cos(yaw / 2), 0, 0, sin(yaw / 2) } } };
    snprintf(f.name, sizeof f.name, "%s", name);
    return f;
}

mor_robot_model* walker_sledge(void)
{
    mor_link_def l = link_of("body", "", -1, 0, mor_v3(0, 0, 0), mor_v3(0, 0, 1),
                             box_mass(10, mor_v3(0.01, -0.02, 0), 0.3, 0.4, 0.2));
    mor_frame_def f[2] = { frame_of("left", 0, mor_v3(0.02, 0.15, -0.04), 0),
                           frame_of("right", 0, mor_v3(-0.01, -0.15, -0.04), 0.7) };
    return mor_robot_create(&l, 1, f, 2, true, NULL);
}

mor_robot_model* walker_biped(void)
{
    mor_link_def l[7];
    mor_frame_def f[2];
    l[0] = link_of("trunk", "", -1, 0, mor_v3(0, 0, 0), mor_v3(0, 0, 1), box_mass(8, mor_v3(0, 0, 0.1), 0.2, 0.3, 0.4));
    for (int s = 0; s < 2; s++) {
        double y = s ? -0.1 : 0.1;
        int b = 1 + 3 * s;
        char name[3][32];
        snprintf(name[0], 32, "%s_thigh", s ? "right" : "left");
        snprintf(name[1], 32, "%s_shin", s ? "right" : "left");
        snprintf(name[2], 32, "%s_foot", s ? "right" : "left");
        l[b] = link_of(name[0], s ? "right_hip" : "left_hip", 0, 3 * s, mor_v3(0, y, 0), mor_v3(0, 1, 0),
                       box_mass(1.5, mor_v3(0, 0, -0.2), 0.08, 0.08, 0.4));
        l[b + 1] = link_of(name[1], s ? "right_knee" : "left_knee", b, 3 * s + 1, mor_v3(0, 0, -0.4), mor_v3(0, 1, 0),
                           box_mass(1, mor_v3(0, 0, -0.18), 0.06, 0.06, 0.36));
        l[b + 2] = link_of(name[2], s ? "right_ankle" : "left_ankle", b + 1, 3 * s + 2, mor_v3(0, 0, -0.35),
                           mor_v3(0, 1, 0), box_mass(0.5, mor_v3(0.03, 0, -0.03), 0.2, 0.08, 0.04));
        f[s] = frame_of(s ? "right" : "left", b + 2, mor_v3(0, 0, -0.05), 0);
    }
    return mor_robot_create(l, 7, f, 2, true, NULL);
}

const mor_vec3 walker_print[4] = { { 0.1, 0.04, 0 }, { 0.1, -0.04, 0 }, { -0.06, -0.04, 0 }, { -0.06, 0.04, 0 } };

void walker_put_feet(mor_robot_model* m, const char* left, const char* right, const mor_vec3 print[4], double radius)
{
    mor_geometry* g = radius > 0.0 ? mor_geometry_sphere(radius, NULL) : mor_geometry_point(NULL);
    for (int s = 0; s < 2; s++) {
        int frame = mor_robot_find_frame(m, s ? right : left);
        const mor_frame_def* f = mor_robot_frame(m, frame);
        for (int k = 0; k < 4; k++) {
            mor_link_shape shape = { .link = f->link,
                                     .geometry = g,
                                     .pose = { mor_pose_point(&f->pose, print[k]), f->pose.rotation },
                                     .frame = frame };
            mor_robot_add_shape(m, &shape, NULL);
        }
    }
    mor_geometry_release(g);
}

mor_robot_model* walker_five_bar(void)
{
    const mor_vec3 y = { 0, 1, 0 };
    mor_link_def l[6];
    l[0] =
        link_of("world_link", "", -1, 0, mor_v3(0, 0, 0), mor_v3(0, 0, 1), box_mass(1, mor_v3(0, 0, 0), 0.1, 0.1, 0.1));
    l[1] =
        link_of("hip", "slide", 0, 0, mor_v3(0, 0, 0), mor_v3(0, 0, 1), box_mass(5, mor_v3(0, 0, 0.05), 0.2, 0.1, 0.1));
    l[1].type = MOR_PRISMATIC;
    for (int s = 0; s < 2; s++) {
        mor_mass bar = box_mass(0.2, mor_v3(0, 0, -0.1), 0.02, 0.02, 0.2);
        l[2 + 2 * s] = link_of(s ? "upper_b" : "upper_a", s ? "motor_b" : "motor_a", 1, 1 + 2 * s,
                               mor_v3(s ? -0.05 : 0.05, 0, 0), y, bar);
        bar.mass = 0.15;
        l[3 + 2 * s] = link_of(s ? "lower_b" : "lower_a", s ? "knee_b" : "knee_a", 2 + 2 * s, 2 + 2 * s,
                               mor_v3(0, 0, -0.2), y, bar);
    }
    mor_frame_def f[3] = { frame_of("tip_a", 3, mor_v3(0, 0, -0.2), 0), frame_of("tip_b", 5, mor_v3(0, 0, -0.2), 0),
                           frame_of("lower_a", 3, mor_v3(0, 0, 0), 0) };
    return mor_robot_create(l, 6, f, 3, false, NULL);
}

mor_robot_model* walker_delta(void)
{
    mor_link_def l[11];
    mor_frame_def f[3];
    l[0] =
        link_of("world_link", "", -1, 0, mor_v3(0, 0, 0), mor_v3(0, 0, 1), box_mass(1, mor_v3(0, 0, 0), 0.1, 0.1, 0.1));
    l[1] =
        link_of("hip", "slide", 0, 0, mor_v3(0, 0, 0), mor_v3(0, 0, 1), box_mass(5, mor_v3(0, 0, 0.05), 0.2, 0.2, 0.1));
    l[1].type = MOR_PRISMATIC;
    for (int s = 0; s < 3; s++) {
        double a = 2.0943951023931953 * s, c = cos(a), o = sin(a);
        mor_vec3 across = mor_v3(-o, c, 0), out = mor_v3(c, o, 0);
        char name[6][32];
        snprintf(name[0], 32, "upper_%d", s), snprintf(name[1], 32, "motor_%d", s), snprintf(name[2], 32, "knee_%d", s);
        snprintf(name[3], 32, "cross_%d", s), snprintf(name[4], 32, "lower_%d", s), snprintf(name[5], 32, "roll_%d", s);
        int b = 2 + 3 * s;
        l[b] = link_of(name[0], name[1], 1, 1 + 3 * s, mor_scale(0.06, out), across,
                       box_mass(0.2, mor_v3(0, 0, -0.1), 0.02, 0.02, 0.2));
        l[b + 1] = link_of(name[3], name[2], b, 2 + 3 * s, mor_v3(0, 0, -0.2), across,
                           box_mass(0.02, mor_v3(0, 0, 0), 0.03, 0.03, 0.03));
        l[b + 2] = link_of(name[4], name[5], b + 1, 3 + 3 * s, mor_v3(0, 0, 0), out,
                           box_mass(0.15, mor_v3(0, 0, -0.1), 0.02, 0.02, 0.2));
        char tip[32];
        snprintf(tip, 32, "tip_%d", s);
        f[s] = frame_of(tip, b + 2, mor_v3(0, 0, -0.2), 0);
    }
    return mor_robot_create(l, 11, f, 3, false, NULL);
}
