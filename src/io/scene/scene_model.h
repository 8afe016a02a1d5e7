/* A scene around one model file: URDF, MJCF or SDF. */
#ifndef MOR_IO_SCENE_MODEL_H
#define MOR_IO_SCENE_MODEL_H

#include "moreau/base.h"

/* Is the base of the robot in a URDF file held? It is when the root link is called `world` or has no mass. */
mor_code mor_urdf_base(const char* path, bool* fixed, mor_error* error);

/* Text of a scene that holds the model in `path`, written there as `name`; free it. NULL with the sentence. *note: what
 * was decided because the file does not say it, or NULL. */
char* mor_model_scene(const char* path, const char* name, bool urdf, const char** note, mor_error* error);

#endif
