/* A mesh file as convex pieces, computed once.
 *
 * The pieces are kept under the name FILE.pieces-HASH, where HASH is a 64-bit FNV-1a of the bytes of the mesh, the
 * settings and the version of the method: a mesh or a setting that changes gives another name, and an old file is never
 * believed. When the folder of the mesh cannot be written the file goes to $XDG_CACHE_HOME/moreau or ~/.cache/moreau,
 * and that is told; when neither can be, that is told too and the pieces are computed each time. A damaged file is made
 * anew. */
#include "io/mesh/mesh.h"
#include "io/mesh/mesh_pieces.h"
#include "io/text/text_file.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Goes up when the method gives other pieces. */
enum { METHOD = 1 };

static uint64_t fnv(uint64_t hash, const void* bytes, size_t count)
{
    const unsigned char* b = bytes;
    for (size_t i = 0; i < count; i++) hash = (hash ^ b[i]) * 0x100000001b3u;
    return hash;
}

static uint64_t hash_of(const mor_mesh_file* file, const mor_decompose_def* def)
{
    char settings[80];
    int n = snprintf(settings, sizeof settings, "%d %d %.17g %u", METHOD, def->pieces, def->concavity, file->flags);
    return fnv(fnv(0xcbf29ce484222325u, file->text, file->size), settings, (size_t)n);
}

/* The user's cache folder with `name` in it, made when missing; false when there is none. */
static bool in_cache(const char* name, char* path, size_t size)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    int n;
    if (cache && *cache == '/') n = snprintf(path, size, "%s", cache);
    else if (home && *home == '/') n = snprintf(path, size, "%s/.cache", home);
    else return false;
    if (n < 0 || (size_t)n + 16 >= size || (mkdir(path, 0777) && errno != EEXIST)) return false;
    n += snprintf(path + n, size - (size_t)n, "/moreau");
    if (mkdir(path, 0777) && errno != EEXIST) return false;
    const char* slash = strrchr(name, '/');
    int m = snprintf(path + n, size - (size_t)n, "/%s", slash ? slash + 1 : name);
    return m > 0 && (size_t)(n + m) < size;
}

/* Equal points of a soup (STL) are one; the faces of all objects are one solid. */
static mor_code compute(const mor_mesh_file* file, mor_arena* arena, const mor_decompose_def* def, mor_kept_pieces* out,
                        mor_error* error)
{
    mor_face_loops in = { file->points, file->point_count, file->face_sizes, file->corners, file->face_count };
    char* notes = mor_arena_zero(arena, 1, 1024);
    if (!notes) return mor_fail(error, MOR_SYSTEM, "out of memory");
    mor_notes told = { notes, 1024 };
    mor_error inner = { 0 };
    mor_code code = mor_decompose_run(arena, &in, def, &out->pieces, &out->report, &told, &inner);
    out->notes = notes;
    return code ? mor_fail(error, code, "%s: %s", file->path, inner.text) : MOR_OK;
}

/* From a file of pieces, or computed and written to one. */
static mor_code find(const mor_mesh_file* file, mor_arena* arena, const mor_decompose_def* def, mor_kept_pieces* out,
                     mor_notes* notes, mor_error* error)
{
    char beside[4300], cache[4300];
    int n = snprintf(beside, sizeof beside, "%s.pieces-%016llx", file->path, (unsigned long long)hash_of(file, def));
    bool named = n > 0 && (size_t)n < sizeof beside, cached = named && in_cache(beside, cache, sizeof cache);
    if (named && mor_pieces_read(beside, arena, out)) return MOR_OK;
    if (cached && mor_pieces_read(cache, arena, out)) return MOR_OK;
    mor_code code = compute(file, arena, def, out, error);
    if (code) return code;
    if (named && mor_pieces_write(beside, out, NULL) == MOR_OK) return MOR_OK;
    if (cached && mor_pieces_write(cache, out, NULL) == MOR_OK) {
        mor_note(notes, "the folder of the mesh cannot be written; its pieces are kept in %s", cache);
        return MOR_OK;
    }
    mor_note(notes, "its pieces cannot be kept in a file; they are computed each time");
    return MOR_OK;
}

mor_code mor_mesh_decompose(const char* path, double scale, unsigned flags, const mor_decompose_def* def,
                            mor_geometry** pieces, int capacity, mor_decomposition* report, char* notes,
                            size_t notes_size, mor_error* error)
{
    mor_error own = { 0 };
    mor_decomposition unused;
    mor_decompose_def normal = mor_decompose_def_default();
    mor_notes told = { notes, notes_size };
    if (!def) def = &normal;
    if (!report) report = &unused;
    *report = (mor_decomposition){ 0 };
    if (notes && notes_size) notes[0] = '\0';
    if (!isfinite(scale) || scale <= 0.0)
        return mor_fail(error, MOR_BAD_INPUT, "%s: the scale is %g; it must be positive and finite", path, scale);
    mor_arena* arena = mor_arena_create(NULL);
    if (!arena) return mor_fail(error, MOR_SYSTEM, "%s: out of memory", path);
    mor_mesh_file file = { .path = path, .error = error ? error : &own, .flags = flags };
    mor_kept_pieces kept = { .notes = "" };
    mor_code code = mor_mesh_open(&file);
    if (!code) code = find(&file, arena, def, &kept, &told, file.error);
    if (!code && kept.report.pieces > capacity)
        code = mor_fail(file.error, MOR_BAD_INPUT, "%s: %d pieces, and there is room for %d", path, kept.report.pieces,
                        capacity);
    if (!code && *kept.notes) mor_note(&told, "%s", kept.notes);
    for (int i = 0; !code && i < kept.report.pieces; i++) {
        pieces[i] = mor_piece_geometry(&kept.pieces[i], scale, file.error);
        if (pieces[i]) continue;
        code = file.error->code ? file.error->code : MOR_BAD_INPUT;
        while (i > 0) mor_geometry_release(pieces[--i]);
    }
    if (!code) {
        *report = kept.report;
        report->volume *= scale * scale * scale;
        report->pieces_volume *= scale * scale * scale;
        report->hausdorff *= scale;
        report->diagonal *= scale;
    }
    mor_mesh_close(&file);
    mor_arena_destroy(arena);
    return code;
}
