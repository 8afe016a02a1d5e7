/* Opening a BPMD file: which spelling it has, its frames and its scene; see bpmd_read.c. */
#include "io/bpmd/bpmd_reader.h"
#include "io/hdf5/h5_inside.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

mor_bpmd_dialect mor_bpmd_get_dialect(const mor_bpmd* file) { return file->dialect; }
int mor_bpmd_count(const mor_bpmd* file) { return file->count; }
const char* mor_bpmd_scene_text(const mor_bpmd* file) { return file->scene_text ? file->scene_text : ""; }

void mor_bpmd_meta_text(const mor_bpmd* file, const char* name, char* text, size_t size)
{
    text[0] = '\0';
    if (file->dialect == MOR_BPMD_MOREAU && mor_h5_has_attribute(&file->h5, "/meta", name) &&
        mor_h5_get_text(&file->h5, "/meta", name, text, size, NULL))
        text[0] = '\0';
}

/* -------------------------------------------------------------------------------- opening */

static void look_for_bodies(void* user, const char* name)
{
    if (strcmp(name, "bodies") == 0 || strcmp(name, "Bodies") == 0) *(bool*)user = true;
}

/* Frames in the order of their numbers: frame2 before frame10. */
static int by_number(const void* a, const void* b)
{
    const char *x = a, *y = b;
    while (*x && *y) {
        if (isdigit((unsigned char)*x) && isdigit((unsigned char)*y)) {
            char *x_end, *y_end;
            unsigned long long m = strtoull(x, &x_end, 10), n = strtoull(y, &y_end, 10);
            if (m != n) return m < n ? -1 : 1;
            x = x_end, y = y_end;
        } else if (*x != *y) break;
        else x++, y++;
    }
    return (unsigned char)*x - (unsigned char)*y;
}

static void take_name(void* user, const char* name)
{
    mor_bpmd* f = user;
    char path[128];
    if (strlen(name) > 60) return;
    snprintf(path, sizeof path, "/%s", name);
    bool bodies = false;
    if (mor_h5_children(&f->h5, path, look_for_bodies, &bodies, NULL) || !bodies) return; /* no group, or no frame */
    if (f->count == f->capacity) {
        int capacity = f->capacity ? 2 * f->capacity : 64;
        void* grown = realloc(f->names, (size_t)capacity * sizeof *f->names);
        if (!grown) {
            f->failed = true;
            return;
        }
        f->names = grown;
        f->capacity = capacity;
    }
    snprintf(f->names[f->count++], sizeof f->names[0], "%s", name);
}

static mor_code read_meta(mor_bpmd* f, mor_error* error)
{
    char format[16] = "";
    mor_code code = mor_h5_get_text(&f->h5, "/meta", "format", format, sizeof format, error);
    if (!code && strcmp(format, "BPMD") != 0)
        return mor_fail(error, MOR_BAD_INPUT, "%s:/meta@format: '%s' is not 'BPMD'", f->h5.path, format);
    int version = 0;
    if (!code) code = mor_h5_get_int(&f->h5, "/meta", "version", &version, error);
    if (!code && version != 1)
        return mor_fail(error, MOR_BAD_INPUT, "%s:/meta@version: %d; this program reads version 1", f->h5.path,
                        version);
    double g[3];
    if (!code) code = mor_h5_get_int(&f->h5, "/meta", "dimension", &f->dimension, error);
    if (!code && f->dimension != 2 && f->dimension != 3)
        return mor_fail(error, MOR_BAD_INPUT, "%s:/meta@dimension: %d; 2 or 3 is expected", f->h5.path, f->dimension);
    if (!code) code = mor_h5_get_doubles(&f->h5, "/meta", "gravity", g, 3, error);
    if (!code && !(isfinite(g[0]) && isfinite(g[1]) && isfinite(g[2])))
        return mor_fail(error, MOR_BAD_INPUT, "%s:/meta@gravity: not finite", f->h5.path);
    if (code) return code;
    f->gravity = mor_v3(g[0], g[1], g[2]);
    if (mor_h5_exists(&f->h5, "/meta/scene")) {
        enum { MOST = 1 << 20 };
        f->scene_text = calloc(1, MOST);
        if (!f->scene_text) return mor_fail(error, MOR_SYSTEM, "out of memory");
        code = mor_h5_read_texts(&f->h5, "/meta/scene", f->scene_text, MOST, 1, error);
    }
    return code;
}

/* Whose names the first frame has, in any spelling: the majority decides. The groups of the paper count as names. */
static mor_code find_dialect(mor_bpmd* f, mor_error* error)
{
    static const char* const paper[] = { "bodies/quaternion", "bodies/inertia", "contacts/gap", "contacts/mu", NULL };
    /* names of Gazebo that differ from the paper's by an s at the end: they were found as the paper's, too */
    static const char* const gazebo[] = { "bodies/quaternions", "contacts/gaps", "contacts/mu_s", NULL };
    int votes = 0;
    mor_bpmd_frame* frame = calloc(1, sizeof *frame);
    if (!frame) return mor_fail(error, MOR_SYSTEM, "out of memory");
    mor_bpmd_reader r = { .file = f, .frame = frame, .error = error };
    snprintf(frame->name, sizeof frame->name, "%s", f->names[0]);
    f->dialect = MOR_BPMD_GAZEBO; /* other spellings are looked for in files of others only */
    for (int i = 0; paper[i]; i++) votes += mor_bpmd_find(&r, paper[i], NULL);
    for (int i = 0; gazebo[i]; i++)
        if (mor_bpmd_find(&r, gazebo[i], NULL) && tolower((unsigned char)r.path[strlen(r.path) - 1]) == 's') votes -= 2;
    votes -= mor_bpmd_find(&r, "bodies/world_inertia_tensors", NULL);
    votes += mor_bpmd_find(&r, "step", NULL) - mor_bpmd_find(&r, "timestep", NULL);
    votes += mor_bpmd_paper_groups(&r);
    free(frame);
    if (votes > 0) f->dialect = MOR_BPMD_PAPER;
    return MOR_OK;
}

static mor_bpmd* open_file(const char* path, bool guarded, mor_error* error)
{
    mor_bpmd* f = calloc(1, sizeof *f);
    if (!f) {
        mor_fail(error, MOR_SYSTEM, "out of memory");
        return NULL;
    }
    f->dimension = 3;
    f->dialect = MOR_BPMD_MOREAU;
    if (guarded ? mor_h5_open(&f->h5, path, error) : mor_h5_open_here(&f->h5, path, error)) {
        free(f);
        return NULL;
    }
    mor_code code = mor_h5_children(&f->h5, "/", take_name, f, error);
    if (!code && f->failed) code = mor_fail(error, MOR_SYSTEM, "out of memory");
    if (!code && f->count) qsort(f->names, (size_t)f->count, sizeof *f->names, by_number);
    bool ours = mor_h5_exists(&f->h5, "/meta") && mor_h5_has_attribute(&f->h5, "/meta", "format");
    if (!code && ours) code = read_meta(f, error);
    if (!code && !ours && f->count == 0)
        code =
            mor_fail(error, MOR_BAD_INPUT,
                     "%s:/: no frames: neither /meta nor a group with bodies inside, such as /mbs_frame000001", path);
    if (!code && !ours) code = find_dialect(f, error);
    if (code) {
        mor_bpmd_free(f);
        return NULL;
    }
    return f;
}

mor_bpmd* mor_bpmd_open(const char* path, mor_error* error) { return open_file(path, true, error); }
mor_bpmd* mor_bpmd_open_again(const char* path, mor_error* error) { return open_file(path, false, error); }

void mor_bpmd_free(mor_bpmd* f)
{
    if (!f) return;
    mor_h5_close(&f->h5, NULL);
    free(f->names);
    free(f->scene_text);
    free(f);
}
