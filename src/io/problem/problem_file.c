/* Problem files: which format, which kind; writing. The text format is described in problem_text.c. */
#include "io/problem/problem_file.h"
#include "base/number.h"
#include "io/problem/problem_text.h"
#include "io/text/output.h"
#include "io/text/text_file.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "linalg/sparse.h"

#define LARGEST_TEXT ((size_t)1 << 34) /* bytes */

/* ---------------------------------------------------------------------------- the file */

static const mor_form forms[] = { MOR_GFC_ROLLING, MOR_GFC2D, MOR_GFC3D, MOR_FC_ROLLING,
                                  MOR_FC2D,        MOR_FC3D,  MOR_MLCP,  MOR_LCP };
enum { FORMS = sizeof forms / sizeof *forms };

mor_form mor_form_of_kind(const char* kind)
{
    for (int k = 0; k < FORMS; k++)
        if (strcasecmp(kind, mor_form_name(forms[k])) == 0) return forms[k];
    return (mor_form)0;
}

static mor_form guess_form(const char* path, const char* name)
{
    if (name > path + 1) {
        const char* end = name - 1;
        const char* start = end;
        while (start > path && start[-1] != '/') start--;
        for (int k = 0; k < FORMS; k++) {
            const char* word = mor_form_name(forms[k]);
            if ((size_t)(end - start) == strlen(word) && strncasecmp(start, word, strlen(word)) == 0) return forms[k];
        }
    }
    for (int k = 0; k < FORMS; k++) {
        const char* word = mor_form_name(forms[k]);
        if (strncasecmp(name, word, strlen(word)) == 0) return forms[k];
    }
    return strstr(name, "_mlcp") ? MOR_MLCP : (mor_form)0;
}

static const char* base_name(const char* path)
{
    const char* slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

bool mor_is_hdf5(const char* path)
{
    static const unsigned char signature[8] = { 0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n' };
    return mor_file_begins(path, signature, sizeof signature);
}

void mor_problem_file_free(mor_problem_file* file)
{
    mor_arena_destroy(file->arena);
    *file = (mor_problem_file){ 0 };
}

static mor_code find_form(const char* path, const char* kind, mor_form* form, mor_error* error)
{
    *form = kind ? mor_form_of_kind(kind) : guess_form(path, base_name(path));
    if (*form) return MOR_OK;
    if (kind)
        return mor_fail(error, MOR_BAD_INPUT,
                        "unknown kind '%s'; known: lcp, mlcp, fc2d, fc3d, gfc2d, gfc3d, rfc3d, grfc3d", kind);
    return mor_fail(error, MOR_BAD_INPUT,
                    "%s: cannot tell the kind of problem from its name; give --kind lcp, mlcp, fc2d, fc3d, gfc2d, "
                    "gfc3d, rfc3d or grfc3d (`moreau solve`), or let the name begin with it",
                    path);
}

static mor_code read_text(const char* path, const char* kind, mor_problem_file* file, mor_error* error)
{
    char* text;
    size_t size;
    mor_code code = mor_text_read(path, LARGEST_TEXT, &text, &size, error);
    if (!code) code = find_form(path, kind, &file->problem.form, error);
    if (!code) code = mor_problem_parse(path, text, size, file, error);
    free(text);
    return code;
}

mor_code mor_problem_file_begin(mor_problem_file* file, mor_error* error)
{
    *file = (mor_problem_file){ .arena = mor_arena_create(NULL) };
    return file->arena ? MOR_OK : mor_fail(error, MOR_SYSTEM, "out of memory");
}

mor_code mor_problem_file_end(mor_problem_file* file, const char* path, mor_code code, mor_error* error)
{
    if (!code) {
        mor_error why = { 0 };
        code = mor_problem_check(&file->problem, &why);
        if (code) mor_fail(error, code, "%s: %s", path, why.text);
    }
    if (!code) {
        const char* name = base_name(path);
        char* copy = mor_arena_alloc(file->arena, strlen(name) + 1);
        if (copy) file->problem.name = strcpy(copy, name);
    } else mor_problem_file_free(file);
    return code;
}

mor_code mor_problem_read(const char* path, const char* kind, mor_problem_file* file, mor_error* error)
{
    mor_code code = mor_problem_file_begin(file, error);
    if (code) return code;
    if (mor_is_hdf5(path))
        code =
            mor_fail(error, MOR_BAD_INPUT, "%s: an HDF5 file; FCLIB problems are read by the library moreau-lab", path);
    else code = read_text(path, kind, file, error);
    return mor_problem_file_end(file, path, code, error);
}

/* -------------------------------------------------------------------------------- writing */

static void write_number(FILE* f, const char* before, double x)
{
    char text[40];
    mor_print_number(text, sizeof text, x);
    fprintf(f, "%s%s\n", before, text);
}

static void write_vector(FILE* f, int n, const double* x)
{
    for (int i = 0; i < n; i++) write_number(f, "", x[i]);
}

static void write_matrix(FILE* f, const mor_matrix* A)
{
    if (A->storage == MOR_DENSE) {
        fprintf(f, "0\n%d\n%d\n%d\t%d\n", A->rows, A->cols, A->rows, A->cols);
        for (size_t k = 0; k < (size_t)A->rows * A->cols; k++) write_number(f, "", A->x[k]);
        return;
    }
    int count = A->p[A->rows];
    fprintf(f, "2\n%d\n%d\n1\nCSparse\ntriplet: %d-by-%d, nzmax: %d nnz: %d\n", A->rows, A->cols, A->rows, A->cols,
            count, count);
    for (int i = 0; i < A->rows; i++)
        for (int k = A->p[i]; k < A->p[i + 1]; k++) {
            fprintf(f, "    %d %d", i, A->i[k]);
            write_number(f, " : ", A->x[k]);
        }
}

static void write_mlcp(FILE* f, const mor_problem* p)
{
    int equations = 0;
    for (int i = 0; i < p->size; i++) equations += p->lower && p->lower[i] == -INFINITY;
    fprintf(f, "1\n0\n%d\n%d\n", equations, p->size - equations);
#define KIND(i) (!(p->lower && p->lower[i] == -INFINITY))
    if (p->groups) {
        for (int g = 0; g <= p->group_count; g++) fprintf(f, "%d ", p->groups[g]);
        fprintf(f, "\n");
        for (int g = 0; g < p->group_count; g++) fprintf(f, "%d ", KIND(p->groups[g]));
    } else {
        fprintf(f, "0 ");
        for (int i = 1; i <= p->size; i++)
            if (i == p->size || KIND(i) != KIND(i - 1)) fprintf(f, "%d ", i);
        fprintf(f, "\n");
        for (int i = 1; i <= p->size; i++)
            if (i == p->size || KIND(i) != KIND(i - 1)) fprintf(f, "%d ", KIND(i - 1));
    }
#undef KIND
    fprintf(f, "\n");
    write_matrix(f, &p->A);
    write_vector(f, p->size, p->b);
}

mor_code mor_problem_write(const char* path, const mor_problem* p, mor_error* error)
{
    bool global = p->form & (MOR_GFC2D | MOR_GFC3D | MOR_GFC_ROLLING);
    bool contacts = global || p->form & (MOR_FC2D | MOR_FC3D | MOR_FC_ROLLING);
    if (!contacts && p->form != MOR_LCP && p->form != MOR_MLCP)
        return mor_fail(error, MOR_BAD_INPUT, "a problem of form %s has no text format", mor_form_name(p->form));
    if (p->A.storage == MOR_OPERATOR || p->M.storage == MOR_OPERATOR)
        return mor_fail(error, MOR_BAD_INPUT, "an operator cannot be written; its entries are not known");
    FILE* f = mor_output_open(path, error);
    if (!f) return MOR_SYSTEM;
    if (p->form == MOR_MLCP) write_mlcp(f, p);
    else if (!contacts) {
        fprintf(f, "%d\n", p->size);
        write_matrix(f, &p->A);
        write_vector(f, p->size, p->b);
    } else {
        fprintf(f, "%d\n%d\n", p->dim, p->contact_count);
        if (global) write_matrix(f, &p->M), write_matrix(f, &p->H), write_vector(f, p->M.rows, p->f);
        else write_matrix(f, &p->A);
        write_vector(f, p->size, p->b);
        write_vector(f, p->contact_count, p->mu);
        if (p->dim == 5) write_vector(f, p->contact_count, p->mu_roll);
    }
    return mor_output_close(f, path, true, error);
}
