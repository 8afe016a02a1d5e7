/* Height fields of an MJCF file: assets, and geoms of type hfield as convex pieces.
 *
 * The values, a greyscale PNG picture, MuJoCo's binary file (rows, columns as 32-bit integers, then 32-bit floats) or
 * the attribute `elevation`, are brought to 0 ... 1 and multiplied by the third number of `size`; the first two are
 * half the extent in x and y, the fourth is how far the ground reaches below 0. The first row of a picture and of
 * `elevation` is at the highest y, that of a binary file at the lowest.
 *
 * A geom becomes one geom for each piece: they are on the same body with the same filters and the same surface.
 *
 * Reference: MuJoCo documentation, XML reference (asset/hfield). */
#include "geometry/heightfield.h"
#include "io/mjcf/mjcf.h"
#include "io/mesh/png_grey.h"
#include "io/text/text_file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POINTS_MAX = 4000000, PIECES_MAX = 200000, BYTES_MAX = 64 << 20 };

static mor_code room_for(mor_mjcf* m, mor_mjcf_field* f, long rows, long columns)
{
    if (rows < 2 || columns < 2 || rows > POINTS_MAX || columns > POINTS_MAX || rows * columns > POINTS_MAX)
        return mor_xml_fail(f->at, m->error,
                            "the height field has %ld rows and %ld columns; at least 2 of each and %d heights", rows,
                            columns, (int)POINTS_MAX);
    f->rows = (int)rows;
    f->columns = (int)columns;
    f->heights = mor_arena_zero(m->arena, (size_t)(rows * columns), sizeof *f->heights);
    return f->heights ? MOR_OK : mor_fail(m->error, MOR_SYSTEM, "out of memory");
}

static mor_code read_picture(mor_mjcf* m, mor_mjcf_field* f, const char* bytes, size_t size)
{
    mor_grey_picture picture;
    mor_error inner = { 0 };
    mor_code code = mor_png_read(bytes, size, POINTS_MAX, m->arena, &picture, &inner);
    if (code == MOR_BAD_INPUT) return mor_xml_fail(f->at, m->error, "'%.200s': %s", f->path, inner.text);
    if (code) return mor_fail(m->error, code, "%s", inner.text);
    if ((code = room_for(m, f, picture.height, picture.width))) return code;
    for (int j = f->rows - 1; j >= 0; j--)
        for (int i = 0; i < f->columns; i++) f->heights[j * f->columns + i] = *picture.values++;
    return MOR_OK;
}

static mor_code read_binary(mor_mjcf* m, mor_mjcf_field* f, const char* bytes, size_t size)
{
    int32_t head[2] = { 0 };
    if (size >= sizeof head) memcpy(head, bytes, sizeof head);
    bool fits = head[0] > 0 && head[1] > 0 && (size_t)head[0] <= size && (size_t)head[1] <= size &&
                size == sizeof head + (size_t)head[0] * (size_t)head[1] * sizeof(float);
    if (!fits)
        return mor_xml_fail(f->at, m->error, "'%.200s' is neither a PNG picture nor a binary height field of MuJoCo",
                            f->path);
    mor_code code = room_for(m, f, head[0], head[1]);
    for (int i = 0; i < f->rows * f->columns && !code; i++) {
        float x;
        memcpy(&x, bytes + sizeof head + (size_t)i * sizeof x, sizeof x);
        if (!isfinite(x)) return mor_xml_fail(f->at, m->error, "'%.200s': height %d is not finite", f->path, i + 1);
        f->heights[i] = x;
    }
    return code;
}

static mor_code read_file(mor_mjcf* m, mor_mjcf_field* f)
{
    char* bytes = NULL;
    size_t size = 0;
    mor_error inner = { 0 };
    mor_code code = mor_text_read(f->path, BYTES_MAX, &bytes, &size, &inner);
    if (code == MOR_BAD_INPUT) return mor_xml_fail(f->at, m->error, "%s", inner.text);
    if (code) return mor_fail(m->error, code, "%s", inner.text);
    code = mor_is_png(bytes, size) ? read_picture(m, f, bytes, size) : read_binary(m, f, bytes, size);
    free(bytes);
    return code;
}

static mor_code read_elevation(mor_mjcf* m, mor_mjcf_field* f)
{
    double rows = 0.0, columns = 0.0;
    int n = 0;
    mor_code code = mor_mjcf_number(m, f->at, "nrow", &rows);
    if (!code) code = mor_mjcf_number(m, f->at, "ncol", &columns);
    if (code) return code;
    if (!(rows >= 2.0 && columns >= 2.0 && rows <= POINTS_MAX && columns <= POINTS_MAX))
        return mor_xml_fail(f->at, m->error, "<hfield> needs a file, or nrow and ncol of at least 2");
    if ((code = room_for(m, f, (long)rows, (long)columns))) return code;
    int count = f->rows * f->columns;
    double* v = mor_arena_zero(m->arena, (size_t)count, sizeof *v);
    if (!v) return mor_fail(m->error, MOR_SYSTEM, "out of memory");
    if ((code = mor_xml_numbers(f->at, "elevation", count, count, v, &n, m->error)) || !n) return code;
    for (int j = 0; j < f->rows; j++)
        memcpy(f->heights + j * f->columns, v + (f->rows - 1 - j) * f->columns, (size_t)f->columns * sizeof *v);
    return MOR_OK;
}

mor_code mor_mjcf_read_field(mor_mjcf* m, const mor_xml* e)
{
    mor_mjcf_field* f = MOR_MJCF_ADD(m, fields);
    if (!f) return MOR_SYSTEM;
    *f = (mor_mjcf_field){ .at = e, .name = mor_xml_get(e, "name") };
    const char* file = mor_xml_get(e, "file");
    mor_code code = mor_mjcf_check(m, e, "name class content_type file nrow ncol size elevation", NULL, NULL);
    int n = 0;
    if (!code) code = mor_xml_numbers(e, "size", 4, 4, f->size, &n, m->error);
    if (code) return code;
    if (!n || !(f->size[0] > 0.0 && f->size[1] > 0.0 && f->size[2] > 0.0 && f->size[3] > 0.0))
        return mor_xml_fail(e, m->error, "<hfield> needs four positive numbers as size: x, y, height, base");
    if (!f->name && !file) return mor_xml_fail(e, m->error, "<hfield> needs a name or a file");
    if (file && !(f->path = mor_mjcf_asset_path(m, m->mesh_dir, file)))
        return mor_fail(m->error, MOR_SYSTEM, "out of memory");
    if (!f->name && !(f->name = mor_mjcf_stem(m, file))) return mor_fail(m->error, MOR_SYSTEM, "out of memory");
    return MOR_OK;
}

static mor_code load(mor_mjcf* m, mor_mjcf_field* f)
{
    if (f->heights) return MOR_OK;
    mor_code code = f->path ? read_file(m, f) : read_elevation(m, f);
    if (code) return code;
    int count = f->rows * f->columns;
    double least = f->heights[0], most = least;
    for (int i = 0; i < count; i++) least = fmin(least, f->heights[i]), most = fmax(most, f->heights[i]);
    double range = most - least > 0.0 ? most - least : 1.0;
    for (int i = 0; i < count; i++) f->heights[i] = (f->heights[i] - least) / range * f->size[2];
    return MOR_OK;
}

mor_code mor_mjcf_cut_field(mor_mjcf* m, int geom)
{
    mor_mjcf_geom like = m->geoms[geom];
    mor_mjcf_field* f = NULL;
    for (int i = 0; i < m->fields_count && like.field; i++)
        if (strcmp(m->fields[i].name, like.field) == 0) f = &m->fields[i];
    if (!f)
        return mor_xml_fail(like.at, m->error, "there is no hfield '%.60s' in the assets",
                            like.field ? like.field : "");
    if (m->bodies[like.body].tree >= 0)
        return mor_xml_fail(like.at, m->error, "a height field belongs to a body that does not move");
    mor_code code = load(m, f);
    if (code) return code;
    mor_heightfield field = { f->columns, f->rows, { 2.0 * f->size[0], 2.0 * f->size[1] }, f->heights, f->size[3] };
    int cells = (f->columns - 1) * (f->rows - 1), capacity = cells < PIECES_MAX ? 2 * cells : PIECES_MAX;
    unsigned char* taken = mor_arena_zero(m->arena, (size_t)cells, 1);
    mor_field_piece* pieces = mor_arena_zero(m->arena, (size_t)capacity, sizeof *pieces);
    if (!taken || !pieces) return mor_fail(m->error, MOR_SYSTEM, "out of memory");
    int count = mor_heightfield_cut(&field, taken, pieces, capacity);
    if (count < 0)
        return mor_xml_fail(like.at, m->error, "the height field becomes more than %d convex pieces; take fewer points",
                            (int)PIECES_MAX);
    for (int k = 0; k < count; k++) {
        mor_error inner = { 0 };
        mor_pose local = mor_pose_identity();
        mor_geometry* piece =
            mor_heightfield_piece(&field, &pieces[k], mor_heightfield_floor(&field), &local.position, &inner);
        if (!piece && inner.code == MOR_SYSTEM) return mor_fail(m->error, MOR_SYSTEM, "%s", inner.text);
        if (!piece) return mor_xml_fail(like.at, m->error, "%s", inner.text);
        mor_mjcf_geom* to = k ? MOR_MJCF_ADD(m, geoms) : &m->geoms[geom];
        if (!to) {
            mor_geometry_release(piece);
            return MOR_SYSTEM;
        }
        *to = like;
        if (k) to->name = NULL;
        to->geometry = piece;
        to->pose = mor_pose_mul(&like.pose, &local);
    }
    return MOR_OK;
}
