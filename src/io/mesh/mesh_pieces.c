/* The file of convex pieces: text, numbers with 17 digits, so that what is read has the bits of what was computed.
 *
 *     moreau-pieces 1
 *     report PIECES TRIANGLES VOLUME PIECES_VOLUME HAUSDORFF DIAGONAL REACHED
 *     notes TEXT TO THE END OF THE LINE
 *     piece POINTS MASS COM(3) INERTIA(xx yy zz xy xz yz)
 *     X Y Z                                                      (POINTS lines)
 *     end */
#include "io/mesh/mesh_pieces.h"
#include "base/number.h"
#include "io/text/output.h"
#include "io/text/text_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const size_t FILE_MAX = (size_t)64 << 20;
enum { PIECES = 1024, POINTS = 100000 };

static bool number(const char** at, double* value)
{
    char* end;
    *value = mor_strtod(*at, &end);
    if (end == *at || !isfinite(*value)) return false;
    *at = end;
    return true;
}

static bool numbers(const char** at, double* values, int count)
{
    for (int i = 0; i < count; i++)
        if (!number(at, &values[i])) return false;
    return true;
}

static bool word(const char** at, const char* expected)
{
    while (**at == '\n' || **at == ' ') ++*at;
    size_t n = strlen(expected);
    if (strncmp(*at, expected, n) != 0) return false;
    *at += n;
    return true;
}

static bool read_piece(const char** at, mor_arena* arena, mor_piece* piece)
{
    double v[11];
    if (!word(at, "piece") || !numbers(at, v, 11) || !(v[0] >= 4 && v[0] <= POINTS)) return false;
    piece->count = (int)v[0];
    piece->unit = (mor_mass){ v[1],
                              { v[2], v[3], v[4] },
                              { { { v[5], v[8], v[9] }, { v[8], v[6], v[10] }, { v[9], v[10], v[7] } } } };
    piece->points = mor_arena_alloc(arena, (size_t)piece->count * sizeof *piece->points);
    if (!piece->points) return false;
    for (int i = 0; i < piece->count; i++) {
        if (!numbers(at, v, 3)) return false;
        piece->points[i] = mor_v3(v[0], v[1], v[2]);
    }
    return true;
}

static bool parse(const char* at, mor_arena* arena, mor_kept_pieces* out)
{
    double v[7];
    if (!word(&at, "moreau-pieces 1\n") || !word(&at, "report") || !numbers(&at, v, 7)) return false;
    if (!(v[0] >= 1 && v[0] <= PIECES) || !(v[1] >= 0 && v[1] < 1e9)) return false;
    out->report = (mor_decomposition){ .pieces = (int)v[0],
                                       .triangles = (int)v[1],
                                       .volume = v[2],
                                       .pieces_volume = v[3],
                                       .hausdorff = v[4],
                                       .diagonal = v[5],
                                       .reached = v[6] != 0.0,
                                       .cached = true };
    if (!word(&at, "notes")) return false;
    if (*at == ' ') at++;
    size_t length = strcspn(at, "\n");
    char* notes = mor_arena_alloc(arena, length + 1);
    out->pieces = mor_arena_zero(arena, (size_t)out->report.pieces, sizeof *out->pieces);
    if (!notes || !out->pieces) return false;
    memcpy(notes, at, length);
    notes[length] = '\0';
    out->notes = notes;
    at += length;
    for (int i = 0; i < out->report.pieces; i++)
        if (!read_piece(&at, arena, &out->pieces[i])) return false;
    return word(&at, "end");
}

bool mor_pieces_read(const char* path, mor_arena* arena, mor_kept_pieces* out)
{
    char* text = NULL;
    size_t length = 0;
    if (!mor_file_is_regular(path) || mor_text_read(path, FILE_MAX, &text, &length, NULL)) return false;
    bool ok = parse(text, arena, out);
    free(text);
    return ok;
}

mor_code mor_pieces_write(const char* path, const mor_kept_pieces* kept, mor_error* error)
{
    FILE* out = mor_output_open(path, error);
    if (!out) return MOR_SYSTEM;
    const mor_decomposition* r = &kept->report;
    fprintf(out, "moreau-pieces 1\nreport %d %d %.17g %.17g %.17g %.17g %d\nnotes %s\n", r->pieces, r->triangles,
            r->volume, r->pieces_volume, r->hausdorff, r->diagonal, r->reached, kept->notes);
    for (int i = 0; i < r->pieces; i++) {
        const mor_piece* p = &kept->pieces[i];
        const double(*J)[3] = p->unit.inertia.m;
        fprintf(out, "piece %d %.17g %.17g %.17g %.17g %.17g %.17g %.17g %.17g %.17g %.17g\n", p->count, p->unit.mass,
                p->unit.com.x, p->unit.com.y, p->unit.com.z, J[0][0], J[1][1], J[2][2], J[0][1], J[0][2], J[1][2]);
        for (int k = 0; k < p->count; k++)
            fprintf(out, "%.17g %.17g %.17g\n", p->points[k].x, p->points[k].y, p->points[k].z);
    }
    fputs("end\n", out);
    return mor_output_close(out, path, true, error);
}
