/* The command line from outside: exit statuses, one JSON document, tables, samples, usage messages,
 * the same bits for any number of threads and in every build, and a recording that survives kill
 * -9. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "common/near.h"
#include "common/scenes.h"
#include "io/recording/recording.h"

static char folder[] = "/tmp/moreau_command_XXXXXX";
static char output[1 << 20], errors[1 << 16];

static void slurp(const char* name, char* text, size_t size)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE* f = fopen(path, "r");
    assert_non_null(f);
    text[fread(text, 1, size - 1, f)] = 0;
    fclose(f);
}

/* Runs a shell line in the folder with $M as the command; fills output and errors, returns the exit
 * status. */
static int run(const char* line)
{
    char all[4096];
    snprintf(all, sizeof all, "cd %s && M='%s' && { %s ; } >out 2>err </dev/null", folder, MOREAU_COMMAND, line);
    int status = system(all);
    assert_true(WIFEXITED(status));
    slurp("out", output, sizeof output);
    slurp("err", errors, sizeof errors);
    return WEXITSTATUS(status);
}

static void expect_status(const char* line, int expected)
{
    int status = run(line);
    if (status != expected) fail_msg("'%s' exits with %d, expected %d\n%s%s", line, status, expected, output, errors);
}

static void says(const char* text, const char* part)
{
    if (!strstr(text, part)) fail_msg("'%s' is not in: %s", part, text);
}

/* ------------------------------------------------------------------- a checker for JSON (RFC 8259)
 */

static const char* value(const char* p, int depth);

static const char* space(const char* p) { return p + strspn(p, " \t\r\n"); }

static const char* string(const char* p)
{
    if (*p++ != '"') return NULL;
    while (*p != '"') {
        if ((unsigned char)*p < 0x20) return NULL;
        if (*p++ != '\\') continue;
        if (*p == 'u') {
            if (strspn(p + 1, "0123456789abcdefABCDEF") < 4) return NULL;
            p += 5;
        } else if (*p && strchr("\"\\/bfnrt", *p)) p++;
        else return NULL;
    }
    return p + 1;
}

static const char* digits(const char* p)
{
    size_t n = strspn(p, "0123456789");
    return n ? p + n : NULL;
}

static const char* number(const char* p)
{
    if (*p == '-') p++;
    if (*p == '0') p++;
    else if (!(p = digits(p))) return NULL;
    if (*p == '.' && !(p = digits(p + 1))) return NULL;
    if (*p == 'e' || *p == 'E') {
        p++;
        if (*p == '+' || *p == '-') p++;
        p = digits(p);
    }
    return p;
}

static const char* members(const char* p, char closing, int depth)
{
    p = space(p);
    if (*p == closing) return p + 1;
    for (;;) {
        if (closing == '}') {
            if (!(p = string(space(p)))) return NULL;
            p = space(p);
            if (*p++ != ':') return NULL;
        }
        if (!(p = value(space(p), depth))) return NULL;
        p = space(p);
        if (*p == closing) return p + 1;
        if (*p++ != ',') return NULL;
    }
}

static const char* value(const char* p, int depth)
{
    if (depth > 64) return NULL;
    if (*p == '{') return members(p + 1, '}', depth + 1);
    if (*p == '[') return members(p + 1, ']', depth + 1);
    if (*p == '"') return string(p);
    static const char* const words[] = { "true", "false", "null" };
    for (int i = 0; i < 3; i++)
        if (strncmp(p, words[i], strlen(words[i])) == 0) return p + strlen(words[i]);
    return number(p);
}

static bool is_one_document(const char* text)
{
    const char* p = value(space(text), 0);
    return p && *space(p) == '\0';
}

static void the_checker_knows_json(void** state)
{
    (void)state;
    static const char* const good[] = { "{}", " [1, -0.5e+3, \"a\\u00e9\\n\", {\"k\": [null, true]}]\n", "0" };
    static const char* const bad[] = { "",      "{} {}",  "[1,]",         "{\"a\" 1}", "nan", "01",
                                       "[1 2]", "\"\n\"", "{\"a\": inf}", "1.",        "[" };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) assert_true(is_one_document(good[i]));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) assert_false(is_one_document(bad[i]));
}

/* --------------------------------------------------------------------------------------- tests */

static void json_is_exactly_one_document(void** state)
{
    (void)state;
    static const char* const lines[] = {
        "$M run peg_in_hole --json",
        "$M run bounce --json --at 0.1,0.2 --time 0.3",
        "$M run flat_discs --json --steps 20",
        "$M run hull_rain --json --steps 0",
        "$M run sphere_drop --json --record a.h5 --csv a.csv --steps 10",
        "$M list formulations --json",
        "$M list solvers --json",
        "$M list collision --json",
        "$M list integrators --json",
        "$M list shapes --json",
        "$M list joints --json",
        "$M list scenes --json",
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        expect_status(lines[i], 0);
        if (!is_one_document(output)) fail_msg("'%s' is not one JSON document: %s", lines[i], output);
        assert_string_equal(errors, "");
    }
    /* all or nothing when the run breaks off, and a table that was there stays */
    expect_status("printf 'moreau: 1\\ndimension: 2\\nbodies:\\n  - { name: a, shape: { disc: 1 } }\\n' > "
                  "two.yaml; "
                  "echo kept > kept.csv; $M run two.yaml --json --csv kept.csv --record /no/such/folder/a.h5",
                  3);
    assert_string_equal(output, "");
    expect_status("cat kept.csv", 0);
    assert_string_equal(output, "kept\n");
    /* also when the run fails */
    expect_status("$M run s2 --json --steps 3 --formulation st --solver pgs --set method.solver.max_iter=1", 1);
    assert_true(is_one_document(output));
    says(output, "\"status\": \"failed\"");
    says(errors, "step 1 at t = 0 s");
}

static void exit_statuses_tell_who_failed(void** state)
{
    (void)state;
    expect_status("$M run sphere_drop --steps 1 --quiet", 0);
    assert_string_equal(output, "");
    assert_string_equal(errors, "");
    expect_status("$M run s2 --steps 2 --formulation st --solver pgs --set method.solver.max_iter=1 --set "
                  "method.on_failure=warn",
                  1);
    expect_status("$M run no_such_scene", 2);
    expect_status("$M run sphere_drop --steps 1 --record /no/such/folder/a.h5", 3);
    expect_status("$M run sphere_drop --steps 1 --csv /no/such/folder/a.csv", 3);
    if (access("/dev/full", W_OK) == 0) {
        expect_status("$M run sphere_drop --steps 1 --json > /dev/full", 3);
        expect_status("$M list scenes > /dev/full", 3);
    }
}

static void bad_usage_says_what_would_be_right(void** state)
{
    (void)state;
    static const struct {
        const char *line, *part;
    } cases[] = {
        { "$M", "usage: moreau COMMAND" },
        { "$M rum peg_in_hole", "run" },
        { "$M run", "which scene?" },
        { "$M run a b", "two scenes" },
        { "$M run peg_in_hole --solvr pgs", "did you mean '--solver'" },
        { "$M run peg_in_hole --solver", "needs a value" },
        { "$M run peg_in_hole --solver lemkee", "lemke" },
        { "$M run peg_in_hole --formulation sp", "st" },
        { "$M run peg_in_hole --step -1", "step" },
        { "$M run peg_in_hole --step nan", "step" },
        { "$M run peg_in_hole --time minus", "expected seconds" },
        { "$M run peg_in_hole --steps 1.5", "whole number" },
        { "$M run peg_in_hole --threads 0", "1 to 256" },
        { "$M run peg_in_hole --at 1,x", "times separated by commas" },
        { "$M run peg_in_hole --set gravity", "KEY=VALUE" },
        { "$M run peg_in_hole --set bodies.pek.mass=2", "peg" },
        { "$M run peg_in_hole --set time.stp=2", "step" },
        { "$M list", "formulations" },
        { "$M list solver", "solvers" },
        { "$M plot", "plot" },
        { "$M plot nothing.h5 energy", "nothing.h5" },
        { "$M solve", "solve" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        expect_status(cases[i].line, 2);
        says(errors, cases[i].part);
        assert_string_equal(output, "");
    }
    expect_status("$M --help", 0);
    says(output, "Exit status");
    expect_status("$M run --help", 0);
    expect_status("$M --version", 0);
    says(output, MOR_VERSION_STRING);
}

static void options_take_their_value_after_an_equals_sign_too(void** state)
{
    (void)state;
    expect_status("$M run bounce --steps 7 --step 0.004 --json", 0);
    char* apart = strdup(strstr(output, "\"state_hash\""));
    expect_status("$M run bounce --steps=7 --step=0.004 --json", 0);
    assert_string_equal(strstr(output, "\"state_hash\""), apart);
    expect_status("$M run --steps=7 --set=time.step=0.004 --json -- bounce", 0);
    assert_string_equal(strstr(output, "\"state_hash\""), apart);
    free(apart);
    static const struct {
        const char *line, *part;
    } cases[] = {
        { "$M run bounce --json=yes", "--json takes no value" },
        { "$M run bounce --csv=", "--csv: the name of the file is empty" },
        { "$M run bounce --stps=7", "unknown option '--stps', did you mean '--steps'?" },
        { "$M run bounce --steps=", "whole number" },
        { "$M run bounce --steps=-1", "whole number" },
        { "$M run bounce --steps=1e99", "whole number" },
        { "$M run bounce --time=inf", "expected seconds" },
        { "$M run bounce --set=gravity", "KEY=VALUE" },
        { "$M run -- --steps", "--steps" }, /* a file of that name is looked for */
        { "$M run bounce --help=me", "--help=table" },
        { "$M run bounce -s", "unknown option '-s'" },
        { "$M compare bounce --start lukewarm", "cold|warm" },
        { "$M compare bounce --coordinates=all", "minimal|maximal" },
        { "$M dataset bild", "did you mean 'build'?" },
        { "$M dataset build --ful", "did you mean '--full'?" },
        { "$M reproduce --seed -3", "whole number" },
        { "$M robot --base=hanging x.urdf", "fixed or floating" },
        { "$M robot", "which URDF" },
        { "$M view bounce --port 70000", "1 to 65535" },
        { "$M view bounce --pixels=20", "WIDTHxHEIGHT" },
        { "$M list solvers --plugin", "--plugin needs a shared object" },
        { "$M list solvers --plugin=", "--plugin needs a shared object" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        expect_status(cases[i].line, 2);
        says(errors, cases[i].part);
        assert_string_equal(output, "");
    }
}

/* Every option of the table is in the text of --help, in every command. */
/* A puck's way by its friction: s = v^2/(2 mu g), so the band is s dmu/mu to each side. */
static void landscapes_and_bands_are_drawn(void** state)
{
    (void)state;
    expect_status("$M landscape puck --band friction:ice=0.02 --of position:puck.x -o band.svg", 0);
    says(output, "0 of 401 steps without a derivative");
    double at = 0.0, low = 0.0, high = 0.0;
    const char* words = strstr(output, "s: ");
    assert_non_null(words);
    assert_int_equal(sscanf(words, "s: %lf, between %lf and %lf", &at, &low, &high), 3);
    assert_true(low < at && at < high && (high - low) / (2.0 * at) > 0.09 && (high - low) / (2.0 * at) < 0.11);
    expect_status("test -s band.svg", 0);
    expect_status("$M landscape puck --vary velocity:puck.x=1..2 --points 11 --of velocity:puck.x -o l.svg", 0);
    says(output, "11 points, 0 without a derivative");
    expect_status("$M landscape puck --vary velocity:puck.x=2..1 --of velocity:puck.x", 2);
    expect_status("$M landscape puck --of velocity:puck.x", 2);
    expect_status("$M landscape puck --band friction:ice=0.02 --of position:nobody.x", 2);
}

static void help_and_its_table_name_the_same_options(void** state)
{
    (void)state;
    static const char* const commands[] = { "run",     "doctor",  "new",  "derivative", "solve", "robot",
                                            "compare", "dataset", "plot", "reproduce",  "view",  "list" };
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        char line[128];
        snprintf(line, sizeof line, "$M %s --help", commands[i]);
        expect_status(line, 0);
        says(output, "usage: moreau ");
        char* help = strdup(output);
        for (const char* p = help; p && *p; p = strchr(p, '\n') ? strchr(p, '\n') + 1 : NULL)
            if (strcspn(p, "\n") > 112) fail_msg("%s: a line of %zu columns", line, strcspn(p, "\n"));
        strcat(line, "=table");
        expect_status(line, 0);
        int options = 0;
        for (char* row = strtok(output, "\n"); row; row = strtok(NULL, "\n"), options++) {
            assert_true(row[0] == '-' && row[1] == '-' && strchr(row, '\t'));
            *strchr(row, '\t') = 0;
            says(help, row);
        }
        assert_true(options >= 3);
        free(help);
    }
}

static void plug_ins_work_in_the_viewer(void** state)
{
    (void)state;
    expect_status("$M view bounce --paused --solver gradient", 2);
    says(errors, "gradient");
    int status =
        run("$M view bounce --paused --solver gradient --plugin=" MOREAU_PLUGIN " > url & p=$!; i=0; "
            "while [ ! -s url ] && kill -0 $p 2>/dev/null && [ $i -lt 1200 ]; do sleep 0.1; i=$((i + 1)); done; "
            "kill $p; wait $p; cat url");
    if (strstr(errors, "libwebsockets")) skip(); /* built without the server */
    assert_int_equal(status, 0);
    says(output, "http://");
}

static void wrong_scenes_name_the_place(void** state)
{
    (void)state;
    expect_status("printf 'moreau: 1\\ntime: { step: 0.01, end: 1 }\\nbodies:\\n  - name: a\\n    "
                  "shpae: { sphere: 1 }\\n' > bad.yaml; $M run bad.yaml",
                  2);
    says(errors, "bad.yaml:5:5: ");
    says(errors, "shape");
}

/* 200 steps of 0.01 s: free fall until the ball rests at z = 1. */
static void a_table_has_a_row_for_every_kth_step(void** state)
{
    (void)state;
    expect_status("$M run sphere_drop --steps 100 --csv fall.csv:10 --quiet", 0);
    slurp("fall.csv", output, sizeof output);
    char* line = strtok(output, "\n");
    int columns = 1, t = -1, z = -1, column = 0;
    for (const char* p = line; *p; p++) columns += *p == ',';
    char head[4096];
    snprintf(head, sizeof head, "%s", line);
    line = strtok(NULL, "\n");
    char* rows[32];
    int count = 0;
    for (; line && count < 32; line = strtok(NULL, "\n")) rows[count++] = line;
    for (char* word = strtok(head, ","); word; word = strtok(NULL, ","), column++) {
        if (strcmp(word, "time") == 0) t = column;
        if (strcmp(word, "ball.z") == 0) z = column;
    }
    assert_true(t >= 0 && z >= 0);
    assert_int_equal(count, 10);
    for (int k = 0; k < count; k++) {
        double x[64];
        int n = 0;
        char* p = rows[k];
        for (; n < 64; n++) {
            x[n] = strtod(p, &p);
            if (*p++ != ',') break;
        }
        assert_int_equal(n + 1, columns);
        int step = 10 * (k + 1);
        assert_near(x[t], 0.01 * step, 1e-12);
        assert_near(x[z], 10 - 9.81e-4 * step * (step + 1) / 2, 1e-11);
    }
    assert_int_not_equal(run("test -e fall.csv.part"), 0);
}

static void samples_are_the_states_at_the_times_asked_for(void** state)
{
    (void)state;
    expect_status("$M run sphere_drop --steps 100 --json --at 0.5,0,0.1", 0);
    static const int steps[] = { 0, 10, 50 };
    const char* p = strstr(output, "\"samples\"");
    assert_non_null(p);
    for (int i = 0; i < 3; i++) {
        p = strstr(p, "\"time\": ");
        assert_non_null(p);
        assert_near(strtod(p + 8, NULL), 0.01 * steps[i], 1e-12);
        p = strstr(p, "\"name\": \"ball\", \"position\": [");
        assert_non_null(p);
        double x, y, z;
        assert_int_equal(sscanf(strchr(p, '['), "[%lf, %lf, %lf]", &x, &y, &z), 3);
        assert_near(z, 10 - 9.81e-4 * steps[i] * (steps[i] + 1) / 2, 1e-11);
    }
}

static void hash_of(const char* command, const char* arguments, char hash[17])
{
    char line[1024];
    snprintf(line, sizeof line, "%s run %s --json", command, arguments);
    expect_status(line, 0);
    const char* p = strstr(output, "\"state_hash\": \"");
    assert_non_null(p);
    memcpy(hash, p + 15, 16);
    hash[16] = 0;
}

/* Scenes lie in folders; a name without the folder, a path without it and a second name mean the same file. */
static void scenes_are_found_without_their_folder(void** state)
{
    (void)state;
    char by_name[17], by_path[17], by_second[17];
    hash_of("$M", "s5 --steps 2", by_name);
    hash_of("$M", MOREAU_SOURCE_DIR "/scenes/s5.yaml --steps 2", by_path);
    hash_of("$M", "mass_ratio --steps 2", by_second);
    assert_string_equal(by_name, by_path);
    assert_string_equal(by_name, by_second);
    expect_status("$M list scenes", 0);
    says(output, "\ns5 ");
    says(output, "\nmass_ratio ");
    assert_null(strstr(output, "icub_stand")); /* needs a robot that is not in the tree */
    expect_status("$M run pyrmid", 2);
    says(errors, "did you mean 'pyramid'?");
    /* a name in two folders is nobody's; a name that is there is taken whatever the folders hold */
    expect_status("mkdir -p here/a here/b && printf 'moreau: 1\\ntime: { end: 0.1 }\\n' > here/a/x.yaml && "
                  "cp here/a/x.yaml here/b/ && $M run here/x.yaml",
                  2);
    says(errors, "in the folder 'a' and one in 'b'");
    expect_status("cp here/a/x.yaml here/x.yaml && $M run here/x.yaml --quiet", 0);
    expect_status("rm here/x.yaml here/b/x.yaml && $M run here/x.yaml --quiet", 0);
    /* a file with nearly this name lies beside it; a scene from standard input */
    expect_status("$M run here/a/x.yml", 2);
    says(errors, "did you mean 'here/a/x.yaml'?");
    expect_status("$M run - < here/a/x.yaml", 0);
    says(output, "10 steps of 0.01 s");
    expect_status("cat here/a/x.yaml | $M doctor -", 0);
    expect_status("cat '" MOREAU_SOURCE_DIR "/scenes/robots/arm2.urdf' | $M robot -", 0);
    says(output, "2 degrees of freedom, 2.1 kg");
    expect_status("$M run here/a/x.yaml --step 5", 0);
    says(errors, "the step, 5 s, is longer than the run, 0.1 s: no step is taken");
}

static const char* const runs[] = {
    "s2 --steps 2",
    "ten_balls --steps 150",
    "pachinko --steps 120",
    "pachinko --steps 80 --solver lemke",
    "hull_rain --steps 100",
    "simtest --steps 60 --solver lemke",
    "simtest --steps 60 --formulation ap",
    "tumbling_box --steps 200",
    "flat_sawtooth --steps 100",
    "peg_in_hole --formulation penalty --set bodies.peg.shape.scale=1.01",
};

static void the_same_bits_on_every_run_and_for_any_number_of_threads(void** state)
{
    (void)state;
    char first[17], again[17], line[256], last[17] = "";
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        hash_of("$M", runs[i], first);
        assert_string_not_equal(first, last);
        hash_of("$M", runs[i], again);
        assert_string_equal(first, again);
        snprintf(line, sizeof line, "%s --threads 2", runs[i]);
        hash_of("$M", line, again);
        assert_string_equal(first, again);
        memcpy(last, first, 17);
    }
    /* recording and tables change nothing */
    hash_of("$M", runs[1], first);
    snprintf(line, sizeof line, "%s --record r.h5 --csv r.csv", runs[1]);
    hash_of("$M", line, again);
    assert_string_equal(first, again);
}

/* Takes a minute: builds the command a second time. */
static void the_same_bits_in_a_debug_build(void** state)
{
    (void)state;
    if (!getenv("MOREAU_LONG")) {
        print_message("SKIP: a second build; set MOREAU_LONG\n");
        skip();
    }
    expect_status("cmake -S '" MOREAU_SOURCE_DIR
                  "' -B debug -DCMAKE_BUILD_TYPE=Debug -DMOREAU_TESTS=OFF -DMOREAU_EXAMPLES=OFF && "
                  "cmake --build debug --target moreau -j 2",
                  0);
    char release[17], debug[17];
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        hash_of("$M", runs[i], release);
        char scene[64] = "", path[1500], rest[200] = "";
        sscanf(runs[i], "%63s %199[^\n]", scene, rest);
        snprintf(path, sizeof path, "%s %s", scene_path(scene), rest);
        hash_of("debug/moreau", path, debug);
        assert_string_equal(release, debug);
    }
}

/* A URDF file runs as it is, and as the scene that `convert` makes of it: the same motion. */
static void a_robot_file_is_a_scene(void** state)
{
    (void)state;
    static const struct {
        const char *file, *base;
    } robots[] = { { "arm2", "the base is fixed to the world" }, { "humanoid", "stands on a floor" } };
    for (int i = 0; i < 2; i++) {
        char line[1200], first[17], again[17];
        snprintf(line, sizeof line, "cp -r '%s/scenes/robots' .; $M run robots/%s.urdf --steps 5", MOREAU_SOURCE_DIR,
                 robots[i].file);
        expect_status(line, 0);
        says(errors, robots[i].base);
        snprintf(line, sizeof line, "$M convert robots/%s.urdf robot.yaml", robots[i].file);
        expect_status(line, 0);
        says(errors, robots[i].base);
        snprintf(line, sizeof line, "robots/%s.urdf --steps 5", robots[i].file);
        hash_of("$M", line, first);
        hash_of("$M", "robot.yaml --steps 5", again);
        assert_string_equal(first, again);
        /* a base without mass is held in MJCF too: arm2 could not be written */
        snprintf(line, sizeof line, "$M convert robots/%s.urdf robot.xml && $M run robot.xml --steps 5",
                 robots[i].file);
        expect_status(line, 0);
    }
}

/* A run that would take far longer is killed once some frames are in the file; it must open and
 * hold at least those. */
static void a_killed_run_leaves_its_recording(void** state)
{
    (void)state;
    char file[256];
    snprintf(file, sizeof file, "%s/killed.h5", folder);
    const char* scene = scene_path("pachinko");
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        execl(MOREAU_COMMAND, MOREAU_COMMAND, "run", scene, "--time", "1e5", "--record", file, "--quiet", (char*)NULL);
        _exit(127);
    }
    int seen = 0, status = 0;
    bool ended = false;
    mor_error error = { 0 };
    for (int tries = 0; seen < 200 && tries < 6000 && !ended; tries++) {
        nanosleep(&(struct timespec){ 0, 10000000 }, NULL);
        ended = waitpid(child, &status, WNOHANG) != 0;
        mor_recording* r = access(file, R_OK) == 0 ? mor_recording_open(file, &error) : NULL;
        if (!r) continue;
        seen = mor_recording_get_info(r)->frames;
        mor_recording_close(r);
    }
    if (ended) fail_msg("the run ended by itself with status %d after %d frames", WEXITSTATUS(status), seen);
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    assert_true(seen >= 200);

    mor_recording* r = mor_recording_open(file, &error);
    if (!r) fail_msg("%s", error.text);
    int frames = mor_recording_get_info(r)->frames;
    assert_true(frames >= seen);
    assert_true(mor_recording_get_info(r)->live);
    double* time = malloc((size_t)frames * sizeof *time);
    double* pose = malloc((size_t)frames * 7 * sizeof *pose);
    assert_int_equal(mor_recording_series(r, "/time", time, &error), MOR_OK);
    assert_int_equal(mor_recording_body(r, mor_recording_find_body(r, "ball_0_0_0"), pose, NULL, &error), MOR_OK);
    for (int i = 0; i < frames; i++) {
        assert_near(time[i], 0.01 * i, 1e-12 * (1 + i));
        const double* q = pose + 7 * i + 3;
        assert_near(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3], 1.0, 1e-12); /* whole frames, no zeros */
    }
    free(time);
    free(pose);
    mor_recording_close(r);
    /* fontconfig keeps its caches: not ours to report */
    expect_status("ASAN_OPTIONS=detect_leaks=0 $M plot killed.h5 energy -o killed.svg", 0);
}

/* Readers that open a recording as soon as it has its name do not stop the run that writes it. */
static void readers_do_not_stop_a_run_that_begins(void** state)
{
    (void)state;
    char file[256];
    snprintf(file, sizeof file, "%s/begins.h5", folder);
    pid_t readers[2];
    for (int k = 0; k < 2; k++) {
        readers[k] = fork();
        assert_true(readers[k] >= 0);
        if (readers[k] > 0) continue;
        for (;;) {
            mor_error error = { 0 };
            mor_recording* r = access(file, R_OK) == 0 ? mor_recording_open(file, &error) : NULL;
            if (r) mor_recording_close(r);
        }
    }
    char line[512];
    snprintf(
        line, sizeof line,
        "for k in $(seq 40); do rm -f begins.h5; $M run '%s' --steps 20 --record begins.h5 --quiet || exit 9; done",
        scene_path("ten_balls"));
    int status = run(line);
    for (int k = 0; k < 2; k++) {
        kill(readers[k], SIGKILL);
        waitpid(readers[k], NULL, 0);
    }
    assert_int_equal(status, 0);
}

static int setup(void** state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int teardown(void** state)
{
    (void)state;
    char line[256];
    snprintf(line, sizeof line, "rm -rf '%s'", folder);
    return system(line);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_checker_knows_json),
        cmocka_unit_test(json_is_exactly_one_document),
        cmocka_unit_test(scenes_are_found_without_their_folder),
        cmocka_unit_test(exit_statuses_tell_who_failed),
        cmocka_unit_test(bad_usage_says_what_would_be_right),
        cmocka_unit_test(options_take_their_value_after_an_equals_sign_too),
        cmocka_unit_test(landscapes_and_bands_are_drawn),
        cmocka_unit_test(help_and_its_table_name_the_same_options),
        cmocka_unit_test(plug_ins_work_in_the_viewer),
        cmocka_unit_test(wrong_scenes_name_the_place),
        cmocka_unit_test(a_table_has_a_row_for_every_kth_step),
        cmocka_unit_test(samples_are_the_states_at_the_times_asked_for),
        cmocka_unit_test(the_same_bits_on_every_run_and_for_any_number_of_threads),
        cmocka_unit_test(the_same_bits_in_a_debug_build),
        cmocka_unit_test(a_robot_file_is_a_scene),
        cmocka_unit_test(a_killed_run_leaves_its_recording),
        cmocka_unit_test(readers_do_not_stop_a_run_that_begins),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
