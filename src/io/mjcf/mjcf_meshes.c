/* Meshes of an MJCF file: the assets, their triangles, their mass properties.
 *
 * A mesh of triangles (a, b, c) is taken as pyramids over the point p, the mean of the triangles weighted by area:
 *
 *     V = sum v,  v = (a-p) . (b-p)x(c-p)/6,   com = sum v (a+b+c+p)/(4 V),
 *     C = sum v (sum of squares and mixed products of the corners)/20,   I = tr(C) 1 - C.
 *
 * `legacy`, MuJoCo's default, takes |v|, which counts what lies in front of a face that looks at p twice, sums V up
 * once more over the centre of mass, and takes as mass that of the box with the moments I/V, in single precision: the
 * numbers of MuJoCo 2.2 (later versions take V). `exact` takes v, `shell` the area of the face as v and C/12 instead of
 * C/20, `convex` the convex hull.
 *
 * Reference: MuJoCo documentation, XML reference (asset/mesh). */
#include "base/elementary.h"
#include "io/mesh/mesh.h"
#include "io/mjcf/mjcf.h"

#include <stdio.h>
#include <string.h>

/* Materials and textures: for the eye. False: out of memory. */
static bool keep_look(mor_mjcf* m, const mor_xml* e)
{
    bool material = strcmp(e->name, "material") == 0;
    if (!material && strcmp(e->name, "texture") != 0) return true;
    const mor_xml** look = material ? MOR_MJCF_ADD(m, materials) : MOR_MJCF_ADD(m, textures);
    if (look) *look = e;
    return look != NULL;
}

const char* mor_mjcf_stem(mor_mjcf* m, const char* file)
{
    const char *slash = strrchr(file, '/'), *base = slash ? slash + 1 : file, *dot = strrchr(base, '.');
    return mor_xml_copy(m->arena, base, dot ? (size_t)(dot - base) : strlen(base));
}

const char* mor_mjcf_asset_path(mor_mjcf* m, const char* dir, const char* file)
{
    char full[4200];
    if (m->strip_path && strrchr(file, '/')) file = strrchr(file, '/') + 1;
    snprintf(full, sizeof full, "%s%s%s", dir, *dir && dir[strlen(dir) - 1] != '/' ? "/" : "", file);
    return mor_xml_path(m->arena, m->path, file[0] == '/' ? file : full);
}

mor_code mor_mjcf_read_assets(mor_mjcf* m, const mor_xml* e)
{
    static const char* const seen[] = { "texture", "material", "skin", "model", NULL };
    for (const mor_xml* c = e->first; c; c = c->next) {
        bool pass = false;
        for (int i = 0; seen[i]; i++) pass = pass || strcmp(c->name, seen[i]) == 0;
        if (pass && !keep_look(m, c)) return MOR_SYSTEM;
        if (pass) continue;
        if (strcmp(c->name, "hfield") == 0) {
            mor_code code = mor_mjcf_read_field(m, c);
            if (code) return code;
            continue;
        }
        if (strcmp(c->name, "mesh") != 0)
            return mor_xml_fail(c, m->error, "<%.60s> in <asset> is not supported", c->name);
        mor_mjcf_mesh* mesh = MOR_MJCF_ADD(m, meshes);
        if (!mesh) return MOR_SYSTEM;
        *mesh = (mor_mjcf_mesh){ .at = c, .scale = { 1, 1, 1 }, .reference = mor_pose_identity() };
        mesh->inertia = m->exact_mesh ? 1 : 0;
        const mor_xml* classes[MOR_MJCF_CLASSES + 8];
        int n;
        mor_code code = mor_mjcf_classes(m, c, mor_xml_get(c, "class"), classes, MOR_MJCF_CLASSES + 8, &n);
        for (int i = 0; i <= n && !code; i++) {
            const mor_xml* d = i < n ? mor_xml_child(classes[i], "mesh") : c;
            if (!d) continue;
            double v[4];
            int k;
            code =
                mor_mjcf_check(m, d,
                               "name class file scale refpos refquat inertia vertex face normal texcoord smoothnormal "
                               "maxhullvert content_type material",
                               NULL, "builtin params");
            if (!code) code = mor_xml_numbers(d, "scale", 3, 3, mesh->scale, NULL, m->error);
            if (!code) code = mor_mjcf_choice(m, d, "inertia", "legacy|exact|convex|shell", &mesh->inertia);
            if (!code && !(code = mor_xml_numbers(d, "refpos", 3, 3, v, &k, m->error)) && k)
                mesh->reference.position = mor_v3(v[0], v[1], v[2]);
            if (!code && !(code = mor_xml_numbers(d, "refquat", 4, 4, v, &k, m->error)) && k)
                mesh->reference.rotation = mor_quat_normalize((mor_quat){ v[0], v[1], v[2], v[3] });
        }
        if (code) return code;
        if (mesh->scale[0] * mesh->scale[1] * mesh->scale[2] == 0.0)
            return mor_xml_fail(c, m->error, "the scale of the mesh has a zero");
        const char *file = mor_xml_get(c, "file"), *name = mor_xml_get(c, "name");
        if (!file && (!mor_xml_get(c, "vertex") || !name))
            return mor_xml_fail(c, m->error, "<mesh> needs a file, or a name and vertices");
        mesh->name = name ? name : mor_mjcf_stem(m, file);
        if (file) mesh->path = mor_mjcf_asset_path(m, m->mesh_dir, file);
        if (!mesh->name || (file && !mesh->path)) return mor_fail(m->error, MOR_SYSTEM, "out of memory");
    }
    return MOR_OK;
}

/* ------------------------------------------------------------------------------------ meshes */

/* As MuJoCo keeps the corners of meshes. volatile: gcc 12 takes two conversions there and back side by side for none.
 * */
static double rounded(double x)
{
    volatile float f = (float)x;
    return f;
}

static mor_vec3 single(mor_vec3 p) { return mor_v3(rounded(p.x), rounded(p.y), rounded(p.z)); }

/* Vertices (and faces) written in the file itself. */
static mor_code load_inline(mor_mjcf* m, mor_mjcf_mesh* mesh)
{
    const char *vertex = mor_xml_get(mesh->at, "vertex"), *face = mor_xml_get(mesh->at, "face");
    int most = (int)(strlen(vertex) / 2 + 2), n, k = 0;
    double* v = mor_arena_alloc(m->arena, (size_t)most * sizeof *v);
    if (!v) return mor_fail(m->error, MOR_SYSTEM, "out of memory");
    mor_code code = mor_xml_parse_numbers(mesh->at, "vertex of <mesh>", vertex, 12, most, v, &n, m->error);
    if (code) return code;
    if (n % 3) return mor_xml_fail(mesh->at, m->error, "vertex of <mesh> has %d numbers; a multiple of 3 is needed", n);
    mesh->point_count = n / 3;
    mesh->points = mor_arena_alloc(m->arena, (size_t)mesh->point_count * sizeof *mesh->points);
    most = face ? (int)(strlen(face) / 2 + 2) : 1;
    double* f = mor_arena_alloc(m->arena, (size_t)most * sizeof *f);
    mesh->triangles = mor_arena_alloc(m->arena, (size_t)most * sizeof *mesh->triangles);
    if (!mesh->points || !f || !mesh->triangles) return mor_fail(m->error, MOR_SYSTEM, "out of memory");
    for (int i = 0; i < mesh->point_count; i++) mesh->points[i] = mor_v3(v[3 * i], v[3 * i + 1], v[3 * i + 2]);
    if (face && (code = mor_xml_parse_numbers(mesh->at, "face of <mesh>", face, 3, most, f, &k, m->error))) return code;
    for (int i = 0; i < k; i++) {
        if (!(f[i] >= 0.0) || f[i] >= mesh->point_count)
            return mor_xml_fail(mesh->at, m->error, "face of <mesh> names vertex %g of %d", f[i], mesh->point_count);
        mesh->triangles[i] = (int)f[i];
    }
    mesh->triangle_count = k / 3;
    return MOR_OK;
}

/* Places on a picture, for the corners of the triangles. */
static bool take_spots(mor_mjcf* m, mor_mjcf_mesh* mesh, const mor_mesh_file* file)
{
    float* s = mor_arena_alloc(m->arena, (6 * (size_t)mesh->triangle_count + 1) * sizeof *s);
    mesh->spots = s;
    for (int i = 0, at = 0; s && i < file->face_count; at += file->face_sizes[i++])
        for (int k = 1; k + 1 < file->face_sizes[i]; k++) {
            const int corners[3] = { at, at + k, at + k + 1 };
            for (int c = 0; c < 3; c++, s += 2) memcpy(s, file->spots + 2 * corners[c], 2 * sizeof *s);
        }
    return mesh->spots != NULL;
}

static mor_code load_file(mor_mjcf* m, mor_mjcf_mesh* mesh)
{
    mor_error inner = { 0 };
    mor_mesh_file file = { .path = mesh->path, .error = &inner, .flags = MOR_MESH_KEEP_AXES };
    mor_code code = mor_mesh_open(&file);
    if (code) {
        mor_mesh_close(&file);
        return code == MOR_SYSTEM ? mor_fail(m->error, code, "%s", inner.text)
                                  : mor_xml_fail(mesh->at, m->error, "the mesh '%.60s': %s", mesh->name, inner.text);
    }
    int triangles = 0;
    for (int i = 0; i < file.face_count; i++) triangles += file.face_sizes[i] - 2;
    mesh->points = mor_arena_alloc(m->arena, (size_t)file.point_count * sizeof *mesh->points);
    mesh->triangles = mor_arena_alloc(m->arena, 3 * (size_t)triangles * sizeof *mesh->triangles);
    if (mesh->points && mesh->triangles) {
        memcpy(mesh->points, file.points, (size_t)file.point_count * sizeof *mesh->points);
        mesh->point_count = file.point_count;
        mesh->triangle_count = triangles;
        int* t = mesh->triangles;
        for (int i = 0, at = 0; i < file.face_count; at += file.face_sizes[i++])
            for (int k = 1; k + 1 < file.face_sizes[i]; k++, t += 3)
                t[0] = file.corners[at], t[1] = file.corners[at + k], t[2] = file.corners[at + k + 1];
        if (file.spot_count == 2 * file.corner_count && !take_spots(m, mesh, &file))
            code = mor_fail(m->error, MOR_SYSTEM, "out of memory");
    } else {
        code = mor_fail(m->error, MOR_SYSTEM, "out of memory");
    }
    mor_mesh_close(&file);
    return code;
}

mor_code mor_mjcf_load_mesh(mor_mjcf* m, mor_mjcf_mesh* mesh)
{
    if (mesh->loaded) return MOR_OK;
    mesh->loaded = true;
    mor_code code = mesh->path ? load_file(m, mesh) : load_inline(m, mesh);
    if (code) return code;
    bool moved = mor_xml_get(mesh->at, "refpos") || mor_xml_get(mesh->at, "refquat");
    bool mirrored = mesh->scale[0] * mesh->scale[1] * mesh->scale[2] < 0.0;
    for (int i = 0; i < mesh->point_count; i++) {
        mor_vec3 p = single(mesh->points[i]);
        if (moved)
            p = single(mor_unrotate(mesh->reference.rotation, single(mor_sub(p, single(mesh->reference.position)))));
        mesh->points[i] = single(mor_v3(mesh->scale[0] * p.x, mesh->scale[1] * p.y, mesh->scale[2] * p.z));
    }
    for (int i = 0; mirrored && i < mesh->triangle_count; i++) {
        int k = mesh->triangles[3 * i + 1];
        mesh->triangles[3 * i + 1] = mesh->triangles[3 * i + 2];
        float* s = mesh->spots ? mesh->spots + 6 * i : NULL;
        for (int c = 2; s && c < 4; c++) {
            float x = s[c];
            s[c] = s[c + 2];
            s[c + 2] = x;
        }
        mesh->triangles[3 * i + 2] = k;
    }
    return MOR_OK;
}

static double sum3(double a, double b, double c) { return rounded(rounded(a + b) + c); }

/* Adds v times the products of the corners, in single precision: the corners are single. */
static void add_products(mor_mat3* C, double v, mor_vec3 a, mor_vec3 b, mor_vec3 c)
{
    for (int i = 0; i < 3; i++)
        for (int j = i; j < 3; j++) {
            double ai = mor_axis(a, i), bi = mor_axis(b, i), ci = mor_axis(c, i), aj = mor_axis(a, j),
                   bj = mor_axis(b, j), cj = mor_axis(c, j);
            double sum = 2.0 * sum3(rounded(ai * aj), rounded(bi * bj), rounded(ci * cj));
            const double mixed[6] = { ai * bj, aj * bi, ai * cj, aj * ci, bi * cj, bj * ci };
            for (int k = 0; k < 6; k++) sum = rounded(sum + rounded(mixed[k]));
            C->m[i][j] += v * sum;
        }
}

/* Centre and vector area of a triangle, in single precision as far as MuJoCo has it. */
static void face_of(mor_vec3 a, mor_vec3 b, mor_vec3 c, mor_vec3* centre, mor_vec3* area)
{
    *centre = single(mor_v3(sum3(a.x, b.x, c.x) / 3.0, sum3(a.y, b.y, c.y) / 3.0, sum3(a.z, b.z, c.z) / 3.0));
    *area = mor_scale(0.5, mor_cross(single(mor_sub(b, a)), single(mor_sub(c, a))));
}

/* Inertias as MuJoCo keeps them, by principal moments and axes: a product of inertia below 1e-12 kg m^2, or one that a
 * turn by 1.4e-6 rad takes away, is left out there. Jacobi's method, the largest product first. */
void mor_mjcf_principal(mor_mat3* inertia)
{
    const double small = 1e-12;
    mor_mat3 D = *inertia, V = mor_mat3_identity();
    for (int round = 0; round < 500; round++) {
        double x = fabs(D.m[0][1]), y = fabs(D.m[0][2]), z = fabs(D.m[1][2]);
        int p = x > y && x > z ? 0 : y > z ? 0 : 1, q = x > y && x > z ? 1 : 2;
        if (fabs(D.m[p][q]) < small) break;
        double tau = (D.m[q][q] - D.m[p][p]) / (2.0 * D.m[p][q]), root = sqrt(1.0 + tau * tau);
        double t = tau >= 0.0 ? 1.0 / (tau + root) : -1.0 / (root - tau), c = 1.0 / sqrt(1.0 + t * t), s = t * c;
        if (c > 1.0 - small) break;
        mor_mat3 G = mor_mat3_identity();
        G.m[p][p] = G.m[q][q] = c, G.m[p][q] = s, G.m[q][p] = -s;
        mor_mat3 back = mor_mat3_transpose(&G), half = mor_mat3_mul(&back, &D);
        D = mor_mat3_mul(&half, &G);
        V = mor_mat3_mul(&V, &G);
    }
    mor_mat3 diagonal = mor_mat3_diag(D.m[0][0], D.m[1][1], D.m[2][2]);
    *inertia = mor_mat3_rotate(&V, &diagonal);
}

/* The mass of the box that has the same inertia per mass. */
static void to_box(mor_mass* mass)
{
    double I[3], V = mass->mass, box = 1.0;
    mor_quat axes;
    mor_inertia_principal(&mass->inertia, I, &axes);
    for (int i = 0; i < 3; i++) box *= sqrt(mor_max(0.0, 6.0 * (I[(i + 1) % 3] + I[(i + 2) % 3] - I[i]) / V));
    mass->mass = box;
    for (int i = 0; i < 9; i++) mass->inertia.m[i / 3][i % 3] *= box / V;
}

/* The weight of a face in sums over a mesh: its volume as a pyramid over the origin, or its area. */
static double weight_of(int inertia, mor_vec3 centre, mor_vec3 normal)
{
    if (inertia == MOR_MJCF_SHELL) return mor_norm(normal);
    double v = mor_dot(centre, normal) / 3.0;
    return inertia == MOR_MJCF_LEGACY ? fabs(v) : v;
}

mor_code mor_mjcf_mesh_mass(mor_mjcf* m, mor_mjcf_mesh* mesh, int inertia, mor_mass* out)
{
    mor_code code = mor_mjcf_load_mesh(m, mesh);
    if (code) return code;
    if (inertia == MOR_MJCF_CONVEX) {
        code = mor_mjcf_hull(m, mesh);
        if (!code) *out = mesh->hull->unit;
        return code;
    }
    if (mesh->triangle_count == 0)
        return mor_xml_fail(mesh->at, m->error,
                            "the mass of mesh '%.60s' is asked for; it has no faces, inertia=\"convex\" takes its hull",
                            mesh->name);
    mor_vec3 middle = mor_v3(0, 0, 0), com = middle, centre, normal;
    double area = 0.0, volume = 0.0;
    const int* t = mesh->triangles;
    for (int i = 0; i < mesh->triangle_count; i++, t += 3) {
        face_of(mesh->points[t[0]], mesh->points[t[1]], mesh->points[t[2]], &centre, &normal);
        middle = mor_madd(middle, mor_norm(normal), centre);
        area += mor_norm(normal);
    }
    if (!(area > 0.0)) return mor_xml_fail(mesh->at, m->error, "the mesh '%.60s' has no surface", mesh->name);
    middle = mor_scale(1.0 / area, middle);
    t = mesh->triangles;
    for (int i = 0; i < mesh->triangle_count; i++, t += 3) {
        face_of(mesh->points[t[0]], mesh->points[t[1]], mesh->points[t[2]], &centre, &normal);
        double v = weight_of(inertia, mor_sub(centre, middle), normal);
        volume += v;
        com = mor_madd(com, v, inertia == MOR_MJCF_SHELL ? centre : mor_lerp(centre, middle, 0.25));
    }
    if (!(volume > 1e-14 * area * sqrt(area)))
        return mor_xml_fail(mesh->at, m->error, "the mesh '%.60s' has the volume %g; is it inside out or flat?",
                            mesh->name, volume);
    com = mor_scale(1.0 / volume, com);
    mor_mat3 C = { 0 };
    t = mesh->triangles;
    volume = 0.0;
    for (int i = 0; i < mesh->triangle_count; i++, t += 3) {
        mor_vec3 a = single(mor_sub(mesh->points[t[0]], com)), b = single(mor_sub(mesh->points[t[1]], com)),
                 c = single(mor_sub(mesh->points[t[2]], com));
        face_of(a, b, c, &centre, &normal);
        double v = weight_of(inertia, centre, normal);
        volume += v;
        add_products(&C, inertia == MOR_MJCF_SHELL ? v / 12.0 : v / 20.0, a, b, c);
    }
    double trace = C.m[0][0] + C.m[1][1] + C.m[2][2];
    C.m[1][0] = C.m[0][1], C.m[2][0] = C.m[0][2], C.m[2][1] = C.m[1][2];
    *out = (mor_mass){ .mass = volume, .com = com };
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) out->inertia.m[i][j] = (i == j ? trace : 0.0) - C.m[i][j];
    if (inertia == MOR_MJCF_LEGACY) {
        const double density = 1000.0; /* at which MuJoCo does this */
        for (int i = 0; i < 9; i++) out->inertia.m[i / 3][i % 3] *= density;
        mor_mjcf_principal(&out->inertia);
        for (int i = 0; i < 9; i++) out->inertia.m[i / 3][i % 3] /= density;
        to_box(out);
    }
    return MOR_OK;
}
