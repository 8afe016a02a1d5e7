/* The laboratory in the program moreau: not there. What needs it is handed over to moreau-lab, which lies beside this
 * program in a build directory and at MOREAU_LAB_PATH, relative to this program's folder, when installed. The
 * arguments are looked at, not understood: a word too many that looks like --record only costs the slower start. */
#include "cli/laboratory.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"

/* Options of run and solve that need the laboratory; also as --option=value. */
static bool is_laboratory_option(const char* word)
{
    static const char* const options[] = { "--record", "--bpmd", "--trace" };
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        size_t n = strlen(options[i]);
        if (strncmp(word, options[i], n) == 0 && (word[n] == '\0' || word[n] == '=')) return true;
    }
    return false;
}

/* argv[2...]: an option of the laboratory, or for `solve` a file of HDF5. */
static bool arguments_need_it(int argc, char** argv)
{
    bool solve = strcmp(argv[1], "solve") == 0;
    for (int i = 2; i < argc; i++) {
        if (is_laboratory_option(argv[i])) return true;
        bool from = strncmp(argv[i], "--from=", 7) == 0 || strcmp(argv[i - 1], "--from") == 0;
        if (from && (strstr(argv[i], ".h5") || strstr(argv[i], ".hdf5"))) return true;
        bool standard = strcmp(argv[i], "-") == 0 && argv[i - 1][0] != '-'; /* no option's value */
        if (!solve || (argv[i][0] == '-' && !standard)) continue;
        errno = 0;
        if (mor_is_hdf5(mor_cli_file(argv[i])) || errno == EIO)
            return true; /* what cannot be looked at is not decided here */
    }
    return false;
}

int mor_cli_hand_over(int argc, char** argv, bool command_needs_it)
{
    if (!command_needs_it && !arguments_need_it(argc, argv)) return 0;
    static const char* const places[] = { "moreau-lab", MOREAU_LAB_PATH };
    char self[PATH_MAX], path[2 * PATH_MAX] = "moreau-lab";
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    int why = n > 0 ? ENOENT : errno;
    if (n > 0) {
        self[n] = '\0';
        char* slash = strrchr(self, '/');
        if (slash) *slash = '\0';
        for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
            snprintf(path, sizeof path, "%s/%s", self, places[i]);
            execv(path, argv);
            why = errno;
            if (why != ENOENT) break;
        }
    }
    fprintf(stderr,
            "moreau: %s needs the laboratory, and its program %s cannot be started: %s; install it with Moreau's "
            "other files, or build the target moreau-lab\n",
            command_needs_it ? argv[1] : "this option or file", path, strerror(why));
    return MOR_SYSTEM;
}

/* ------------------------------------------------------- what is handed over before it is called */

static mor_code absent(mor_error* error)
{
    return mor_fail(error, MOR_SYSTEM, "this program has no laboratory; see moreau --help");
}

int mor_cli_laboratory(int argc, char** argv)
{
    (void)argc, (void)argv;
    mor_error error = { 0 };
    absent(&error);
    return mor_cli_fail(&error);
}

mor_cli_recording* mor_cli_recording_open(const char* recording, const mor_cli_problems* problems, mor_world* world,
                                          const mor_scene* scene, mor_error* error)
{
    (void)recording, (void)problems, (void)world, (void)scene;
    absent(error);
    return NULL;
}

mor_code mor_cli_recording_start(const char* path, double time, mor_world* world, mor_error* error)
{
    (void)path, (void)time, (void)world;
    return absent(error);
}

mor_code mor_cli_recording_state(const mor_cli_recording* recording, mor_error* error)
{
    return recording ? absent(error) : MOR_OK;
}

mor_code mor_cli_recording_close(mor_cli_recording* recording, mor_error* error)
{
    return recording ? absent(error) : MOR_OK;
}

mor_code mor_cli_problem_load(const char* path, const char* kind, mor_problem_file* file, mor_error* error)
{
    return mor_problem_read(path, kind, file, error);
}

mor_code mor_cli_trace_create(const char* path, mor_trace_file** file, mor_error* error)
{
    (void)path, (void)file;
    return absent(error);
}

mor_code mor_cli_trace_add(mor_trace_file* file, const char* problem, const char* solver, const mor_trace* trace,
                           mor_error* error)
{
    (void)file, (void)problem, (void)solver, (void)trace;
    return absent(error);
}

mor_code mor_cli_trace_close(mor_trace_file* file, mor_error* error)
{
    (void)file;
    return absent(error);
}
