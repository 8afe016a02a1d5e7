/* A scene around one model file: URDF, MJCF or SDF. */
#ifndef MOR_IO_SCENE_MODEL_H
#define MOR_IO_SCENE_MODEL_H

#include "moreau/base.h"

/* Text of a scene that holds the model in `path`, written there as `name`; free it. NULL with the sentence. *note: what
 * was decided because the file does not say it, or NULL. */
char* mor_model_scene(const char* path, const char* name, bool urdf, const char** note, mor_error* error);

#endif
