/* COLLADA, pass two: walks the nodes and places every instance, see mesh_dae.c. */
#include "io/mesh/mesh_dae.h"

/* -------------------------------------------------------------------------- transformations */

transform mor_dae_identity(void) { return (transform){ { { 1, 0, 0, 0 }, { 0, 1, 0, 0 }, { 0, 0, 1, 0 } } }; }

transform mor_dae_times(const transform* A, const transform* B)
{
    transform C;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 4; j++) {
            C.m[i][j] = j == 3 ? A->m[i][3] : 0.0;
            for (int k = 0; k < 3; k++) C.m[i][j] += A->m[i][k] * B->m[k][j];
        }
    return C;
}

static mor_vec3 apply(const transform* T, mor_vec3 x)
{
    double y[3];
    for (int i = 0; i < 3; i++) y[i] = T->m[i][0] * x.x + T->m[i][1] * x.y + T->m[i][2] * x.z + T->m[i][3];
    return mor_v3(y[0], y[1], y[2]);
}

static double determinant(const transform* T)
{
    mor_mat3 A;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) A.m[i][j] = T->m[i][j];
    return mor_mat3_det(&A);
}

/* Unit and up axis: +y up means y -> z, z -> -y; +x up means x -> z, y -> -x, z -> -y. */
static transform file_frame(const dae* d)
{
    transform T = { 0 };
    double u = d->unit;
    int up = d->file->flags & MOR_MESH_KEEP_AXES ? 2 : d->up;
    if (up == 2) T.m[0][0] = T.m[1][1] = T.m[2][2] = u;
    if (up == 1) T.m[0][0] = T.m[2][1] = u, T.m[1][2] = -u;
    if (up == 0) T.m[2][0] = u, T.m[0][1] = T.m[1][2] = -u;
    return T;
}

/* --------------------------------------------------------------------- pass two: the pieces */

static mor_code wrong(dae* d, int line, const char* what, const char* id)
{
    return d->code = mor_fail_at(d->file->error, MOR_BAD_INPUT, d->file->path, line, 1, "%s '%s'", what, id);
}

static const source* find_source(const dae* d, const char* id)
{
    for (int i = 0; i < d->sources.count; i++) {
        const source* s = AT(source, d->sources, i);
        if (is(s->id, id) && s->values) return s;
    }
    return NULL;
}

static const source* find_positions(const dae* d, const char* vertices)
{
    const char* id = vertices;
    for (int i = 0; i < d->aliases.count; i++)
        if (is(AT(alias, d->aliases, i)->id, vertices)) {
            id = AT(alias, d->aliases, i)->positions;
            break;
        }
    return find_source(d, id);
}

/* The place of a corner on a picture, if it has one that is there. */
static bool emit_spot(mor_mesh_file* file, const source* s, int index)
{
    int count = s->stride >= 2 ? (s->count - s->offset) / s->stride : 0;
    if (index < 0 || index >= count) return true;
    const double* x = s->values + s->offset + (size_t)index * (size_t)s->stride;
    return mor_mesh_spot(file, x[0], x[1]);
}

static mor_code emit_primitive(dae* d, const primitive* p, const transform* T, bool mirrored)
{
    mor_mesh_file* file = d->file;
    if (p->index_count == 0) return MOR_OK;
    int line = p->line;
    const source* s = find_positions(d, p->vertices);
    if (!s || p->offset < 0) return wrong(d, line, "no array of positions is called", p->vertices);
    if (s->stride < 3) return wrong(d, line, "positions need three coordinates each; see the accessor of", s->id);
    int points = (s->count - s->offset) / s->stride, base = file->point_count;
    for (int i = 0; i < points; i++) {
        const double* x = s->values + s->offset + (size_t)i * (size_t)s->stride;
        if (!mor_mesh_point(file, apply(T, mor_v3(x[0], x[1], x[2])))) return d->code = file->error->code;
    }
    file->material = 0;
    if (p->material[0] && !mor_mesh_use_material(file, p->material, strlen(p->material)))
        return d->code = file->error->code;
    const source* spots = p->spots[0] ? find_source(d, p->spots) : NULL;
    int corners = p->index_count / p->stride, at = 0;
    int faces = p->sizes ? p->size_count : corners / 3;
    for (int f = 0; f < faces; f++) {
        int n = p->sizes ? p->sizes[f] : 3;
        if (n > corners - at) break;
        for (int k = 0; k < n; k++) {
            int v = p->indices[(size_t)(at + (mirrored ? n - 1 - k : k)) * (size_t)p->stride + (size_t)p->offset];
            if (v >= points)
                return d->code = mor_fail_at(file->error, MOR_BAD_INPUT, file->path, line, 1,
                                             "face %d names vertex %d; there are %d, counted from 0", f, v, points);
            const int* index = p->indices + (size_t)(at + (mirrored ? n - 1 - k : k)) * (size_t)p->stride;
            if (!mor_mesh_corner(file, base + v)) return d->code = file->error->code;
            if (spots && !emit_spot(file, spots, index[p->spot_offset])) return d->code = file->error->code;
        }
        at += n;
        if (n < 3) return wrong(d, line, "a face with fewer than three corners in", p->vertices);
        if (!mor_mesh_face_end(file)) return d->code = file->error->code;
    }
    if (at != corners || corners * p->stride != p->index_count)
        return d->code =
                   mor_fail_at(file->error, MOR_BAD_INPUT, file->path, line, 1,
                               "%d indices do not make whole faces: %d corners were announced", p->index_count, at);
    return MOR_OK;
}

static mor_code emit_geometry(dae* d, int index, const char* name, const transform* T)
{
    const geometry* g = AT(geometry, d->geometries, index);
    if (d->file->piece_count >= INSTANCES_MAX) return wrong(d, g->line, "too many instances of", g->id);
    const char* title = name && *name ? name : g->name;
    if (!mor_mesh_piece_begin(d->file, title, strlen(title), g->line)) return d->code = d->file->error->code;
    bool mirrored = determinant(T) < 0.0;
    for (int i = 0; i < d->primitives.count && d->code == MOR_OK; i++)
        if (AT(primitive, d->primitives, i)->geometry == index)
            emit_primitive(d, AT(primitive, d->primitives, i), T, mirrored);
    return d->code;
}

static mor_code emit_node(dae* d, int index, const transform* above, int depth)
{
    const node* n = AT(node, d->nodes, index);
    if (depth > DEPTH_MAX) return wrong(d, 1, "nodes are nested or refer to each other too deeply at", n->id);
    transform T = mor_dae_times(above, &n->T);
    for (int i = 0; i < d->uses.count && d->code == MOR_OK; i++) {
        const use* u = AT(use, d->uses, i);
        if (u->node != index) continue;
        int found = -1, count = u->kind == USE_GEOMETRY ? d->geometries.count : d->nodes.count;
        for (int k = 0; k < count && found < 0; k++)
            if (is(u->kind == USE_GEOMETRY ? AT(geometry, d->geometries, k)->id : AT(node, d->nodes, k)->id, u->target))
                found = k;
        if (found < 0) return wrong(d, u->line, "nothing in the file is called", u->target);
        if (u->kind == USE_GEOMETRY) emit_geometry(d, found, n->name, &T);
        else emit_node(d, found, &T, depth + 1);
    }
    for (int i = index + 1; i < d->nodes.count && d->code == MOR_OK; i++)
        if (AT(node, d->nodes, i)->parent == index) emit_node(d, i, &T, depth + 1);
    return d->code;
}

void mor_dae_emit(dae* d)
{
    transform frame = file_frame(d);
    bool scene_found = false;
    for (int i = 0; i < d->nodes.count; i++) {
        const node* n = AT(node, d->nodes, i);
        if (!n->scene || (d->scene[0] && !is(n->id, d->scene))) continue;
        scene_found = true;
        if (emit_node(d, i, &frame, 0) != MOR_OK) return;
    }
    if (d->scene[0] && !scene_found) {
        wrong(d, 1, "the file's scene refers to a visual scene that is not there:", d->scene);
        return;
    }
    for (int i = 0; i < d->geometries.count && d->uses.count == 0 && d->code == MOR_OK; i++)
        emit_geometry(d, i, NULL, &frame);
}
