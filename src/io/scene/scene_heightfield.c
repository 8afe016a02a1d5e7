/* Height fields of scenes: their keys, and heights written as lists. */
#include "io/scene/scene_def.h"
#include "io/scene/scene_keys.h"

static const mor_key heightfield_keys[] = {
    { NODE(mor_raw_heightfield, size), .required = true, .value = "[x, y]", .unit = "m", .fallback = "required",
      .help = "Lengths of the rectangle; the origin is in its middle." },
    { NODE(mor_raw_heightfield, heights), .value = "[[...], ...]", .unit = "m", .fallback = "from the file",
      .help = "Rows of heights, the first at the lowest y; in a row x grows. At least two rows of two numbers." },
    { TEXT(mor_raw_heightfield, file), .fallback = "none",
      .help = "Heights from a file, relative to this one: a table of heights in m, separated by commas, semicolons or "
              "blanks, rows as in `heights`; or a greyscale picture .png or .pgm (8 or 16 bit) seen from above, its "
              "upper edge at the highest y." },
    { NODE(mor_raw_heightfield, height), .value = "[low, high]", .unit = "m", .fallback = "required for a picture",
      .help = "Heights of black and white of a picture." },
    { NUMBER(mor_raw_heightfield, depth), .initial = NAN, POSITIVE, .unit = "m",
      .fallback = "a tenth of the longer side", .help = "How far the ground reaches below its lowest point." },
    { 0 }
};
const mor_key_table mor_keys_field = {
    "height field", "shape.heightfield",
    "Each cell of the grid is two triangles, split along the diagonal from its lowest to its highest x and y. Between\n"
    "the triangles and a common floor the ground is solid: prisms, and one piece where cells lie in one plane. At most "
    "4\n"
    "million points and 200,000 pieces.",
    heightfield_keys, TABLE(mor_raw_heightfield)
};

static mor_code read_size(const mor_node* node, double size[2], mor_error* error)
{
    mor_code code = mor_read_numbers(node, "size", size, 2, error);
    int k = 0;
    for (const mor_node* n = node->first; n && code == MOR_OK; n = n->next, k++)
        if (!(size[k] > 0.0))
            code = mor_node_fail(n, error, "size %.40s of the height field is %s; give a positive number in m", n->text,
                                 size[k] == 0.0 ? "zero" : "negative");
    return code;
}

static mor_code read_rows(mor_scene* scene, const mor_node* node, mor_heightfield* field, mor_error* error)
{
    mor_code code = mor_read_list(node, "heights", error);
    if (code) return code;
    if (node->count < 2)
        return mor_node_fail(node, error, "a height field needs at least two rows of heights, and this has %d",
                             node->count);
    for (const mor_node* row = node->first; row; row = row->next) {
        if ((code = mor_read_list(row, "a row of heights", error))) return code;
        if (row->count < 2)
            return mor_node_fail(row, error, "a row of a height field needs at least two heights, and this has %d",
                                 row->count);
        if (row->count != node->first->count)
            return mor_node_fail(row, error,
                                 "this row has %d heights and the first one has %d; all rows are equally long",
                                 row->count, node->first->count);
    }
    field->rows = node->count;
    field->columns = node->first->count;
    double* heights = mor_scene_alloc(scene, (size_t)field->rows * (size_t)field->columns, sizeof *heights, error);
    if (!heights) return MOR_SYSTEM;
    field->heights = heights;
    for (const mor_node* row = node->first; row && code == MOR_OK; row = row->next)
        for (const mor_node* n = row->first; n && code == MOR_OK; n = n->next)
            code = mor_read_number(n, "height", heights++, error);
    return code;
}

static mor_code read_heights(mor_scene* scene, const mor_node* node, const mor_raw_heightfield* raw,
                             mor_heightfield* field, mor_error* error)
{
    if (!raw->heights == !raw->file)
        return mor_node_fail(node, error, "give either the heights of the height field or a file that has them");
    if (raw->heights && raw->height)
        return mor_node_fail_key(raw->height, error,
                                 "height is for pictures, which have no unit; heights are in m already");
    if (raw->heights) return read_rows(scene, raw->heights, field, error);
    double range[2];
    mor_code code = raw->height ? mor_read_numbers(raw->height, "height", range, 2, error) : MOR_OK;
    if (code) return code;
    return mor_heightfield_load(scene, mor_node_get(node, "file"), raw->file, raw->height ? range : NULL, field, error);
}

mor_code mor_scene_read_heightfield(mor_scene* scene, const mor_node* node, double scale, mor_heightfield* field,
                                    mor_error* error)
{
    mor_raw_heightfield raw;
    *field = (mor_heightfield){ 0 };
    mor_code code = mor_keys_read(&mor_keys_field, node, 3, &raw, error);
    if (code) return code;
    if ((code = read_size(raw.size, field->size, error))) return code;
    if ((code = read_heights(scene, node, &raw, field, error))) return code;
    double longer = field->size[0] > field->size[1] ? field->size[0] : field->size[1];
    field->depth = scale * (isnan(raw.depth) ? 0.1 * longer : raw.depth);
    if (scale == 1.0) return MOR_OK;
    const size_t points = (size_t)field->rows * (size_t)field->columns;
    double* heights = mor_scene_alloc(scene, points, sizeof *heights, error);
    if (!heights) return MOR_SYSTEM;
    for (size_t k = 0; k < points; k++) heights[k] = scale * field->heights[k];
    for (int k = 0; k < 2; k++) field->size[k] *= scale;
    field->heights = heights;
    return MOR_OK;
}
