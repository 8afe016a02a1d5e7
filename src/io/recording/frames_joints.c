/* The joints of a recording: where they sit on their bodies (docs/recording.md, /joints). They do not change; what
 * grows, /joints/error, is a column of frames.c. */
#include "io/recording/frames_joints.h"

#include <stdlib.h>
#include <string.h>

enum { NAME = 192 };

mor_code mor_frames_write_joints(mor_h5* h5, const mor_joint_place* joints, int count, mor_error* error)
{
    size_t n = (size_t)count, room = n ? n : 1;
    char* name = calloc(room, NAME);
    int32_t* whole = calloc(room, 3 * sizeof *whole);
    double* number = calloc(room, 12 * sizeof *number);
    mor_code code = name && whole && number ? MOR_OK : mor_fail(error, MOR_SYSTEM, "out of memory");
    if (!code) {
        int32_t *kind = whole, *body = whole + n;
        double *point = number, *axis = number + 6 * n;
        char kinds[256] = "";
        for (int k = 0, used = 0; k < MOR_JOINT_KINDS; k++)
            used += snprintf(kinds + used, sizeof kinds - (size_t)used, "%s%s", k ? "|" : "",
                             mor_joint_kind_name((mor_joint_kind)k));
        for (size_t i = 0; i < n; i++) {
            snprintf(name + i * NAME, NAME, "%s", joints[i].name);
            kind[i] = (int32_t)joints[i].kind;
            for (size_t s = 0; s < 2; s++) {
                body[2 * i + s] = joints[i].body[s];
                memcpy(point + 6 * i + 3 * s, &joints[i].point[s], 3 * sizeof(double));
                memcpy(axis + 6 * i + 3 * s, &joints[i].axis[s], 3 * sizeof(double));
            }
        }
        code = mor_h5_group(h5, "/joints", error);
        if (!code) code = mor_h5_write_texts(h5, "/joints/name", name, NAME, n, error);
        if (!code) code = mor_h5_write(h5, "/joints/kind", MOR_H5_INT, 1, &n, kind, error);
        if (!code) code = mor_h5_set_text(h5, "/joints/kind", "values", kinds, error);
        if (!code) code = mor_h5_write(h5, "/joints/body", MOR_H5_INT, 2, (size_t[]){ n, 2 }, body, error);
        if (!code) code = mor_h5_write(h5, "/joints/point", MOR_H5_DOUBLE, 3, (size_t[]){ n, 2, 3 }, point, error);
        if (!code) code = mor_h5_set_text(h5, "/joints/point", "unit", "m", error);
        if (!code) code = mor_h5_write(h5, "/joints/axis", MOR_H5_DOUBLE, 3, (size_t[]){ n, 2, 3 }, axis, error);
    }
    free(name);
    free(whole);
    free(number);
    return code;
}
