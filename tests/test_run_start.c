/* Runs that begin with a snapshot or with a frame of a recording: moreau run --from, --snapshot. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

static char folder[] = "/tmp/moreau-start-XXXXXX";

static const char scene[] =
    "moreau: 1\ntime: { step: 0.01, end: 1 }\nbodies:\n"
    "  - { name: a, shape: { box: [0.2, 0.2, 0.2] }, mass: 1, position: [0, 0, 0.5], angular_velocity: [1, 2, 3] }\n"
    "  - { name: b, shape: { sphere: 0.1 }, mass: 2, position: [0.05, 0, 1], velocity: [0.1, 0, 0] }\n"
    "  - { name: floor, shape: plane, fixed: true }\n";

/* Runs the command in the folder; its exit status, and what it wrote (both streams). */
static int run(const char* arguments, char* out, size_t size)
{
    char line[900];
    snprintf(line, sizeof line, "cd %s && %s run %s 2>&1", folder, MOREAU_COMMAND, arguments);
    FILE* f = popen(line, "r");
    assert_non_null(f);
    size_t n = fread(out, 1, size - 1, f);
    out[n] = '\0';
    return pclose(f) >> 8;
}

static void hash_of(const char* arguments, char hash[20])
{
    static char out[20000];
    int status = run(arguments, out, sizeof out);
    const char* at = strstr(out, "\"state_hash\": \"");
    if (status != 0 || !at) fail_msg("%s: status %d: %.300s", arguments, status, out);
    snprintf(hash, 20, "%.16s", at + 15);
}

static int open_folder(void** state)
{
    (void)state;
    char path[64];
    if (!mkdtemp(folder)) return -1;
    snprintf(path, sizeof path, "%s/s.yaml", folder);
    FILE* f = fopen(path, "w");
    return f && fputs(scene, f) >= 0 && fclose(f) == 0 ? 0 : -1;
}

static int remove_folder(void** state)
{
    (void)state;
    char line[64];
    snprintf(line, sizeof line, "rm -rf %s", folder);
    return system(line);
}

static void a_snapshot_goes_on_bit_for_bit(void** state)
{
    (void)state;
    char whole[20], parts[20];
    hash_of("s.yaml --steps 120 --json", whole);
    hash_of("s.yaml --steps 70 --json --snapshot half.bin", parts);
    hash_of("s.yaml --steps 50 --json --from half.bin", parts);
    assert_string_equal(whole, parts);
}

static void a_recording_gives_its_state(void** state)
{
    (void)state;
    char recorded[20], begun[20];
    hash_of("s.yaml --time 0.3 --json --record r.h5", recorded);
    hash_of("s.yaml --steps 0 --json --from r.h5", begun);
    assert_string_equal(recorded, begun);
    hash_of("s.yaml --steps 10 --json", recorded);
    hash_of("s.yaml --steps 0 --json --from r.h5:0.1", begun);
    assert_string_equal(recorded, begun);
}

static void what_cannot_be_begun_with_is_refused(void** state)
{
    (void)state;
    static char out[4000];
    static const struct {
        const char *arguments, *sentence;
    } cases[] = { { "s.yaml --from nowhere.bin", "nowhere.bin: the snapshot cannot be opened" },
                  { "s.yaml --from s.yaml", "not a snapshot of this version" },
                  { "s.yaml --from half.bin:1", "a snapshot has one time" },
                  { "s.yaml --from r.h5:9", "the recording ends at" },
                  { "s.yaml --from nowhere.h5", "nowhere.h5" },
                  { "s.yaml --set bodies.a.name=c --from r.h5", "body 'c' of the scene is not in the recording" } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int status = run(cases[i].arguments, out, sizeof out);
        if (status < 2 || !strstr(out, cases[i].sentence)) fail_msg("%s: %d: %.300s", cases[i].arguments, status, out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(a_snapshot_goes_on_bit_for_bit),
                                        cmocka_unit_test(a_recording_gives_its_state),
                                        cmocka_unit_test(what_cannot_be_begun_with_is_refused) };
    return cmocka_run_group_tests(tests, open_folder, remove_folder);
}
