/* HDF5 files from outside that are whole but not as expected: each dataset, group and attribute of a recording, of
 * problems, of a stored problem, of a trace and of a sweep's results is taken away, gets other sizes, another type or
 * other numbers. The reader gives what there is, or a sentence that names the file or the step. A ninth of all changes
 * of large files; MOREAU_LONG=1: all. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <hdf5.h>

#include "common/command.h"
#include "faults/stored.h"
#include "io/bpmd/bpmd.h"
#include "io/hdf5/trace_file.h"
#include "io/fclib/fclib.h"
#include "io/recording/recording.h"
#include "io/text/text_file.h"
#include "lab/measured.h"
#include "lab/sweep.h"
#include "plot/figure.h"
#include "plot/series.h"
#include "serve/frame.h"
#include "serve/problem_view.h"

/* ------------------------------------------------------------------------------- objects of a file */

enum { MOST = 2000, NUMBERS = 1 << 18 };

static struct object {
    char path[200], attribute[64];
} objects[MOST];
static int object_count;

static herr_t note_attribute(hid_t at, const char* name, const H5A_info_t* info, void* path)
{
    (void)at, (void)info;
    if (object_count < MOST) {
        snprintf(objects[object_count].path, sizeof objects->path, "%s", (const char*)path);
        snprintf(objects[object_count++].attribute, sizeof objects->attribute, "%s", name);
    }
    return 0;
}

static herr_t note_object(hid_t root, const char* name, const H5L_info_t* info, void* user)
{
    (void)info, (void)user;
    char path[200];
    snprintf(path, sizeof path, "/%s", strcmp(name, ".") == 0 ? "" : name);
    if (path[1] && object_count < MOST)
        objects[object_count++] = (struct object){ .attribute = "" },
        memcpy(objects[object_count - 1].path, path, sizeof path);
    hsize_t n = 0;
    hid_t at = H5Oopen(root, name, H5P_DEFAULT);
    H5Aiterate2(at, H5_INDEX_NAME, H5_ITER_INC, &n, note_attribute, path);
    H5Oclose(at);
    return 0;
}

static void list_objects(const char* path)
{
    object_count = 0;
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    assert_true(file >= 0);
    note_object(file, ".", NULL, NULL);
    H5Lvisit(file, H5_INDEX_NAME, H5_ITER_INC, note_object, NULL);
    H5Fclose(file);
    assert_true(object_count > 2 && object_count < MOST);
}

/* ------------------------------------------------------------------------------- what is done to them */

enum way { GONE, GROUP, SHORTER, EMPTY, LONGER, WIDER, FLAT, TEXT, FIRST, LAST, NONE_OF, LARGE, ZERO, VAST, WAYS };
static const char* const way_names[WAYS] = { "gone",      "a group",   "shorter", "empty",    "longer",
                                             "wider",     "flat",      "text",    "first -1", "last -1",
                                             "no number", "first 1e9", "all 0",   "all 1e300" };

static void write_text(hid_t file, const char* path)
{
    hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR);
    H5Tset_size(type, 6);
    hid_t set = H5Dcreate2(file, path, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, "hello");
    H5Dclose(set), H5Sclose(space), H5Tclose(type);
}

/* The same numbers with other sizes. */
static void resize(hid_t file, const char* path, enum way way, int rank, hsize_t* dims, hid_t type, double* x, size_t n)
{
    hsize_t rows = rank ? dims[0] : 1;
    if (way == SHORTER) rows = rows ? rows - 1 : 0;
    if (way == EMPTY) rows = 0;
    if (way == LONGER) rows = 2 * rows + 1;
    if (rank) dims[0] = rows;
    if (way == WIDER && rank > 1) dims[rank - 1]++;
    if (way == WIDER && rank < 2) dims[0] = rows, dims[1] = 3, rank = 2;
    if (way == FLAT) dims[0] = n, rank = rank == 1 ? 0 : 1;
    for (size_t i = n; i < 2 * n + 8 && i < NUMBERS; i++) x[i] = n ? x[i % n] : 0.0;
    H5Ldelete(file, path, H5P_DEFAULT);
    hid_t space = rank ? H5Screate_simple(rank, dims, NULL) : H5Screate(H5S_SCALAR);
    hid_t set = H5Dcreate2(file, path, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    if (H5Sget_simple_extent_npoints(space) <= NUMBERS)
        H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, x);
    H5Dclose(set), H5Sclose(space);
}

/* False: this cannot be done to this object. */
static bool change_set(hid_t file, const char* path, enum way way)
{
    static double x[NUMBERS];
    hid_t set = H5Dopen2(file, path, H5P_DEFAULT);
    if (set < 0) return false;
    hid_t space = H5Dget_space(set), type = H5Dget_type(set);
    hsize_t dims[8] = { 0 };
    int rank = H5Sget_simple_extent_dims(space, dims, NULL);
    size_t n = (size_t)H5Sget_simple_extent_npoints(space);
    bool numbers = H5Tget_class(type) != H5T_STRING && n < NUMBERS / 4;
    bool can = numbers && rank < 5 && H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, x) >= 0;
    bool whole = H5Tget_class(type) == H5T_INTEGER;
    if (can && way < FIRST) {
        H5Dclose(set);
        resize(file, path, way, rank, dims, type, x, n);
    } else if (can && n > 0) {
        for (size_t i = 0; i < n; i++) {
            if (way == FIRST && i == 0) x[i] = -1.0;
            if (way == LAST && i == n - 1) x[i] = -1.0;
            if (way == NONE_OF) x[i] = whole ? -2147483648.0 : NAN;
            if (way == LARGE && i == 0) x[i] = 1e9;
            if (way == ZERO) x[i] = 0.0;
            if (way == VAST) x[i] = whole ? 2147483647.0 : 1e300;
        }
        H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, x);
        H5Dclose(set);
    } else {
        can = false;
        H5Dclose(set);
    }
    H5Sclose(space), H5Tclose(type);
    return can;
}

static bool change_attribute(hid_t file, const struct object* o, enum way way)
{
    if (way != GONE && way != TEXT && way != FIRST && way != VAST) return false;
    H5Adelete_by_name(file, o->path, o->attribute, H5P_DEFAULT);
    if (way == GONE) return true;
    hid_t type = H5Tcopy(way == TEXT ? H5T_C_S1 : way == FIRST ? H5T_NATIVE_INT : H5T_NATIVE_DOUBLE);
    if (way == TEXT) H5Tset_size(type, 6);
    hid_t space = H5Screate(H5S_SCALAR);
    hid_t a = H5Acreate_by_name(file, o->path, o->attribute, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Awrite(a, type,
             way == TEXT    ? (const void*)"hello"
             : way == FIRST ? (const void*)&(int){ -1 }
                            : &(double){ 1e300 });
    H5Aclose(a), H5Sclose(space), H5Tclose(type);
    return true;
}

static bool change(const char* path, const struct object* o, enum way way)
{
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    assert_true(file >= 0);
    bool done = true;
    if (o->attribute[0]) {
        done = change_attribute(file, o, way);
    } else if (way == GONE || way == GROUP || way == TEXT) {
        H5Ldelete(file, o->path, H5P_DEFAULT);
        if (way == GROUP) H5Gclose(H5Gcreate2(file, o->path, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
        if (way == TEXT) write_text(file, o->path);
    } else {
        done = change_set(file, o->path, way);
    }
    H5Fclose(file);
    return done;
}

/* ------------------------------------------------------------------------------- the readers */

static mor_code look_at_recording(const mor_recording* r, mor_error* error)
{
    const mor_recording_info* info = mor_recording_get_info(r);
    mor_bytes bytes = { 0 };
    mor_view_frame frame = { 0 };
    char* text = NULL;
    size_t length = 0;
    FILE* memory = open_memstream(&text, &length);
    mor_code code = mor_view_describe_recording(memory, r, error);
    fclose(memory), free(text);
    if (!code) code = mor_view_series(&bytes, r, 100, error);
    if (!code && info->bodies > 0) code = mor_view_body(&bytes, r, 0, 100, error);
    if (!code) code = mor_view_frame_create(&frame, info->bodies, error);
    for (int k = 0; k < info->frames && !code; k++) code = mor_view_frame_read(&frame, r, k, error);
    mor_view_frame_free(&frame);
    mor_bytes_free(&bytes);
    return code;
}

static mor_code read_recording(const char* path, mor_error* error)
{
    static const char* const quantities[] = {
        "velocity:box", "energy", "contact-forces", "status", "joints", "impulses"
    };
    mor_recording* r = mor_recording_open(path, error);
    if (!r) return error->code;
    mor_code code = look_at_recording(r, error);
    for (size_t i = 0; i < sizeof quantities / sizeof *quantities; i++) {
        mor_figure* figure = calloc(1, sizeof *figure);
        mor_error own = { 0 };
        mor_plot_title(figure, &r, 1);
        if (mor_plot_add(figure, &r, 1, quantities[i], &own) == MOR_SYSTEM && !code) *error = own, code = own.code;
        mor_figure_clear(figure);
        free(figure);
    }
    mor_recording_close(r);
    return code;
}

static mor_code read_problems(const char* path, mor_error* error)
{
    mor_bpmd* file = mor_bpmd_open(path, error);
    if (!file) return error->code;
    mor_code code = MOR_OK;
    mor_world_destroy(mor_bpmd_shapes(file, NULL));
    for (int k = 0; k < mor_bpmd_count(file) && !code; k++) {
        mor_bpmd_frame frame;
        if ((code = mor_bpmd_read(file, k, &frame, error))) break;
        mor_world* w = mor_bpmd_world(&frame, NULL, NULL, error);
        if (!w) code = error->code;
        mor_world_destroy(w);
        mor_bpmd_frame_clear(&frame);
    }
    mor_bpmd_free(file);
    if (code) return code;
    mor_recording* r = mor_view_open(path, 0, NULL, NULL, error);
    if (!r) return error->code;
    mor_recording_close(r);
    return MOR_OK;
}

static mor_code read_problem(const char* path, mor_error* error)
{
    mor_problem_file file = { 0 };
    mor_code code = mor_problem_load(path, NULL, &file, error);
    mor_problem_file_free(&file);
    return code;
}

static mor_code read_trace(const char* path, mor_error* error)
{
    mor_trace_record* records = NULL;
    int count = 0;
    mor_code code = mor_trace_file_read(path, &records, &count, error);
    mor_trace_records_free(records, count);
    return code;
}

/* The results of a sweep, put together with themselves: the second time all values must be the same. */
static mor_code read_sweep(const char* path, mor_error* error)
{
    mor_sweep sweep;
    const char* files[2] = { path, path };
    mor_code code = mor_sweep_merge(&sweep, NULL, files, 2, error);
    mor_sweep_end(&sweep);
    return code;
}

/* Numbers of a recording's root as measured motion. */
static mor_code read_measured(const char* path, mor_error* error)
{
    mor_measured table;
    mor_code code = mor_measured_read(&table, path, error);
    mor_measured_free(&table);
    return code;
}

/* ------------------------------------------------------------------------------- all of them */

static void put_bytes(const char* path, const char* bytes, size_t size)
{
    FILE* f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, size, f), size);
    fclose(f);
}

static void alter(const char* name, mor_code (*read)(const char*, mor_error*))
{
    char good[256], bad[256], *bytes;
    size_t size;
    mor_error error = { 0 };
    snprintf(good, sizeof good, "%s", command_at(name));
    snprintf(bad, sizeof bad, "%s", command_at("altered.h5"));
    if (read(good, &error)) fail_msg("%s", error.text);
    assert_int_equal(mor_text_read(good, (size_t)1 << 26, &bytes, &size, &error), MOR_OK);
    list_objects(good);
    H5E_auto2_t print;
    void* user;
    H5Eget_auto2(H5E_DEFAULT, &print, &user);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    int tried = 0, refused = 0, wrong = 0, every = getenv("MOREAU_LONG") || object_count < 40 ? 1 : 9;
    for (int i = 0; i < object_count; i++)
        for (int way = 0; way < WAYS; way++) {
            if ((i + way) % every) continue;
            put_bytes(bad, bytes, size);
            if (!change(bad, &objects[i], (enum way)way)) continue;
            error = (mor_error){ 0 };
            mor_code code = read(bad, &error);
            tried++, refused += code != MOR_OK;
            if (code == MOR_OK ||
                (code == MOR_BAD_INPUT && (strstr(error.text, "altered.h5") || strstr(error.text, "mbs_frame"))))
                continue;
            print_error("%s:%s %s, %s: code %d, '%s'\n", name, objects[i].path, objects[i].attribute, way_names[way],
                        (int)code, error.text);
            wrong++;
        }
    H5Eset_auto2(H5E_DEFAULT, print, user);
    free(bytes);
    printf("    %s: %d objects, %d changes, %d refused\n", name, object_count, tried, refused);
    assert_int_equal(wrong, 0);
    assert_true((refused > 0 || read == read_measured) && tried > object_count / every);
}

static void recordings(void** state) { (void)state, alter("rec.h5", read_recording); }
static void recordings_of_robots(void** state) { (void)state, alter("arm.h5", read_recording); }
static void problems(void** state) { (void)state, alter("frames.h5", read_problems); }
static void problems_with_robots(void** state) { (void)state, alter("trees.h5", read_problems); }
static void problems_in_the_names_of_the_paper(void** state) { (void)state, alter("paper.h5", read_problems); }
static void stored_problems(void** state) { (void)state, alter("fclib.hdf5", read_problem); }
static void traces(void** state) { (void)state, alter("trace.h5", read_trace); }
static void sweeps(void** state) { (void)state, alter("sweep.h5", read_sweep); }
static void measured_motion(void** state) { (void)state, alter("sweep.h5", read_measured); }

static int make_files(void** state)
{
    static const char* const lines[] = {
        "cp -r $S/scenes/control $S/scenes/motions $S/scenes/robots $S/scenes/mechanisms .",
        "printf 'time,x\\n0,1\\n' > motion.csv",
        "cp $S/tests/fuzz/corpus/png/hills.png .",
        "printf '<mujoco><asset><texture name=\"w\" type=\"2d\" file=\"hills.png\"/><material name=\"a\" "
        "texture=\"w\"/></asset><worldbody><geom type=\"plane\" size=\"1 1 1\"/><body name=\"box\" pos=\"0 0 0.1\">"
        "<freejoint/><geom type=\"box\" size=\"0.1 0.1 0.1\" material=\"a\"/></body></worldbody></mujoco>' > box.xml",
        "$M run box.xml --steps 3 --quiet --record rec.h5",
        "$M run mechanisms/arm_on_floor.yaml --steps 2 --quiet --record arm.h5",
        "$M run $S/scenes/benchmark/s4_slide.yaml --steps 2 --quiet --bpmd frames.h5 --bpmd-iterations 5",
        "$M run control/plate_arm.yaml --steps 2 --quiet --bpmd trees.h5",
        "$M run $S/scenes/benchmark/s4_slide.yaml --steps 2 --quiet --bpmd paper.h5 --bpmd-names paper",
        "printf 'moreau: 1\\ntime: { step: 0.01, end: 0.03 }\\nbodies:\\n  - { name: b, shape: { sphere: 0.1 }, mass: "
        "1 }\\n' > b.yaml",
        "printf 'moreau-sweep: 1\\nscenes: [b.yaml]\\nparameters:\\n  - { path: time.end, values: [0.03, 1e6, 0.02] "
        "}\\n "
        " - { path: "
        "method.formulation, values: [ncp, st] }\\nmeasures:\\n  - { name: z, path: bodies.b.position.2, over: min "
        "}\\n  - { path: "
        "energy.final }\\n' > plan.yaml",
        "$M sweep plan.yaml --jobs 1 --quiet --time-limit 0.3 -o sweep.h5; test -f sweep.h5",
    };
    if (command_open(state)) return -1;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        if (command_run(lines[i]) != 0) {
            print_error("%s\n%s%s", lines[i], command_output, command_errors);
            return -1;
        }
    mor_error error = { 0 };
    snprintf(faults_folder, sizeof faults_folder, "%s", command_at(""));
    if (faults_stored(&error) == MOR_OK) return 0;
    print_error("%s\n", error.text);
    return -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recordings),
        cmocka_unit_test(recordings_of_robots),
        cmocka_unit_test(problems),
        cmocka_unit_test(problems_with_robots),
        cmocka_unit_test(problems_in_the_names_of_the_paper),
        cmocka_unit_test(stored_problems),
        cmocka_unit_test(traces),
        cmocka_unit_test(sweeps),
        cmocka_unit_test(measured_motion),
    };
    return cmocka_run_group_tests(tests, make_files, command_close);
}
