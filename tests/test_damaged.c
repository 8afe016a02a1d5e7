/* Damaged files from outside: whatever bytes are wrong, the command says a sentence and ends with 0, 1 or 2, and never
 * by a signal. Changes: bytes, runs of bytes, sizes, cuts, and metadata of HDF5 (signatures of its blocks are found and
 * the fields behind them are changed). Seeds are fixed; MOREAU_LONG=1 tries more. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/workers.h"
#include "common/command.h"
#include "io/recording/recording.h"
#include "io/text/output.h"
#include "io/text/text_file.h"
#include "moreau/base.h"

static uint64_t state_of_chance = 20;

static uint64_t chance(uint64_t below)
{
    state_of_chance ^= state_of_chance << 13; /* xorshift */
    state_of_chance ^= state_of_chance >> 7;
    state_of_chance ^= state_of_chance << 17;
    return state_of_chance % below;
}

/* A place behind one of the signatures of HDF5's metadata, or anywhere. */
static size_t place(const char* bytes, size_t size)
{
    static const char* const signatures[] = { "OHDR", "OCHK", "FRHP", "FHDB", "BTHD", "BTLF",
                                              "FAHD", "FADB", "EAHD", "EAIB", "TREE", "HEAP" };
    const char* wanted = signatures[chance(12)];
    size_t from = chance(size);
    for (size_t i = from; i + 4 < size && chance(4); i++)
        if (memcmp(bytes + i, wanted, 4) == 0) return i + 4 + chance(size - i - 4 < 64 ? size - i - 4 : 64);
    return from;
}

static void spoil(char* bytes, size_t* size)
{
    static const unsigned char edges[] = { 0, 1, 0x7f, 0x80, 0xfe, 0xff };
    for (int k = 1 + (int)chance(6); k > 0; k--) {
        size_t at = place(bytes, *size), n = 1 + chance(8);
        for (size_t i = at; i < at + n && i < *size; i++)
            bytes[i] = (char)(chance(2) ? edges[chance(6)] : (unsigned char)chance(256));
    }
    if (chance(10) == 0) *size = 1 + chance(*size);
}

/* Runs `line` on copies of `good`, each spoilt in another way, under the name `bad`. */
static void damage(const char* good, const char* bad, const char* line, int times)
{
    char *bytes, *copy;
    size_t size;
    mor_error error = { 0 };
    if (mor_text_read(command_at(good), 1 << 28, &bytes, &size, &error)) fail_msg("%s", error.text);
    assert_non_null(copy = malloc(size + 1));
    if (getenv("MOREAU_LONG")) times *= 30;
    for (int k = 0; k < times; k++) {
        size_t length = size;
        memcpy(copy, bytes, size);
        spoil(copy, &length);
        FILE* f = fopen(command_at(bad), "wb"); /* not synced: there are many */
        assert_non_null(f);
        assert_int_equal(fwrite(copy, 1, length, f), length);
        fclose(f);
        int status = command_run(line);
        if (status < 0 || status > 2) {
            mor_output_write("/tmp/moreau-damaged-kept", copy, length, NULL);
            fail_msg("'%s' ends with %d for copy %d, kept as /tmp/moreau-damaged-kept: %s", line, status, k,
                     command_errors);
        }
    }
    free(bytes);
    free(copy);
}

static void recordings(void** state)
{
    (void)state;
    command_expect("$M run sphere_drop --steps 30 --quiet --record good.h5", 0, NULL);
    damage("good.h5", "bad.h5", "$M plot bad.h5 energy -o bad.svg", 60);
    damage("good.h5", "bad.h5", "$M view bad.h5 --html bad.html", 30);
}

static void benchmark_problems(void** state)
{
    (void)state;
    command_expect("$M run s4_slide --steps 4 --quiet --bpmd frames.h5", 0, NULL);
    damage("frames.h5", "bad.h5", "$M compare bad.h5 --frames 1 --solvers nsgs --tol 1e-4 --quiet", 40);
    command_expect(
        "mkdir exported && $M dataset export frames.h5 -o exported && cp $(ls exported/*.hdf5 | head -1) fclib.hdf5", 0,
        NULL);
    damage("fclib.hdf5", "bad.hdf5", "$M solve bad.hdf5 --solver nsgs --time-limit 1", 60);
}

static void traces(void** state)
{
    (void)state;
    command_expect("printf '2\\n0\\n2\\n2\\n2\\t2\\n2\\n1\\n1\\n2\\n-5\\n-6\\n' >p.dat; "
                   "$M solve p.dat --kind lcp --solver pgs --trace trace.h5",
                   0, NULL);
    damage("trace.h5", "bad.h5", "$M plot bad.h5 convergence -o bad.svg", 60);
}

static void files_of_text(void** state)
{
    (void)state;
    command_expect(
        "cp $S/scenes/benchmark/s4_slide.yaml good.yaml; cp $S/scenes/robots/arm.urdf arm.urdf 2>/dev/null || "
        "cp $(ls $S/scenes/*/*.urdf | head -1) arm.urdf",
        0, NULL);
    damage("good.yaml", "bad.yaml", "$M run bad.yaml --steps 1 --quiet --time-limit 5", 60);
    damage("arm.urdf", "bad.urdf", "$M robot bad.urdf", 40);
    damage("p.dat", "bad.dat", "$M solve bad.dat --kind lcp --solver pgs --time-limit 1", 40);
}

/* Different recordings belong to different threads. The child that looks at a file first is made while other threads
 * are inside HDF5; it must not wait for their lock. A child that waits for ever ends this test by SIGALRM. */
static void open_one(void* user, int index, int worker)
{
    (void)index, (void)worker;
    mor_error error = { 0 };
    mor_recording* r = mor_recording_open(user, &error);
    assert_non_null(r);
    assert_int_equal(mor_recording_get_info(r)->frames, 6);
    mor_recording_close(r);
}

static void files_are_opened_by_many_threads(void** state)
{
    (void)state;
    command_expect("$M run sphere_drop --steps 5 --quiet --record many.h5", 0, NULL);
    char path[1024];
    snprintf(path, sizeof path, "%s", command_at("many.h5"));
    mor_workers* workers = mor_workers_create(NULL, 4);
    assert_non_null(workers);
    alarm(120);
    mor_workers_run(workers, 200, open_one, path);
    alarm(0);
    mor_workers_destroy(workers);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recordings),
        cmocka_unit_test(benchmark_problems),
        cmocka_unit_test(traces),
        cmocka_unit_test(files_of_text),
        cmocka_unit_test(files_are_opened_by_many_threads),
    };
    return cmocka_run_group_tests_name("damaged", tests, command_open, command_close);
}
