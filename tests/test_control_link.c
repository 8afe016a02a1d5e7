/* Controllers in another process (docs/control-link.md): a child of the test is the controller of
 * `moreau run --control`; good ones, silent ones, ones that talk nonsense, ones that leave. */
#include "common/worlds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

typedef struct header {
    char magic[4];
    uint32_t kind, robot, count;
} header;

typedef enum manner { ZERO, PUSH, SILENT, NONSENSE, WRONG_COUNT, NOT_A_NUMBER, LEAVE, HANG_UP } manner;

static bool get(int fd, void* data, size_t size)
{
    for (char* at = data; size > 0;) {
        ssize_t n = read(fd, at, size);
        if (n <= 0) return false;
        at += n, size -= (size_t)n;
    }
    return true;
}

static int reach(const char* path)
{
    struct sockaddr_un a = { .sun_family = AF_UNIX };
    snprintf(a.sun_path, sizeof a.sun_path, "%s", path);
    for (int i = 0; i < 2000; i++) {
        int fd = socket(AF_UNIX, SOCK_STREAM, 0);
        if (connect(fd, (struct sockaddr*)&a, sizeof a) == 0) return fd;
        close(fd);
        nanosleep(&(struct timespec){ 0, 5000000 }, NULL);
    }
    return -1;
}

/* The child: never returns. */
static void be_controller(const char* path, manner how)
{
    int fd = reach(path);
    if (fd < 0) _exit(9);
    double x[256];
    uint32_t joints = 0;
    header h;
    while (get(fd, &h, sizeof h) && memcmp(h.magic, "MOR1", 4) == 0 && h.count <= 256 &&
           get(fd, x, h.count * sizeof *x)) {
        if (h.kind == 4) _exit(0);
        if (h.kind == 1) joints = (uint32_t)x[0];
        if (h.kind != 2) continue;
        header answer = { "MOR1", 3, h.robot, joints };
        double tau[256] = { 0 };
        if (how == PUSH) tau[0] = 1.0;
        if (how == NOT_A_NUMBER) tau[0] = 0.0 / (x[0] - x[0]);
        if (how == WRONG_COUNT) answer.count = joints + 1;
        if (how == NONSENSE) memcpy(answer.magic, "HTTP", 4);
        if (how == LEAVE && x[0] > 0.005) answer.kind = 4, answer.count = 0;
        if (how == HANG_UP) _exit(0);
        if (how == SILENT) {
            while (get(fd, &h, 1)) continue; /* until the other side gives up */
            _exit(0);
        }
        if (write(fd, &answer, sizeof answer) != sizeof answer ||
            write(fd, tau, answer.count * sizeof *tau) != (ssize_t)(answer.count * sizeof *tau))
            _exit(8);
        if (answer.kind == 4) _exit(0);
    }
    _exit(0);
}

/* Runs the command with a controller; its exit status, and what it printed. */
static int run_with(manner how, const char* options, char* said, size_t size)
{
    char path[64], command[512];
    snprintf(path, sizeof path, "/tmp/moreau-link-%d.sock", (int)getpid());
    pid_t child = fork();
    if (child == 0) be_controller(path, how);
    snprintf(command, sizeof command, "'%s' run plate_arm --steps 20 --json --control unix:%s %s 2>&1", MOREAU_COMMAND,
             path, options);
    FILE* f = popen(command, "r");
    assert_non_null(f);
    size_t n = fread(said, 1, size - 1, f);
    said[n] = '\0';
    int status = pclose(f), gone;
    struct stat s;
    assert_int_not_equal(stat(path, &s), 0); /* the socket was removed */
    waitpid(child, &gone, 0);
    return WEXITSTATUS(status);
}

static void hash_of(const char* said, char hash[20])
{
    const char* at = strstr(said, "\"state_hash\": \"");
    if (!at) fail_msg("no hash in: %.300s", said);
    snprintf(hash, 17, "%s", at + strlen("\"state_hash\": \""));
}

static void no_torques_change_nothing_and_torques_do(void** state)
{
    (void)state;
    static char said[1 << 18];
    char alone[20], zero[20], push[20], again[20], command[256];
    snprintf(command, sizeof command, "'%s' run plate_arm --steps 20 --json", MOREAU_COMMAND);
    FILE* f = popen(command, "r");
    said[fread(said, 1, sizeof said - 1, f)] = '\0';
    pclose(f);
    hash_of(said, alone);
    assert_int_equal(run_with(ZERO, "", said, sizeof said), 0);
    hash_of(said, zero);
    assert_string_equal(zero, alone);
    assert_int_equal(run_with(PUSH, "", said, sizeof said), 0);
    hash_of(said, push);
    assert_string_not_equal(push, alone);
    assert_int_equal(run_with(PUSH, "--pace 20", said, sizeof said), 0); /* the clock does not change bits */
    hash_of(said, again);
    assert_string_equal(push, again);
}

static void a_controller_may_leave(void** state)
{
    (void)state;
    static char said[1 << 18];
    assert_int_equal(run_with(LEAVE, "", said, sizeof said), 0);
}

static void bad_controllers_end_the_run_with_a_sentence(void** state)
{
    (void)state;
    static char said[1 << 18];
    static const struct {
        manner how;
        const char* sentence;
    } cases[] = { { SILENT, "did not answer in time" },
                  { HANG_UP, "has gone" },
                  { NONSENSE, "MOR1" },
                  { WRONG_COUNT, "not the torques" },
                  { NOT_A_NUMBER, "not finite" } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char* patience = cases[i].how == SILENT ? "--control-timeout 3" : "--control-timeout 60";
        assert_int_equal(run_with(cases[i].how, patience, said, sizeof said), MOR_BAD_INPUT);
        if (!strstr(said, cases[i].sentence)) fail_msg("expected '%s' in: %.300s", cases[i].sentence, said);
    }
}

static void nobody_comes_and_wrong_addresses(void** state)
{
    (void)state;
    static const char* const options[][2] = {
        { "plate_arm --control unix:/tmp/moreau-nobody.sock --control-timeout 0.2", "no controller came" },
        { "plate_arm --control fifo:/tmp/moreau-nobody --control-timeout 0.2", "no controller came" },
        { "plate_arm --control tcp:1", "expected unix:PATH" },
        { "plate_arm --control unix:/no/where/x", "No such file" },
        { "stack --control unix:/tmp/moreau-nobody.sock", "no robot" }
    };
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        char command[300], said[2000];
        snprintf(command, sizeof command, "'%s' run %s --steps 2 2>&1", MOREAU_COMMAND, options[i][0]);
        FILE* f = popen(command, "r");
        said[fread(said, 1, sizeof said - 1, f)] = '\0';
        assert_int_not_equal(pclose(f), 0);
        if (!strstr(said, options[i][1])) fail_msg("expected '%s' in: %s", options[i][1], said);
    }
    struct stat s;
    assert_int_not_equal(stat("/tmp/moreau-nobody.sock", &s), 0);
    assert_int_not_equal(stat("/tmp/moreau-nobody.state", &s), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_torques_change_nothing_and_torques_do),
        cmocka_unit_test(a_controller_may_leave),
        cmocka_unit_test(bad_controllers_end_the_run_with_a_sentence),
        cmocka_unit_test(nobody_comes_and_wrong_addresses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
