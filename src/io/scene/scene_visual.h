/* What is drawn of a scene besides the shapes that touch: visual meshes of
 * robots, colours of bodies. */
#ifndef MOREAU_IO_SCENE_VISUAL_H
#define MOREAU_IO_SCENE_VISUAL_H

#include "moreau/scene.h"

/* Triangles in the frame of a body, of one colour, or with a picture whose colours it is multiplied with. */
typedef struct mor_visual {
    char body[64]; /* its name; "": the world */
    mor_pose pose;
    double color[4]; /* red, green, blue, opacity; 0 to 1 */
    const mor_vec3* points;
    const int* triangles; /* three numbers of points each */
    int point_count, triangle_count;
    const float* spots; /* places of the points on the picture, u and v upwards; NULL: none */
    int picture;        /* number of the picture in mor_visuals, plus 1; 0: none */
} mor_visual;

/* A PNG or JPEG file. */
typedef struct mor_visual_picture {
    char path[4200];
    const unsigned char* bytes;
    size_t size;
} mor_visual_picture;

typedef struct mor_visuals {
    mor_arena* arena;
    mor_visual* items;
    int count, room;
    mor_visual_picture** pictures;
    int picture_count;
    size_t picture_bytes;
    char notes[2048]; /* files that are missing or cannot be read, a line each */
} mor_visuals;

/* Reads what is for the eye: files of meshes are opened here, not when the
 * scene is loaded. Files that are missing are told in the notes. NULL only when
 * out of memory. */
mor_visuals* mor_visuals_read(const mor_scene* scene);
void mor_visuals_free(mor_visuals* visuals);
/* The colour a body of the scene was given; false when it was given none. */
bool mor_scene_color(const mor_scene* scene, const char* body, double color[4]);
/* How the ground is drawn: grid, checker, plain or none. */
const char* mor_scene_ground(const mor_scene* scene);

#endif
