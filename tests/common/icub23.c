#include "common/icub23.h"

#include <stdio.h>
#include <string.h>

const char* const icub23_joints[23] = { "torso_pitch",     "torso_roll",     "torso_yaw",   "l_shoulder_pitch",
                                        "l_shoulder_roll", "l_shoulder_yaw", "l_elbow",     "r_shoulder_pitch",
                                        "r_shoulder_roll", "r_shoulder_yaw", "r_elbow",     "l_hip_pitch",
                                        "l_hip_roll",      "l_hip_yaw",      "l_knee",      "l_ankle_pitch",
                                        "l_ankle_roll",    "r_hip_pitch",    "r_hip_roll",  "r_hip_yaw",
                                        "r_knee",          "r_ankle_pitch",  "r_ankle_roll" };
const mor_vec3 icub23_print[4] = { { -0.06, 0.04, 0 }, { -0.06, -0.035, 0 }, { 0.11, -0.035, 0 }, { 0.11, 0.04, 0 } };

/* out += block of joints first ... first + 2 for coupling T, ratio 1/100 and motor inertias I. */
static void couple(double* out, int first, const double T[9], const double I[3])
{
    mor_mat3 t;
    memcpy(t.m, T, sizeof t.m);
    for (int i = 0; i < 9; i++) t.m[i / 3][i % 3] *= 0.01;
    mor_mat3 a = mor_mat3_inverse(&t);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            for (int k = 0; k < 3; k++) out[(first + i) * 23 + first + j] += a.m[k][i] * I[k] * a.m[k][j];
}

void icub23_reflected(double* out)
{
    const double leg = 0.0827e-4 + 0.054e-4, arm = 0.0585e-4 + 0.021e-4, t = 0.615, q = 0.022 / 0.04;
    memset(out, 0, 23 * 23 * sizeof *out);
    couple(out, 0, (double[9]){ 0.5, -0.5, 0, 0.5, 0.5, 0, q / 2, q / 2, q }, (double[3]){ leg, leg, arm });
    couple(out, 3, (double[9]){ -1, 0, 0, -1, -t, 0, 0, t, -t }, (double[3]){ arm, arm, arm });
    couple(out, 7, (double[9]){ 1, 0, 0, 1, t, 0, 0, -t, t }, (double[3]){ arm, arm, arm });
    out[6 * 24] = out[10 * 24] = arm * 1e4;
    for (int k = 11; k < 23; k++) out[k * 24] = k == 11 || k == 17 ? leg / (0.0067 * 0.0067) : leg * 1e4;
}

mor_robot_model* icub23_model(bool reflected, bool shapes)
{
    mor_urdf_options o = mor_urdf_options_default();
    mor_error error;
    o.floating = true;
    o.joints = icub23_joints;
    o.joint_count = 23;
    o.shapes = shapes;
    mor_robot_model* m = mor_urdf_read(ICUB_ROBOTS "/icub/iCubGenova04/model.urdf", &o, NULL, 0, &error);
    if (!m) return NULL;
    double matrix[23 * 23];
    icub23_reflected(matrix);
    if (reflected && mor_robot_set_reflected(m, NULL, matrix, &error) != MOR_OK) {
        printf("%s\n", error.text);
        mor_robot_destroy(m);
        return NULL;
    }
    return m;
}
