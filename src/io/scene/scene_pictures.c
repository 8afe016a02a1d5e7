/* Pictures of visuals: found where mesh files name them, kept as they are for the page, or as their mean colour. */
#include "io/mesh/png_grey.h"
#include "io/scene/scene_visual_parts.h"
#include "io/text/text_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PICTURE_MAX = 64 << 20, PIXELS_MAX = 1 << 26 };                          /* bytes and pixels of a texture */
enum { PICTURES_MAX = 64, PICTURE_SHOWN = 8 << 20, PICTURES_SHOWN = 32 << 20 }; /* pictures of a page, their bytes */

static bool is_jpeg(const char* bytes, size_t size) { return size > 3 && memcmp(bytes, "\xff\xd8\xff", 3) == 0; }

/* The number of a picture plus 1, read once; 0: it cannot be shown. */
static int picture_of(mor_visuals* v, const char* path)
{
    for (int i = 0; i < v->picture_count; i++)
        if (strcmp(v->pictures[i]->path, path) == 0) return i + 1;
    char* bytes = NULL;
    size_t size = 0;
    bool ok = strlen(path) < sizeof v->pictures[0]->path && v->picture_count < PICTURES_MAX &&
              mor_text_read(path, PICTURE_SHOWN, &bytes, &size, NULL) == MOR_OK &&
              v->picture_bytes + size <= PICTURES_SHOWN && (mor_is_png(bytes, size) || is_jpeg(bytes, size));
    if (ok && !v->pictures) v->pictures = mor_arena_zero(v->arena, PICTURES_MAX, sizeof *v->pictures);
    mor_visual_picture* p = ok && v->pictures ? mor_arena_zero(v->arena, 1, sizeof *p) : NULL;
    unsigned char* kept = p ? mor_arena_alloc(v->arena, size + 1) : NULL;
    if (kept) {
        memcpy(kept, bytes, size);
        snprintf(p->path, sizeof p->path, "%s", path);
        p->bytes = kept;
        p->size = size;
        v->pictures[v->picture_count++] = p;
        v->picture_bytes += size;
    }
    free(bytes);
    return kept ? v->picture_count : 0;
}

/* The mean colour of a picture; false: it cannot be read. */
static bool picture_color(const char* path, double color[4])
{
    char* bytes = NULL;
    size_t size = 0;
    double rgb[3];
    bool ok = mor_text_read(path, PICTURE_MAX, &bytes, &size, NULL) == MOR_OK &&
              mor_png_mean(bytes, size, PIXELS_MAX, rgb, NULL) == MOR_OK;
    for (int k = 0; ok && k < 3; k++) color[k] *= rgb[k];
    free(bytes);
    return ok;
}

static bool readable(const char* path) { return access(path, R_OK) == 0; }

bool mor_visual_find_picture(const char* mesh, const char* texture, char path[4800])
{
    static const char* const folders[] = { "", "../materials/textures/" };
    const char *slash = strrchr(mesh, '/'), *base = strrchr(texture, '/');
    int n = slash ? (int)(slash - mesh) + 1 : 0;
    snprintf(path, 4800, "%.*s%s", texture[0] == '/' ? 0 : n, mesh, texture);
    if (readable(path)) return true;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        snprintf(path, 4800, "%.*s%s%s", n, mesh, folders[i], base ? base + 1 : texture);
        if (readable(path)) return true;
    }
    return false;
}

bool mor_visual_show(mor_visuals* v, mor_visual* item, bool placed, const char* path)
{
    item->picture = placed ? picture_of(v, path) : 0;
    return item->picture || picture_color(path, item->color);
}
