/* The part of a recording that tells where joints sit on their bodies. */
#ifndef MOR_IO_FRAMES_JOINTS_H
#define MOR_IO_FRAMES_JOINTS_H

#include "io/hdf5/h5.h"
#include "model/joint_places.h"

/* Makes the group /joints. */
mor_code mor_frames_write_joints(mor_h5* h5, const mor_joint_place* joints, int count, mor_error* error);

#endif
