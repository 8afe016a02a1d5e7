/* What the readers of visuals share. */
#ifndef MOREAU_IO_SCENE_VISUAL_PARTS_H
#define MOREAU_IO_SCENE_VISUAL_PARTS_H

#include "io/scene/scene_def.h"
#include "io/scene/scene_visual.h"

/* A line of the notes, once; the format has two texts. */
void mor_visual_note(mor_visuals* v, const char* format, const char* a, const char* b);
/* An empty visual at the end; NULL: out of memory. */
mor_visual* mor_visual_add(mor_visuals* v);
/* The triangles of a shape; false: out of memory. */
bool mor_visual_set_shape(mor_visuals* v, mor_visual* item, const mor_geometry* g);
/* A mesh file as visuals like `like`, one for each of its materials; `own`: the colour of `like` counts, whatever the
 * file says. False: out of memory. */
bool mor_visual_add_file(mor_visuals* v, const mor_visual* like, const char* path, const double scale[3], bool own);
/* Where the picture is that a mesh file names: as named, beside the file, or where models of Gazebo have them. */
bool mor_visual_find_picture(const char* mesh, const char* texture, char path[4800]);
/* Shows a picture on an item whose corners know their places there, else in its mean colour; false: neither. */
bool mor_visual_show(mor_visuals* v, mor_visual* item, bool placed, const char* path);
/* The geoms of a model; false: out of memory. */
bool mor_visual_take_mjcf(const mor_scene* scene, const mor_scene_mjcf* x, mor_visuals* out);

#endif
