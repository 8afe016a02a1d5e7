/* Writing FCLIB HDF5 files (fclib.c reads them): local problems u = W r + q and global ones M v = H r + f, u = H' v +
 * w.
 *
 * Matrices are triplets (nz >= 0, i rows, p columns, as every file in the wild has them). A step becomes a global
 * problem with M = blocks of the trees, H = G of the contacts, f = M nu_free, w = the bias of Stewart and Trinkle's
 * rows (gaps over h, drifts, restitution); rows of joints are eliminated by the Schur complement of the exact
 * conversion, which makes it local; joint limits become contacts without friction, rows with two bounds have no place
 * in the format. Contacts without friction get zero tangential rows and mu = 0, which changes
 * nothing in the answer. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "formulation/step_problem.h"
#include "formulation/registry.h"
#include "io/hdf5/h5.h"
#include "io/fclib/fclib.h"
#include "problem/convert.h"

typedef struct sink {
    mor_h5 h5;
    mor_error* error;
    mor_code code;
} sink;

static void put(sink* s, const char* group, const char* name, mor_h5_type type, size_t count, const void* data)
{
    char path[96];
    if (s->code) return;
    snprintf(path, sizeof path, "%s/%s", group, name);
    s->code = mor_h5_write(&s->h5, path, type, 1, &count, data, s->error);
}

static void put_int(sink* s, const char* group, const char* name, int value)
{
    put(s, group, name, MOR_H5_INT, 1, &value);
}

static void put_group(sink* s, const char* path)
{
    if (!s->code) s->code = mor_h5_group(&s->h5, path, s->error);
}

static void put_matrix(sink* s, const char* group, const mor_matrix* A, mor_arena* arena)
{
    size_t most = A->storage == MOR_SPARSE ? (size_t)A->p[A->rows] : (size_t)A->rows * (size_t)A->cols, n = 0;
    int *row = mor_arena_alloc(arena, (most + 1) * sizeof *row),
        *col = mor_arena_alloc(arena, (most + 1) * sizeof *col);
    double* x = mor_arena_alloc(arena, (most + 1) * sizeof *x);
    if (!row || !col || !x) s->code = mor_fail(s->error, MOR_SYSTEM, "out of memory");
    if (s->code) return;
    for (int i = 0; i < A->rows; i++) {
        if (A->storage == MOR_SPARSE)
            for (int k = A->p[i]; k < A->p[i + 1]; k++) row[n] = i, col[n] = A->i[k], x[n++] = A->x[k];
        else
            for (int j = 0; j < A->cols; j++)
                if (A->x[i + (size_t)j * (size_t)A->rows] != 0.0)
                    row[n] = i, col[n] = j, x[n++] = A->x[i + (size_t)j * (size_t)A->rows];
    }
    put_group(s, group);
    put_int(s, group, "nzmax", (int)n);
    put_int(s, group, "m", A->rows);
    put_int(s, group, "n", A->cols);
    put_int(s, group, "nz", (int)n);
    put(s, group, "p", MOR_H5_INT, n, col);
    put(s, group, "i", MOR_H5_INT, n, row);
    put(s, group, "x", MOR_H5_DOUBLE, n, x);
}

static void put_text(sink* s, const char* path, const char* text)
{
    if (!s->code) s->code = mor_h5_write_texts(&s->h5, path, text, strlen(text) + 1, 1, s->error);
}

mor_code mor_fclib_write(const char* path, const mor_problem* p, const char* title, mor_error* error)
{
    bool global = p->form & (MOR_GFC2D | MOR_GFC3D), local = p->form & (MOR_FC2D | MOR_FC3D);
    const mor_matrix* matrices[2] = { global ? &p->M : &p->A, global ? &p->H : NULL };
    if (!global && !local)
        return mor_fail(error, MOR_BAD_INPUT, "a problem of form %s has no place in FCLIB", mor_form_name(p->form));
    for (int i = 0; i < 2 && matrices[i]; i++)
        if (matrices[i]->storage != MOR_SPARSE && matrices[i]->storage != MOR_DENSE)
            return mor_fail(error, MOR_BAD_INPUT, "an operator cannot be written; its entries are not known");
    if (access(path, F_OK) == 0)
        return mor_fail(error, MOR_BAD_INPUT, "%s: file exists; problems are never written over others", path);
    mor_arena* arena = mor_arena_create(NULL);
    if (!arena) return mor_fail(error, MOR_SYSTEM, "out of memory");
    sink s = { .error = error };
    s.code = mor_h5_begin(&s.h5, path, error);
    if (s.code) {
        mor_arena_destroy(arena);
        return s.code;
    }
    const char* root = global ? "/fclib_global" : "/fclib_local";
    char name[64], vectors[64];
    snprintf(vectors, sizeof vectors, "%s/vectors", root);
    put_group(&s, root);
    put_group(&s, vectors);
    put_int(&s, root, "spacedim", p->dim);
    snprintf(name, sizeof name, "%s/%s", root, global ? "M" : "W");
    put_matrix(&s, name, matrices[0], arena);
    snprintf(name, sizeof name, "%s/H", root);
    if (global) put_matrix(&s, name, matrices[1], arena);
    if (global) put(&s, vectors, "f", MOR_H5_DOUBLE, (size_t)p->M.rows, p->f);
    put(&s, vectors, global ? "w" : "q", MOR_H5_DOUBLE, (size_t)p->size, p->b);
    put(&s, vectors, "mu", MOR_H5_DOUBLE, (size_t)p->contact_count, p->mu);
    snprintf(name, sizeof name, "%s/info", root);
    put_group(&s, name);
    snprintf(name, sizeof name, "%s/info/title", root);
    put_text(&s, name, title);
    snprintf(name, sizeof name, "%s/info/description", root);
    put_text(&s, name, "one step of a simulation; producer moreau " MOR_VERSION_STRING);
    snprintf(name, sizeof name, "%s/info/math_info", root);
    put_text(&s, name, global ? "M v = H r + f, u = H' v + w" : "u = W r + q");
    s.code = mor_h5_finish(&s.h5, s.code, error);
    mor_arena_destroy(arena);
    return s.code;
}

/* -------------------------------------------------------------------------------- of a step */

static bool global_of_system(const mor_system* s, const double* bias, mor_arena* arena, mor_problem* out)
{
    int dim = s->dimension, n = s->dof, m = dim * s->contact_count, masses = 0, coefs = 0;
    for (int t = 0; t < s->tree_count; t++) masses += s->trees[t].dof * s->trees[t].dof;
    for (int i = 0; i < s->contact_count; i++)
        for (int e = s->blocks[i].entry; e < s->blocks[i].entry + s->blocks[i].entry_count; e++)
            coefs += dim * s->trees[s->entries[e].tree].dof;
    int *Mp = mor_arena_zero(arena, (size_t)n + 1, sizeof(int)),
        *Mi = mor_arena_alloc(arena, (size_t)masses * sizeof(int));
    int *Hp = mor_arena_zero(arena, (size_t)n + 1, sizeof(int)),
        *Hi = mor_arena_alloc(arena, ((size_t)coefs + 1) * sizeof(int)),
        *fill = mor_arena_zero(arena, (size_t)n + 1, sizeof(int));
    double *Mx = mor_arena_alloc(arena, (size_t)masses * sizeof(double)),
           *Hx = mor_arena_alloc(arena, ((size_t)coefs + 1) * sizeof(double));
    double *f = mor_arena_zero(arena, (size_t)n, sizeof(double)),
           *b = mor_arena_zero(arena, (size_t)m + 1, sizeof(double)),
           *mu = mor_arena_alloc(arena, ((size_t)s->contact_count + 1) * sizeof(double));
    if (!Mp || !Mi || !Hp || !Hi || !fill || !Mx || !Hx || !f || !b || !mu) return false;
    int at = 0;
    for (int t = 0; t < s->tree_count; t++)
        for (int i = 0; i < s->trees[t].dof; i++) {
            const mor_tree_block* tree = &s->trees[t];
            if (!tree->mass) return false;
            for (int j = 0; j < tree->dof; j++) {
                double x = tree->mass[i * tree->dof + j];
                f[tree->offset + i] += x * s->nu_free[tree->offset + j];
                if (x != 0.0) Mi[at] = tree->offset + j, Mx[at++] = x;
            }
            Mp[tree->offset + i + 1] = at;
        }
    for (int pass = 0; pass < 2; pass++) /* count, then fill the rows of H = G (velocities x contact rows) */
        for (int c = 0; c < s->contact_count; c++) {
            const mor_block* block = &s->blocks[s->contacts[c].block];
            mu[c] = block->mu;
            for (int e = block->entry; e < block->entry + block->entry_count; e++) {
                const mor_tree_block* tree = &s->trees[s->entries[e].tree];
                const double* J = s->jacobian + s->entries[e].start;
                for (int d = 0; d < block->dim; d++)
                    for (int k = 0; k < tree->dof; k++) {
                        double x = J[d * tree->dof + k];
                        if (x == 0.0) continue;
                        if (!pass) Hp[tree->offset + k + 1]++;
                        else
                            Hi[Hp[tree->offset + k] + fill[tree->offset + k]] = dim * c + d,
                                                                          Hx[Hp[tree->offset + k] +
                                                                             fill[tree->offset + k]++] = x;
                    }
            }
            for (int d = 0; d < block->dim; d++) b[dim * c + d] = bias[block->row + d];
            if (!pass && c == s->contact_count - 1)
                for (int i = 0; i < n; i++) Hp[i + 1] += Hp[i];
        }
    *out = (mor_problem){ .form = dim == 2 ? MOR_GFC2D : MOR_GFC3D,
                          .dim = dim,
                          .size = m,
                          .contact_count = s->contact_count,
                          .b = b,
                          .mu = mu,
                          .f = f,
                          .M = { .storage = MOR_SPARSE, .rows = n, .cols = n, .p = Mp, .i = Mi, .x = Mx },
                          .H = { .storage = MOR_SPARSE, .rows = n, .cols = m, .p = Hp, .i = Hi, .x = Hx } };
    return true;
}

/* Rows of which only one bound is finite and zero, as those of joint limits, are contacts without friction:
 * 0 <= p _|_ u >= 0. Their number; -1: out of memory, -2: a row has other bounds, which no contact has. */
static int limits_as_contacts(mor_problem* step, mor_arena* arena)
{
    int count = 0, blocks = step->step.block_count;
    mor_block* copy = mor_arena_alloc(arena, ((size_t)blocks + 1) * sizeof *copy);
    if (!copy) return -1;
    for (int c = 0; c < blocks; c++) {
        mor_block* b = &copy[c];
        *b = step->step.blocks[c];
        if (b->kind != MOR_BLOCK_BOUNDED || (isinf(b->lower) && isinf(b->upper))) continue;
        if (!(b->dim == 1 && b->lower == 0.0 && b->upper == INFINITY)) return -2;
        b->kind = MOR_BLOCK_CONTACT;
        b->mu = 0.0;
        count++;
    }
    step->step.blocks = copy;
    return count;
}

/* A step with joints: their equations are eliminated. */
static mor_code write_condensed(const char* path, const mor_system* s, const double* bias, const char* title,
                                mor_arena* arena, mor_error* error)
{
    char name[512];
    mor_conversion conversion;
    bool none = false;
    mor_problem step = mor_system_problem(s, 0, bias, arena, NULL);
    int limits = step.size ? limits_as_contacts(&step, arena) : -1;
    if (limits == -1) return mor_fail(error, MOR_SYSTEM, "out of memory");
    if (limits == -2)
        return mor_fail(error, MOR_BAD_INPUT,
                        "a row has two bounds, as of a motor or of dry friction in a joint; FCLIB has no place for it");
    mor_code code = mor_convert(&step, s->dimension == 2 ? MOR_FC2D : MOR_FC3D, &conversion, &none, arena, error);
    if (code) return code;
    int n = snprintf(name, sizeof name, "%.400s", title);
    if (limits)
        snprintf(name + n, sizeof name - (size_t)n, "; the last %d contacts are joint limits, without friction",
                 limits);
    code = mor_fclib_write(path, &conversion.to, name, error);
    mor_conversion_destroy(&conversion);
    return code;
}

mor_code mor_fclib_write_system(const char* path, const mor_system* s, const char* title, mor_error* error)
{
    mor_arena* arena = mor_arena_create(NULL);
    double* bias = arena ? mor_arena_alloc(arena, ((size_t)s->row_count + 1) * sizeof *bias) : NULL;
    mor_code code = MOR_OK;
    mor_problem out;
    if (!bias) code = mor_fail(error, MOR_SYSTEM, "out of memory");
    if (!code) mor_bias_stewart_trinkle(s, bias);
    if (!code && s->block_count == s->contact_count) {
        if (!global_of_system(s, bias, arena, &out))
            code = mor_fail(error, MOR_SYSTEM, "out of memory, or a tree without mass matrix");
        if (!code) code = mor_fclib_write(path, &out, title, error);
    } else if (!code) code = write_condensed(path, s, bias, title, arena, error);
    mor_arena_destroy(arena);
    return code;
}
