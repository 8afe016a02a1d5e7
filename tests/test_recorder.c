/* Recordings: what goes in comes out, while the file is written, after kill -9, when the disk is full,
 * and when the file is not what it should be. The frames are closed formulas of the frame number, so
 * that any frame read back can be checked without knowing which run wrote it. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/worlds.h"
#include "io/recording/frames.h"
#include "io/hdf5/h5.h"
#include "io/recording/recording.h"
#include "moreau/lab.h"

#define BODIES 5

/* Counts the allocations of the whole program, HDF5 included. */
#if defined(__SANITIZE_ADDRESS__) || !defined(__GLIBC__)
#define COUNTED 0
static long allocations;
#else
#define COUNTED 1
static long allocations;
void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* block, size_t size);
void* malloc(size_t size)
{
    allocations++;
    return __libc_malloc(size);
}
void* calloc(size_t count, size_t size)
{
    allocations++;
    return __libc_calloc(count, size);
}
void* realloc(void* block, size_t size)
{
    allocations++;
    return __libc_realloc(block, size);
}
#endif

static char folder[] = "/tmp/moreau-test-recorder-XXXXXX";
static char path[256];

static const char* in_folder(const char* name)
{
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static int make_folder(void** state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void** state)
{
    (void)state;
    char command[320];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

/* ------------------------------------------------------------------------- a made-up run */

static double pose_at(int frame, int body, int c) { return sin(0.1 * frame + body) + 1000.0 * c; }
static double velocity_at(int frame, int body, int c) { return cos(0.1 * frame + body) - 1000.0 * c; }
static int contacts_at(int frame) { return frame % 4; }
static double impulse_at(int frame, int k, int c) { return frame + 0.25 * k + 0.0625 * c; }

static mor_frames* create_with(const char* file, bool contacts, mor_error* error)
{
    static mor_frames_body bodies[BODIES];
    for (int b = 0; b < BODIES; b++) {
        memset(&bodies[b], 0, sizeof bodies[b]);
        snprintf(bodies[b].name, sizeof bodies[b].name, "body_%d", b);
        bodies[b].kind = b == 0 ? MOR_FIXED : MOR_DYNAMIC;
        bodies[b].mass = (mor_mass){ b, { 0.1, 0.2, 0.3 }, { { { 1, 0, 0 }, { 0, 2, 0 }, { 0, 0, 3 } } } };
    }
    static mor_vec3 corners[4] = { { 0, 0, 0 }, { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } };
    static int face_start[5] = { 0, 3, 6, 9, 12 }, loops[12] = { 0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3 };
    static const mor_polyhedron tetrahedron = {
        .vertex_count = 4, .face_count = 4, .vertices = corners, .face_start = face_start, .face_vertices = loops
    };
    static const mor_geometry ball = {
        .kind = MOR_SPHERE, .dimension = 3, .size = { 0.5 }, .radius = 0.5, .label = "sphere"
    };
    static const mor_geometry solid = {
        .kind = MOR_POLYHEDRON, .dimension = 3, .polyhedron = &tetrahedron, .radius = 1.0, .label = "hull"
    };
    const mor_frames_shape shapes[] = { { 0, &ball, mor_pose_identity() },
                                        { 1, &solid, { { 1, 2, 3 }, { 1, 0, 0, 0 } } },
                                        { 2, &solid, mor_pose_identity() } };
    const mor_frames_def def = {
        .scene_name = "made up",
        .scene_text = "scene: made up\n# \xc3\xa9\n",
        .formulation = "st",
        .solver = "pgs",
        .collision = "manifold",
        .integrator = "euler",
        .stabilisation = "none",
        .step = 0.01,
        .dimension = 3,
        .gravity = { 0, 0, -9.81 },
        .every = 1,
        .contacts = contacts,
        .body_count = BODIES,
        .bodies = bodies,
        .shape_count = 3,
        .shapes = shapes,
    };
    return mor_frames_create(file, &def, error);
}

static mor_frames* create(const char* file)
{
    mor_error error = { 0 };
    mor_frames* frames = create_with(file, true, &error);
    if (!frames) print_error("%s\n", error.text);
    return frames;
}

static void put(mor_frames* frames, int i)
{
    double *pose, *velocity;
    mor_frame* f = mor_frames_begin(frames, contacts_at(i), &pose, &velocity);
    f->step_number = i;
    f->time = 0.01 * i;
    f->step_size = 0.01;
    f->kinetic = 2.0 * i;
    f->potential = -i;
    f->total = i;
    f->iterations = 7 * i;
    f->residual = exp(-i);
    f->timing.solve = 1e-6 * i;
    for (int b = 0; b < BODIES; b++) {
        for (int c = 0; c < 7; c++) pose[7 * b + c] = pose_at(i, b, c);
        for (int c = 0; c < 6; c++) velocity[6 * b + c] = velocity_at(i, b, c);
    }
    for (int k = 0; k < contacts_at(i); k++) {
        mor_contact contact = { .normal = { 0, 0, 1 },
                                .gap = -1e-3 * k,
                                .feature = UINT64_C(1) << 60,
                                .impulse = { impulse_at(i, k, 0), impulse_at(i, k, 1), impulse_at(i, k, 2) } };
        contact.normal_impulse = contact.impulse.z;
        mor_frames_contact(frames, &contact, (int[2]){ k, k + 1 });
        f->normal_total += contact.normal_impulse;
    }
    mor_frames_end(frames);
}

/* Every number of every frame is what `put` wrote. */
static void check_all_frames(mor_recording* r)
{
    mor_error error = { 0 };
    const int n = mor_recording_get_info(r)->frames;
    double* v = calloc((size_t)n * 7 + 1, sizeof *v);
    assert_int_equal(mor_recording_series(r, "/time", v, &error), MOR_OK);
    for (int i = 0; i < n; i++) assert_true(v[i] == 0.01 * i);
    assert_int_equal(mor_recording_series(r, "/energy/kinetic", v, &error), MOR_OK);
    for (int i = 0; i < n; i++) assert_true(v[i] == 2.0 * i);
    assert_int_equal(mor_recording_series(r, "/solver/iterations", v, &error), MOR_OK);
    for (int i = 0; i < n; i++) assert_true(v[i] == 7.0 * i);
    assert_int_equal(mor_recording_series(r, "/solver/residual", v, &error), MOR_OK);
    for (int i = 0; i < n; i++) assert_true(v[i] == exp(-i));
    assert_int_equal(mor_recording_series(r, "/timing/solve", v, &error), MOR_OK);
    for (int i = 0; i < n; i++) assert_true(v[i] == 1e-6 * i);
    assert_int_equal(mor_recording_contact_totals(r, v, NULL, NULL, &error), MOR_OK);
    for (int i = 0; i < n; i++) {
        double sum = 0;
        for (int k = 0; k < contacts_at(i); k++) sum += impulse_at(i, k, 2);
        assert_true(v[i] == sum);
    }
    for (int b = 0; b < BODIES; b++) {
        assert_int_equal(mor_recording_body(r, b, v, NULL, &error), MOR_OK);
        for (int i = 0; i < n; i++)
            for (int c = 0; c < 7; c++) assert_true(v[7 * i + c] == pose_at(i, b, c));
        assert_int_equal(mor_recording_body(r, b, NULL, v, &error), MOR_OK);
        for (int i = 0; i < n; i++)
            for (int c = 0; c < 6; c++) assert_true(v[6 * i + c] == velocity_at(i, b, c));
        /* contact k acts between bodies k and k + 1: plus on k + 1, minus on k */
        assert_int_equal(mor_recording_body_impulse(r, b, v, &error), MOR_OK);
        for (int i = 0; i < n; i++)
            for (int c = 0; c < 3; c++) {
                double p = 0;
                if (b < contacts_at(i)) p -= impulse_at(i, b, c);
                if (b > 0 && b - 1 < contacts_at(i)) p += impulse_at(i, b - 1, c);
                assert_true(fabs(v[3 * i + c] - p) < 1e-9);
            }
    }
    free(v);
}

static mor_recording* open_recording(const char* file)
{
    mor_error error = { 0 };
    mor_recording* r = mor_recording_open(file, &error);
    if (!r) print_error("%s\n", error.text);
    assert_non_null(r);
    return r;
}

/* ---------------------------------------------------------------------------------- tests */

static void what_is_written_is_read_back(void** state)
{
    (void)state;
    mor_frames* frames = create(in_folder("plain.h5"));
    assert_non_null(frames);
    for (int i = 0; i < 3000; i++) put(frames, i);
    mor_error error = { 0 };
    assert_int_equal(mor_frames_close(frames, &error), MOR_OK);

    mor_recording* r = open_recording(path);
    const mor_recording_info* info = mor_recording_get_info(r);
    assert_int_equal(info->frames, 3000);
    assert_int_equal(info->bodies, BODIES);
    assert_false(info->live);
    assert_string_equal(info->scene_name, "made up");
    assert_string_equal(info->solver, "pgs");
    assert_true(info->gravity.z == -9.81 && info->step == 0.01);
    assert_string_equal(mor_recording_scene_text(r, &error), "scene: made up\n# \xc3\xa9\n");
    assert_int_equal(mor_recording_find_body(r, "body_3"), 3);
    assert_int_equal(mor_recording_find_body(r, "nobody"), -1);
    assert_int_equal(mor_recording_body_kind(r, 0), MOR_FIXED);
    check_all_frames(r);

    int rows, columns;
    double* t = mor_recording_table(r, "/shapes/vertex", &rows, &columns, &error);
    assert_int_equal(rows, 8);
    assert_int_equal(columns, 3);
    assert_true(t[3 * 5 + 0] == 1.0); /* second tetrahedron's second corner */
    free(t);
    t = mor_recording_table(r, "/shapes/loop_start", &rows, &columns, &error);
    assert_int_equal(rows, 8);
    assert_true(t[7] == 21.0);
    free(t);
    t = mor_recording_table(r, "/bodies/inertia", &rows, &columns, &error);
    assert_int_equal(columns, 9);
    assert_true(t[9 + 4] == 2.0);
    free(t);
    mor_recording_close(r);
}

static herr_t find_in_page(hid_t root, const char* name, const H5O_info_t* info, void* page)
{
    (void)root;
    char word[128];
    snprintf(word, sizeof word, "`/%s`", name);
    if (info->type != H5O_TYPE_DATASET || strstr(page, word)) return 0;
    print_error("docs/recording.md does not tell about %s\n", word);
    return 1;
}

static void the_manual_names_every_dataset(void** state)
{
    (void)state;
    mor_frames* frames = create(in_folder("documented.h5"));
    put(frames, 0);
    assert_int_equal(mor_frames_close(frames, NULL), MOR_OK);
    static char page[32768];
    FILE* file = fopen(MOREAU_SOURCE_DIR "/docs/recording.md", "r");
    assert_non_null(file);
    assert_in_range(fread(page, 1, sizeof page - 1, file), 1000, sizeof page - 2);
    fclose(file);
    mor_h5 h5;
    assert_int_equal(mor_h5_open(&h5, path, NULL), MOR_OK);
    assert_int_equal(H5Ovisit2(h5.file, H5_INDEX_NAME, H5_ITER_INC, find_in_page, page, H5O_INFO_BASIC), 0);
    mor_h5_close(&h5, NULL);
}

static void a_recording_without_contacts_keeps_their_totals(void** state)
{
    (void)state;
    mor_error error = { 0 };
    mor_frames* frames = create_with(in_folder("totals.h5"), false, &error);
    for (int i = 0; i < 10; i++) put(frames, i);
    assert_int_equal(mor_frames_close(frames, &error), MOR_OK);
    mor_recording* r = open_recording(path);
    double total[10], p[30];
    assert_int_equal(mor_recording_contact_totals(r, total, NULL, NULL, &error), MOR_OK);
    assert_true(total[2] == impulse_at(2, 0, 2) + impulse_at(2, 1, 2));
    assert_int_equal(mor_recording_body_impulse(r, 1, p, &error), MOR_BAD_INPUT);
    assert_non_null(strstr(error.text, "/contacts"));
    mor_recording_close(r);
}

static void an_empty_recording_opens(void** state)
{
    (void)state;
    mor_frames* frames = create(in_folder("empty.h5"));
    mor_error error = { 0 };
    assert_int_equal(mor_frames_close(frames, &error), MOR_OK);
    mor_recording* r = open_recording(path);
    assert_int_equal(mor_recording_get_info(r)->frames, 0);
    mor_recording_close(r);
}

/* A write is cut by SIGKILL only between pages: object headers, rewritten with every flush, must not cross one. They
 * begin with "OHDR", version, flags (HDF5 file format, IV.A.1.b). */
static void no_header_crosses_a_page(void** state)
{
    (void)state;
    mor_frames* frames = create(in_folder("pages.h5"));
    for (int i = 0; i < 300; i++) put(frames, i);
    mor_error error = { 0 };
    assert_int_equal(mor_frames_close(frames, &error), MOR_OK);
    FILE* file = fopen(path, "rb");
    assert_non_null(file);
    static unsigned char bytes[4 << 20];
    size_t n = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    int headers = 0;
    for (size_t p = 0; p + 40 < n; p++) {
        if (memcmp(bytes + p, "OHDR\2", 5) != 0) continue;
        unsigned flags = bytes[p + 5];
        size_t at = p + 6 + (flags & 0x20 ? 16 : 0) + (flags & 0x10 ? 4 : 0), width = (size_t)1 << (flags & 3),
               size = 0;
        for (size_t k = 0; k < width; k++) size |= (size_t)bytes[at + k] << (8 * k);
        size_t last = at + width + size + 4 - 1; /* the checksum's last byte */
        assert_true(p / 4096 == last / 4096);
        headers++;
    }
    assert_true(headers > 40);
}

/* Writes frames until killed; tells through `flushed` how many are safe. A short batch now and then
 * comes from the half-second rule, which is why the child sleeps sometimes. */
static void write_for_ever(const char* file, volatile int64_t* flushed, int most)
{
    mor_frames* frames = create(file);
    if (!frames) _exit(9);
    for (int i = 0; most == 0 || i < most; i++) {
        put(frames, i);
        *flushed = mor_frames_flushed(frames);
        if (i % 700 == 699) {
            struct timespec t = { 0, 1000000 };
            nanosleep(&t, NULL);
        }
    }
    mor_frames_close(frames, NULL);
    _exit(0);
}

static volatile int64_t* shared_counter(void)
{
    int file = open(in_folder("counter"), O_RDWR | O_CREAT | O_TRUNC, 0600);
    assert_int_equal(ftruncate(file, 4096), 0);
    void* p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    assert_true(p != MAP_FAILED);
    close(file);
    return p;
}

static void a_killed_writer_leaves_all_flushed_frames(void** state)
{
    (void)state;
    volatile int64_t* flushed = shared_counter();
    mor_rng rng = { 20240607 };
    int64_t most = 0;
    for (int round = 0; round < 20; round++) {
        in_folder("killed.h5"); /* the file the round before left is replaced: it is a recording */
        *flushed = 0;
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) write_for_ever(path, flushed, 0);
        double wait = 1e6 + 1.2e8 * mor_rng_uniform(&rng);
        struct timespec t = { 0, (long)wait };
        while (*flushed == 0) nanosleep(&(struct timespec){ 0, 200000 }, NULL);
        nanosleep(&t, NULL);
        kill(child, SIGKILL);
        int status;
        waitpid(child, &status, 0);
        assert_true(WIFSIGNALED(status));
        mor_recording* r = open_recording(path);
        const mor_recording_info* info = mor_recording_get_info(r);
        assert_true(info->live);
        assert_true(info->frames >= *flushed);
        if (info->frames > most) most = info->frames;
        check_all_frames(r);
        mor_recording_close(r);
    }
    assert_true(most > 1000);
}

static void half_a_second_flushes_an_unfilled_batch(void** state)
{
    (void)state;
    mor_frames* frames = create(in_folder("slow.h5"));
    for (int i = 0; i < 3; i++) put(frames, i);
    assert_int_equal(mor_frames_flushed(frames), 0);
    nanosleep(&(struct timespec){ 0, 520000000 }, NULL);
    put(frames, 3);
    assert_int_equal(mor_frames_flushed(frames), 4);
    mor_frames_close(frames, NULL);
}

static void a_reader_follows_the_writer(void** state)
{
    (void)state;
    volatile int64_t* flushed = shared_counter();
    in_folder("followed.h5");
    pid_t child = fork();
    if (child == 0) write_for_ever(path, flushed, 30000);
    while (*flushed == 0) nanosleep(&(struct timespec){ 0, 200000 }, NULL);
    mor_error error = { 0 };
    mor_recording* r = open_recording(path);
    int before = 0, grew = 0, status = 0;
    bool running = true;
    while (running) {
        running = waitpid(child, &status, WNOHANG) == 0;
        int64_t safe = *flushed;
        assert_int_equal(mor_recording_refresh(r, &error), MOR_OK);
        int now = mor_recording_get_info(r)->frames;
        assert_true(now >= safe && now >= before);
        grew += now > before;
        before = now;
        double* time = calloc((size_t)now + 1, sizeof *time);
        assert_int_equal(mor_recording_series(r, "/time", time, &error), MOR_OK);
        for (int i = 0; i < now; i++) assert_true(time[i] == 0.01 * i);
        double* pose = calloc((size_t)now * 7 + 1, sizeof *pose);
        assert_int_equal(mor_recording_body(r, 4, pose, NULL, &error), MOR_OK);
        for (int i = 0; i < now; i++) assert_true(pose[7 * i + 2] == pose_at(i, 4, 2));
        free(time);
        free(pose);
    }
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_true(grew > 2);
    mor_recording_close(r);
    r = open_recording(path);
    assert_int_equal(mor_recording_get_info(r)->frames, 30000);
    assert_false(mor_recording_get_info(r)->live);
    mor_recording_close(r);
}

/* A file-size limit makes write() fail just as a full disk does, except that it also holds for memory
 * files: it is lifted before closing. In a child, because HDF5's own clean-up at exit must survive too. */
static void a_full_disk_is_told_when_closing_and_leaves_the_flushed_frames(void** state)
{
    (void)state;
    volatile int64_t* flushed = shared_counter();
    in_folder("full.h5");
    pid_t child = fork();
    if (child == 0) {
        signal(SIGSEGV, SIG_DFL);
        signal(SIGXFSZ, SIG_IGN);
        struct rlimit before, limit;
        getrlimit(RLIMIT_FSIZE, &before);
        limit = before;
        mor_frames* frames = create(path);
        limit.rlim_cur = 2 << 20;
        setrlimit(RLIMIT_FSIZE, &limit);
        for (int i = 0; i < 20000; i++) put(frames, i);
        *flushed = mor_frames_flushed(frames);
        setrlimit(RLIMIT_FSIZE, &before);
        mor_error error = { 0 };
        mor_code code = mor_frames_close(frames, &error);
        bool told = strstr(error.text, "full.h5:/") && strstr(error.text, "File too large");
        if (!told) print_error("%s\n", error.text);
        exit(code == MOR_SYSTEM && told ? 0 : 1);
    }
    int status;
    waitpid(child, &status, 0);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    assert_in_range(*flushed, 64, 19999);
    mor_recording* r = open_recording(in_folder("full.h5"));
    assert_true(mor_recording_get_info(r)->frames >= *flushed);
    check_all_frames(r);
    mor_recording_close(r);
}

static void only_recordings_are_overwritten(void** state)
{
    (void)state;
    mor_error error = { 0 };
    FILE* file = fopen(in_folder("notes.h5"), "w");
    fputs("dear diary", file);
    fclose(file);
    assert_null(create_with(path, true, &error));
    assert_int_equal(error.code, MOR_BAD_INPUT);
    assert_non_null(strstr(error.text, "not a Moreau recording"));
    char text[32] = "";
    file = fopen(path, "r");
    assert_non_null(fgets(text, sizeof text, file));
    fclose(file);
    assert_string_equal(text, "dear diary");

    mor_h5 other;
    assert_int_equal(mor_h5_begin(&other, in_folder("other.h5"), &error), MOR_OK);
    assert_int_equal(mor_h5_finish(&other, MOR_OK, &error), MOR_OK);
    assert_null(create_with(path, true, &error));
    assert_null(mor_recording_open(path, &error));
    assert_non_null(strstr(error.text, "not a Moreau recording"));

    assert_null(create_with(folder, true, &error));
    assert_int_equal(error.code, MOR_BAD_INPUT);
    assert_null(create_with(in_folder("missing/folder.h5"), true, &error));
    assert_int_equal(error.code, MOR_SYSTEM);
    assert_non_null(strstr(error.text, "No such file"));

    for (int round = 1; round <= 2; round++) { /* the second replaces the first */
        mor_frames* frames = create(in_folder("again.h5"));
        for (int i = 0; i < 10 * round; i++) put(frames, i);
        assert_int_equal(mor_frames_close(frames, &error), MOR_OK);
    }
    mor_recording* r = open_recording(path);
    assert_int_equal(mor_recording_get_info(r)->frames, 20);
    mor_recording_close(r);
    char command[320];
    snprintf(command, sizeof command, "ls '%s' | grep -q part", folder);
    assert_int_not_equal(system(command), 0); /* no temporary file is left */
}

static void refused(const char* file, const char* words)
{
    mor_error error = { 0 };
    assert_null(mor_recording_open(file, &error));
    assert_int_equal(error.code, MOR_BAD_INPUT);
    if (!strstr(error.text, words)) print_error("expected \"%s\" in: %s\n", words, error.text);
    assert_non_null(strstr(error.text, words));
    assert_non_null(strstr(error.text, file));
}

static void truncated_files_are_refused_at_every_length(void** state)
{
    (void)state;
    mor_frames* frames = create(in_folder("whole.h5"));
    for (int i = 0; i < 100; i++) put(frames, i);
    assert_int_equal(mor_frames_close(frames, NULL), MOR_OK);
    struct stat there;
    assert_int_equal(stat(path, &there), 0);
    char* bytes = malloc((size_t)there.st_size);
    FILE* file = fopen(path, "rb");
    assert_int_equal(fread(bytes, 1, (size_t)there.st_size, file), there.st_size);
    fclose(file);
    in_folder("cut.h5");
    for (int k = 0; k < 40; k++) {
        size_t length = (size_t)there.st_size * (size_t)k / 40;
        file = fopen(path, "wb");
        fwrite(bytes, 1, length, file);
        fclose(file);
        mor_error error = { 0 };
        assert_null(mor_recording_open(path, &error));
        assert_int_equal(error.code, MOR_BAD_INPUT);
        assert_non_null(strstr(error.text, "cut.h5"));
    }
    /* Damaged bytes: refused or read, never a crash. In a child, because HDF5 loses track of its own
     * objects on some of them and complains when the process ends. */
    pid_t child = fork();
    mor_rng rng = { 7 };
    for (int k = 0; child == 0 && k < 60; k++) {
        char* copy = malloc((size_t)there.st_size);
        memcpy(copy, bytes, (size_t)there.st_size);
        for (int j = 0; j < 20; j++)
            copy[(size_t)(mor_rng_uniform(&rng) * 6000.0)] = (char)(256.0 * mor_rng_uniform(&rng));
        file = fopen(path, "wb");
        fwrite(copy, 1, (size_t)there.st_size, file);
        fclose(file);
        free(copy);
        mor_error error = { 0 };
        mor_recording* r = mor_recording_open(path, &error);
        if (!r && !error.text[0]) _exit(1);
        mor_recording_close(r);
    }
    if (child == 0) _exit(0);
    int status;
    waitpid(child, &status, 0);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    free(bytes);
}

/* Recordings that say they are, but lack something. */
static void forged_files_are_refused_with_the_dataset(void** state)
{
    (void)state;
    enum { NO_VERSION, NEW_VERSION, NO_BODIES, NO_TIME, FLAT_POSE, SHORT_POSE, BACKWARDS, TEXT_TIME, KINDS };
    static const char* const expected[KINDS] = { "/meta@version", "/meta@version", "/bodies/kind",          "/time",
                                                 "/pose",         "/pose",         "/time: runs backwards", "/time" };
    for (int kind = 0; kind < KINDS; kind++) {
        char name[32];
        mor_h5 h5;
        snprintf(name, sizeof name, "forged-%d.h5", kind);
        assert_int_equal(mor_h5_begin(&h5, in_folder(name), NULL), MOR_OK);
        mor_h5_group(&h5, "/meta", NULL);
        mor_h5_set_text(&h5, "/meta", "format", MOR_RECORDING_FORMAT, NULL);
        if (kind != NO_VERSION) mor_h5_set_int(&h5, "/meta", "version", kind == NEW_VERSION ? 99 : 1, NULL);
        static const char* const texts[] = { "producer", "scene_name", "formulation", "solver", "collision" };
        static const char* const ints[] = { "dimension", "every", "contacts" };
        for (int i = 0; i < 5; i++) mor_h5_set_text(&h5, "/meta", texts[i], "x", NULL);
        for (int i = 0; i < 3; i++) mor_h5_set_int(&h5, "/meta", ints[i], 1, NULL);
        double zeros[64] = { 0 };
        mor_h5_set_doubles(&h5, "/meta", "step", zeros, 1, NULL);
        mor_h5_set_doubles(&h5, "/meta", "gravity", zeros, 3, NULL);
        if (kind != NO_BODIES) {
            mor_h5_group(&h5, "/bodies", NULL);
            mor_h5_write(&h5, "/bodies/kind", MOR_H5_INT, 1, (size_t[]){ 1 }, (int32_t[]){ 0 }, NULL);
            mor_h5_write_texts(&h5, "/bodies/name", "ball", 5, 1, NULL);
        }
        double backwards[3] = { 0, 1, 0.5 };
        if (kind == TEXT_TIME) mor_h5_write_texts(&h5, "/time", "a\0b\0c", 2, 3, NULL);
        else if (kind != NO_TIME)
            mor_h5_write(&h5, "/time", MOR_H5_DOUBLE, 1, (size_t[]){ 3 }, kind == BACKWARDS ? backwards : zeros, NULL);
        size_t flat[2] = { 3, 7 }, full[3] = { kind == SHORT_POSE ? 2 : 3, 1, 7 };
        mor_h5_write(&h5, "/pose", MOR_H5_DOUBLE, kind == FLAT_POSE ? 2 : 3, kind == FLAT_POSE ? flat : full, zeros,
                     NULL);
        mor_h5_write(&h5, "/velocity", MOR_H5_DOUBLE, 3, (size_t[]){ 3, 1, 6 }, zeros, NULL);
        assert_int_equal(mor_h5_finish(&h5, MOR_OK, NULL), MOR_OK);
        refused(path, expected[kind]);
    }
    refused(in_folder("nowhere.h5"), "No such file");
    FILE* file = fopen(in_folder("text.h5"), "w");
    fputs("this is a text file, not a recording at all", file);
    fclose(file);
    refused(path, "not an HDF5 file");

    mor_frames* frames = create(in_folder("series.h5"));
    put(frames, 0);
    mor_frames_close(frames, NULL);
    mor_recording* r = open_recording(path);
    mor_error error = { 0 };
    double v[64];
    assert_int_equal(mor_recording_series(r, "/energy/dark", v, &error), MOR_BAD_INPUT);
    assert_non_null(strstr(error.text, "/energy/dark: missing dataset"));
    assert_int_equal(mor_recording_series(r, "/pose", v, &error), MOR_BAD_INPUT);
    assert_non_null(strstr(error.text, "/pose: wrong shape"));
    assert_int_equal(mor_recording_body(r, BODIES, v, NULL, &error), MOR_BAD_INPUT);
    mor_recording_close(r);
}

/* ------------------------------------------------------------------------- with a world */

/* What the world itself says after each step, to compare with the file. */
typedef struct witness {
    mor_body_id ball;
    int count;
    mor_body_state state[400];
    mor_step_report report[400];
    int contacts[400];
    mor_vec3 impulse[400];
} witness;

static void watch(void* user, const mor_world* world, const mor_step_report* report)
{
    witness* w = user;
    int n;
    const mor_contact* contacts = mor_world_contacts(world, &n);
    w->report[w->count] = *report;
    w->contacts[w->count] = n;
    if (mor_body_valid(world, w->ball)) w->state[w->count] = mor_body_get_state(world, w->ball);
    for (int i = 0; i < n; i++) w->impulse[w->count] = mor_add(w->impulse[w->count], contacts[i].impulse);
    w->count++;
}

static void a_world_is_recorded_as_it_was(void** state)
{
    (void)state;
    mor_error error = { 0 };
    mor_world* world = test_world(0.01);
    test_fixed(world, test_plane(), mor_v3(0, 0, 0), mor_quat_identity());
    mor_body_id ball = test_body(world, test_sphere(0.1), 2.0, mor_v3(0, 0, 0.3), mor_quat_identity());
    test_body(world, test_box(0.1, 0.2, 0.3), 1.0, mor_v3(5, 0, 9), mor_quat_identity());
    test_velocity(world, ball, mor_v3(1, 0, 0), mor_v3(0, 0, 3));
    static witness w;
    w = (witness){ .ball = ball };
    mor_body_state start = mor_body_get_state(world, ball);
    mor_recorder* recorder = mor_recorder_open(in_folder("world.h5"), world, NULL, &error);
    if (!recorder) print_error("%s\n", error.text);
    assert_non_null(recorder);
    assert_int_equal(mor_world_add_observer(world, mor_recorder_observe, recorder, &error), MOR_OK);
    assert_int_equal(mor_world_add_observer(world, watch, &w, &error), MOR_OK);
    test_steps(world, 100);
    assert_int_equal(mor_recorder_close(recorder, &error), MOR_OK);
    assert_int_equal(w.count, 100);

    mor_recording* r = open_recording(path);
    const mor_recording_info* info = mor_recording_get_info(r);
    assert_int_equal(info->frames, 101);
    assert_int_equal(info->bodies, 3);
    assert_string_equal(info->solver, mor_world_method(world, "solver"));
    static double pose[101 * 7], velocity[101 * 6], v[101], p[101 * 3];
    assert_int_equal(mor_recording_body(r, 1, pose, velocity, &error), MOR_OK);
    assert_true(pose[2] == start.pose.position.z && velocity[0] == 1.0 && velocity[5] == 3.0);
    int touching = 0;
    for (int i = 0; i < 100; i++) {
        const double* q = pose + 7 * (i + 1);
        const mor_body_state* s = &w.state[i];
        assert_true(q[0] == s->pose.position.x && q[1] == s->pose.position.y && q[2] == s->pose.position.z);
        assert_true(q[3] == s->pose.rotation.w && q[6] == s->pose.rotation.z);
        assert_true(velocity[6 * (i + 1) + 2] == s->velocity.z && velocity[6 * (i + 1) + 4] == s->angular_velocity.y);
    }
    assert_int_equal(mor_recording_body_impulse(r, 1, p, &error), MOR_OK);
    for (int i = 0; i < 100; i++) {
        /* the plane comes first, so the impulse is on the ball */
        assert_true(fabs(p[3 * (i + 1) + 2] - w.impulse[i].z) < 1e-12 && fabs(p[3 * (i + 1)] - w.impulse[i].x) < 1e-12);
        touching += w.impulse[i].z > 0.0;
    }
    assert_true(touching > 10);
    static const struct {
        const char* path;
        size_t offset;
        bool is_int;
    } series[] = {
        { "/time", offsetof(mor_step_report, time), false },
        { "/step_number", offsetof(mor_step_report, step), true },
        { "/energy/kinetic", offsetof(mor_step_report, kinetic), false },
        { "/energy/potential", offsetof(mor_step_report, potential), false },
        { "/penetration", offsetof(mor_step_report, penetration), false },
        { "/work/contact", offsetof(mor_step_report, contact_work), false },
        { "/work/correction", offsetof(mor_step_report, correction_work), false },
        { "/work/applied", offsetof(mor_step_report, applied_work), false },
        { "/solver/iterations", offsetof(mor_step_report, iterations), true },
        { "/solver/residual", offsetof(mor_step_report, residual), false },
        { "/solver/velocity_error", offsetof(mor_step_report, velocity_error), false },
        { "/solver/contacts", offsetof(mor_step_report, contacts), true },
        { "/solver/islands", offsetof(mor_step_report, islands), true },
        { "/solver/problem_size", offsetof(mor_step_report, problem_size), true },
        { "/solver/failures", offsetof(mor_step_report, failures), true },
        { "/timing/solve", offsetof(mor_step_report, timing.solve), false },
        { "/timing/collision", offsetof(mor_step_report, timing.collision), false },
    };
    for (size_t k = 0; k < sizeof series / sizeof *series; k++) {
        assert_int_equal(mor_recording_series(r, series[k].path, v, &error), MOR_OK);
        for (int i = 0; i < 100; i++) {
            const char* at = (const char*)&w.report[i] + series[k].offset;
            assert_true(v[i + 1] ==
                        (series[k].is_int ? (double)*(const int*)(const void*)at : *(const double*)(const void*)at));
        }
    }
    assert_int_equal(mor_recording_series(r, "/contacts/count", v, &error), MOR_OK);
    for (int i = 0; i < 100; i++) assert_true(v[i + 1] == w.contacts[i]);
    int rows, columns;
    double* faces = mor_recording_table(r, "/shapes/face_count", &rows, &columns, &error);
    assert_int_equal(rows, 3);
    assert_true(faces[0] == 0.0 && faces[1] == 0.0 && faces[2] == 6.0); /* plane, sphere, box */
    free(faces);
    mor_recording_close(r);
    mor_world_destroy(world);
}

static void bodies_may_come_and_go(void** state)
{
    (void)state;
    mor_error error = { 0 };
    mor_world* world = test_world(0.01);
    test_fixed(world, test_plane(), mor_v3(0, 0, 0), mor_quat_identity());
    mor_body_id first = test_body(world, test_sphere(0.1), 1.0, mor_v3(0, 0, 0.1), mor_quat_identity());
    test_body(world, test_sphere(0.1), 1.0, mor_v3(1, 0, 0.1), mor_quat_identity());
    mor_recorder* recorder = mor_recorder_open(in_folder("come-and-go.h5"), world, NULL, &error);
    assert_non_null(recorder);
    assert_int_equal(mor_world_add_observer(world, mor_recorder_observe, recorder, &error), MOR_OK);
    test_steps(world, 5);
    mor_world_remove_body(world, first);
    test_steps(world, 5);
    test_body(world, test_sphere(0.1), 1.0, mor_v3(2, 0, 0.1), mor_quat_identity()); /* perhaps in the old slot */
    test_steps(world, 5);
    assert_int_equal(mor_recorder_close(recorder, &error), MOR_OK);
    mor_world_destroy(world);

    mor_recording* r = open_recording(path);
    double pose[16 * 7], p[16 * 3];
    assert_int_equal(mor_recording_get_info(r)->frames, 16);
    assert_int_equal(mor_recording_body(r, 1, pose, NULL, &error), MOR_OK);
    for (int i = 0; i < 16; i++) assert_true(i <= 5 ? pose[7 * i] == 0.0 : isnan(pose[7 * i]));
    assert_int_equal(mor_recording_body(r, 2, pose, NULL, &error), MOR_OK);
    for (int i = 0; i < 16; i++) assert_true(fabs(pose[7 * i] - 1.0) < 1e-9);
    /* the resting ball keeps its own contact while its place in the world changes; weight m g h = 0.0981 */
    assert_int_equal(mor_recording_body_impulse(r, 2, p, &error), MOR_OK);
    for (int i = 1; i < 16; i++) assert_true(fabs(p[3 * i + 2] - 0.0981) < 1e-6);
    mor_recording_close(r);
}

static void a_scene_says_what_is_recorded(void** state)
{
    (void)state;
    static const char text[] = "moreau: 1\n"
                               "name: sparse\n"
                               "time: { step: 0.01, end: 1 }\n"
                               "bodies:\n"
                               "  - { name: floor, fixed: true, shape: plane }\n"
                               "  - { name: ball, shape: { sphere: 0.1 }, position: [0, 0, 0.1], mass: 1 }\n"
                               "record: { every: 4, contacts: false }\n";
    mor_error error = { 0 };
    mor_scene* scene = mor_scene_parse(text, sizeof text - 1, "sparse.yaml", NULL, NULL, &error);
    if (!scene) print_error("%s\n", error.text);
    assert_non_null(scene);
    mor_world* world = mor_scene_build(scene, 1, &error);
    assert_non_null(world);
    mor_recorder* recorder = mor_recorder_open(in_folder("sparse.h5"), world, scene, &error);
    assert_non_null(recorder);
    static witness w;
    w = (witness){ .ball = mor_world_find_body(world, "ball") };
    mor_world_add_observer(world, mor_recorder_observe, recorder, &error);
    mor_world_add_observer(world, watch, &w, &error);
    test_steps(world, 40);
    assert_int_equal(mor_recorder_close(recorder, &error), MOR_OK);

    mor_recording* r = open_recording(path);
    const mor_recording_info* info = mor_recording_get_info(r);
    assert_int_equal(info->frames, 11);
    assert_int_equal(info->every, 4);
    assert_false(info->has_contacts);
    assert_string_equal(info->scene_name, mor_scene_name(scene));
    assert_string_equal(mor_recording_scene_text(r, &error), mor_scene_text(scene));
    double v[11], work[11];
    assert_int_equal(mor_recording_series(r, "/step_number", v, &error), MOR_OK);
    for (int i = 0; i < 11; i++) assert_true(v[i] == 4.0 * i);
    assert_int_equal(mor_recording_series(r, "/work/contact", work, &error), MOR_OK);
    for (int i = 1; i < 11; i++) { /* of all steps since the frame before */
        double sum = 0;
        for (int k = 4 * (i - 1); k < 4 * i; k++) sum += w.report[k].contact_work;
        assert_true(fabs(work[i] - sum) <= 1e-15);
    }
    assert_int_equal(mor_recording_contact_totals(r, v, NULL, NULL, &error), MOR_OK);
    assert_true(fabs(v[10] - 0.0981) < 1e-6);
    mor_recording_close(r);
    mor_world_destroy(world);
    mor_scene_destroy(scene);
}

static void a_warm_frame_allocates_nothing(void** state)
{
    (void)state;
    if (!COUNTED) {
        print_message("SKIP: allocations are not counted under the sanitizers\n");
        skip();
    }
    mor_frames* frames = create(in_folder("warm.h5"));
    int batch = 0; /* frames in a batch, from the first flush */
    for (int i = 0; mor_frames_flushed(frames) == 0; i++) {
        put(frames, i);
        batch++;
    }
    long before = allocations;
    for (int i = 0; i < batch - 1; i++) put(frames, batch + i);
    if (mor_frames_flushed(frames) == batch) /* unless a slow machine made the half second pass */
        assert_int_equal(allocations, before);
    assert_true(batch >= 64);
    assert_int_equal(mor_frames_close(frames, NULL), MOR_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read_back),
        cmocka_unit_test(the_manual_names_every_dataset),
        cmocka_unit_test(a_recording_without_contacts_keeps_their_totals),
        cmocka_unit_test(an_empty_recording_opens),
        cmocka_unit_test(no_header_crosses_a_page),
        cmocka_unit_test(a_killed_writer_leaves_all_flushed_frames),
        cmocka_unit_test(half_a_second_flushes_an_unfilled_batch),
        cmocka_unit_test(a_reader_follows_the_writer),
        cmocka_unit_test(a_full_disk_is_told_when_closing_and_leaves_the_flushed_frames),
        cmocka_unit_test(only_recordings_are_overwritten),
        cmocka_unit_test(truncated_files_are_refused_at_every_length),
        cmocka_unit_test(forged_files_are_refused_with_the_dataset),
        cmocka_unit_test(a_world_is_recorded_as_it_was),
        cmocka_unit_test(bodies_may_come_and_go),
        cmocka_unit_test(a_scene_says_what_is_recorded),
        cmocka_unit_test(a_warm_frame_allocates_nothing),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
