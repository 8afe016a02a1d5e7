/* Problem files: reading back what was written, the stored set, and broken input of every kind. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "common/near.h"
#include "io/fclib/fclib.h"

static char folder[] = "/tmp/moreau_problem_XXXXXX";

static const char* place(const char* name)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void write_text(const char* name, const char* text, size_t length)
{
    FILE* f = fopen(place(name), "wb");
    assert_non_null(f);
    fwrite(text, 1, length, f);
    fclose(f);
}

static double entry(const mor_matrix* A, int i, int j)
{
    if (A->storage == MOR_DENSE) return A->x[i + (size_t)j * A->rows];
    for (int k = A->p[i]; k < A->p[i + 1]; k++)
        if (A->i[k] == j) return A->x[k];
    return 0.0;
}

static const char fc3d_blocks[] = "3\n1\n1\n3\n3\n1\n1\n1\n3\n3\n2\n1\n0 1\n0\n0\n1 2 3\n4 5 6\n7 8 9\n-1 -2 -3\n0.7\n";
static const char fc3d_sparse[] =
    "3 1\n2 3 3\n1\nCSparse Version 3\ntriplet: 3-by-3, nzmax: 9 nnz: 3\n 0 0 : 1\n 1 1 : 5\n 2 0 : 3\n"
    "-1 -2 -3 0.7";
static const char fc3d_columns[] =
    "3 1 2 3 3 2\nCSparse\n3-by-3, nzmax: 3 nnz: 3, 1-norm: 9\n    col 0 : locations 0 to 1\n      0 : 1\n"
    "      2 : 3\n    col 1 : locations 2 to 2\n      1 : 5\n    col 2 : locations 3 to 2\n-1 -2 -3 0.7";

static void the_three_storages_are_read(void** state)
{
    (void)state;
    const char* texts[] = { fc3d_blocks, fc3d_sparse, fc3d_columns };
    for (int k = 0; k < 3; k++) {
        mor_problem_file file;
        mor_error error = { 0 };
        write_text("fc3d_a.dat", texts[k], strlen(texts[k]));
        if (mor_problem_load(place("fc3d_a.dat"), NULL, &file, &error)) fail_msg("%s", error.text);
        assert_int_equal(file.problem.form, MOR_FC3D);
        assert_near(entry(&file.problem.A, 0, 0), 1.0, 0.0);
        assert_near(entry(&file.problem.A, 2, 0), 3.0, 0.0); /* column-major blocks */
        assert_near(entry(&file.problem.A, 1, 1), 5.0, 0.0);
        assert_near(file.problem.b[2], -3.0, 0.0);
        assert_near(file.problem.mu[0], 0.7, 0.0);
        mor_problem_file_free(&file);
    }
}

static void what_is_written_is_read_back_to_the_bit(void** state)
{
    (void)state;
    enum { N = 6, M = 4 };
    double A[N * N], Mass[M * M], H[M * N], b[N], f[M], mu[3] = { 0.1, 0.2, 1.0 / 3.0 }, lower[N];
    mor_rng rng = { 31 };
    for (int k = 0; k < N * N; k++) A[k] = mor_rng_uniform(&rng);
    for (int k = 0; k < M * M; k++) Mass[k] = mor_rng_uniform(&rng);
    for (int k = 0; k < M * N; k++) H[k] = k % 3 ? mor_rng_uniform(&rng) : 0.0;
    for (int k = 0; k < N; k++) b[k] = mor_rng_uniform(&rng), lower[k] = k < 2 || k == 4 ? -INFINITY : 0.0;
    for (int k = 0; k < M; k++) f[k] = mor_rng_uniform(&rng);
    mor_problem p = { .size = N, .b = b, .f = f, .lower = lower, .mu = mu };
    p.A = (mor_matrix){ .storage = MOR_DENSE, .rows = N, .cols = N, .x = A };
    p.M = (mor_matrix){ .storage = MOR_DENSE, .rows = M, .cols = M, .x = Mass };
    p.H = (mor_matrix){ .storage = MOR_DENSE, .rows = M, .cols = N, .x = H };
    mor_form forms[] = { MOR_LCP, MOR_MLCP, MOR_FC2D, MOR_FC3D, MOR_GFC2D };
    for (int k = 0; k < 5; k++) {
        char name[64];
        mor_problem_file file;
        mor_error error = { 0 };
        p.form = forms[k];
        p.dim = p.form == MOR_FC3D ? 3 : 2;
        p.contact_count = N / p.dim;
        snprintf(name, sizeof name, "%s_x.dat", mor_form_name(p.form));
        assert_int_equal(mor_problem_write(place(name), &p, &error), MOR_OK);
        if (mor_problem_load(place(name), NULL, &file, &error)) fail_msg("%s", error.text);
        assert_int_equal(file.problem.form, p.form);
        assert_int_equal(file.problem.size, N);
        assert_memory_equal(file.problem.b, b, sizeof b);
        if (p.form == MOR_GFC2D) assert_memory_equal(file.problem.H.x, H, sizeof H);
        else assert_memory_equal(file.problem.A.x, A, sizeof A);
        if (p.form == MOR_MLCP) assert_memory_equal(file.problem.lower, lower, sizeof lower);
        mor_problem_file_free(&file);
    }
}

static void every_truncation_is_an_error_and_no_crash(void** state)
{
    (void)state;
    const char* texts[] = { fc3d_blocks, fc3d_sparse, fc3d_columns };
    for (int k = 0; k < 3; k++)
        for (size_t length = 0; length + 3 < strlen(texts[k]); length++) {
            mor_problem_file file;
            mor_error error = { 0 };
            write_text("fc3d_t.dat", texts[k], length);
            assert_int_equal(mor_problem_load(place("fc3d_t.dat"), NULL, &file, &error), MOR_BAD_INPUT);
            assert_non_null(strstr(error.text, "fc3d_t.dat"));
        }
}

static void damaged_files_are_errors_or_valid_problems_but_never_crash(void** state)
{
    (void)state;
    const char* texts[] = { fc3d_blocks, fc3d_sparse, fc3d_columns };
    mor_rng rng = { 77 };
    static const char letters[] = "0123456789-+.eE :x\n\t\0nai";
    for (int trial = 0; trial < 1500; trial++) {
        char text[400];
        const char* from = texts[trial % 3];
        size_t n = strlen(from);
        memcpy(text, from, n);
        for (int k = 0; k <= trial % 4; k++)
            text[(size_t)(mor_rng_uniform(&rng) * (double)n)] =
                letters[(int)(mor_rng_uniform(&rng) * (sizeof letters - 1))];
        mor_problem_file file;
        mor_error error = { 0 };
        write_text("fc3d_d.dat", text, n);
        if (mor_problem_load(place("fc3d_d.dat"), NULL, &file, &error) == MOR_OK) mor_problem_file_free(&file);
        else assert_true(strlen(error.text) > 10);
    }
}

static void messages_name_the_place_and_help(void** state)
{
    (void)state;
    const struct {
        const char *name, *kind, *text, *expected;
    } cases[] = {
        { "a.dat", NULL, "1 2 3", "--kind" },
        { "a.dat", "lpc", "1 2 3", "unknown kind" },
        { "lcp_a.dat", NULL, "", "truncated" },
        { "lcp_a.dat", NULL, "2\n0 2 2 2 2\n1 0 0 x\n1 1", "lcp_a.dat:3:7: this is not a number" },
        { "lcp_a.dat", NULL, "2\n0 2 2 2 2\n1 0 0 nan\n1 1", "must be finite" },
        { "lcp_a.dat", NULL, "2\n0 3 3 3 3\n1 0 0 1 1 1 1 1 1\n1 1", "2 x 2 was expected" },
        { "lcp_a.dat", NULL, "2\n7 2 2 2 2\n1 0 0 1\n1 1", "storage of a matrix" },
        { "lcp_a.dat", NULL, "1000000000 0 1000000000 1000000000 1000000000 1000000000 1", "truncated" },
        { "fc2d_a.dat", NULL, "3 1 0 3 3 3 3 1 0 0 0 1 0 0 0 1 -1 0 0 0.5", "is the kind right" },
        { "fc3d_a.dat", NULL, "3 1 0 3 3 3 3 1 0 0 0 1 0 0 0 1 -1 0 0 -0.5", "must not be negative" },
        { "mlcp_a.dat", NULL, "0 0 1 1 1 1", "storage flag" },
        { "mlcp_a.dat", NULL, "1 0 1 1 0 2 5", "kind of a block" },
        { "fc3d_a.dat", NULL, "3 1 2 3 3 1\nx\ntriplet: 3-by-3, nzmax: 1 nnz: 1\n 9 0 : 1\n1 1 1 1",
          "row of an entry is 9" },
        { "fc3d_a.dat", NULL, "3 1 2 3 3 1\nno head here 1 1 1 1", "head of a sparse matrix" },
        { "x.hdf5", NULL, "\x89HDF\r\n\x1a\n and then nothing", "HDF5 cannot open" },
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        mor_problem_file file;
        mor_error error = { 0 };
        write_text(cases[k].name, cases[k].text, strlen(cases[k].text));
        assert_int_equal(mor_problem_load(place(cases[k].name), cases[k].kind, &file, &error), MOR_BAD_INPUT);
        if (!strstr(error.text, cases[k].expected))
            fail_msg("case %d: '%s' lacks '%s'", (int)k, error.text, cases[k].expected);
    }
    mor_problem_file file;
    mor_error error = { 0 };
    assert_int_equal(mor_problem_load("/nowhere/lcp_a.dat", NULL, &file, &error), MOR_BAD_INPUT);
}

static void stored_global_problems_come_from_both_formats(void** state)
{
    (void)state;
    mor_problem_file text, hdf;
    mor_error error = { 0 };
    const char* base = MOREAU_SOURCE_DIR "/../shared/data/problems/grfc3d/";
    char a[512], b[512];
    snprintf(a, sizeof a, "%sGRFC3D_Chute-ndof-768-nc-4-3.dat", base);
    snprintf(b, sizeof b, "%sChute-ndof-768-nc-4-3.hdf5", base);
    if (access(a, R_OK) != 0) {
        print_message("SKIP: %s is not here\n", a);
        skip();
    }
    if (mor_problem_load(a, NULL, &text, &error) || mor_problem_load(b, NULL, &hdf, &error)) fail_msg("%s", error.text);
    assert_int_equal(text.problem.form, MOR_GFC_ROLLING);
    assert_int_equal(hdf.problem.form, MOR_GFC_ROLLING);
    assert_int_equal(text.problem.size, hdf.problem.size);
    assert_int_equal(text.problem.M.rows, hdf.problem.M.rows);
    for (int k = 0; k < text.problem.size; k++) assert_near(text.problem.b[k], hdf.problem.b[k], 1e-5);
    for (int k = 0; k < text.problem.contact_count; k++)
        assert_near(text.problem.mu_roll[k], hdf.problem.mu_roll[k], 1e-12);
    mor_problem_file_free(&text);
    mor_problem_file_free(&hdf);
}

static int make_folder(void** state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void** state)
{
    (void)state;
    char command[300];
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_three_storages_are_read),
        cmocka_unit_test(what_is_written_is_read_back_to_the_bit),
        cmocka_unit_test(every_truncation_is_an_error_and_no_crash),
        cmocka_unit_test(damaged_files_are_errors_or_valid_problems_but_never_crash),
        cmocka_unit_test(messages_name_the_place_and_help),
        cmocka_unit_test(stored_global_problems_come_from_both_formats),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
