/* moreau: a table of subcommands. */
#include "cli/cli.h"
#include "cli/laboratory.h"
#include "cli/options.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct command {
    const char* name;
    int (*run)(int, char**);
    const char* help;
} commands[] = {
    { "run", mor_cli_run, "simulate a scene" },
    { "doctor", mor_cli_doctor, "say why a scene fails or is slow, and what to change" },
    { "new", mor_cli_new, "write a commented scene to start from" },
    { "solve", mor_cli_solve, "solve stored complementarity and contact problems" },
    { "robot", mor_cli_robot, "read a URDF or MJCF file: its tree, masses, and M, h, g, Jacobians at given states" },
    { "convert", mor_cli_convert, "write a robot or a scene as URDF, MJCF or scene" },
    { "derivative", mor_cli_derivative, "how a step depends on its state and inputs, through contact" },
    { "optimise", mor_cli_optimise, "initial states and forces that bring a scene to a goal" },
    { "calibrate", mor_cli_laboratory, "fit values of a scene to measured motion, with intervals" },
    { "compare", mor_cli_laboratory, "run formulations and solvers on the same problems, fairly" },
    { "dataset", mor_cli_laboratory, "build and describe the database of benchmark problems" },
    { "inverse", mor_cli_laboratory, "contact impulses and unknown forces from a motion; fits by least squares" },
    { "landscape", mor_cli_laboratory, "draw a value and its derivative over a range, or a band along the motion" },
    { "plot", mor_cli_laboratory, "draw what a recording holds" },
    { "reproduce", mor_cli_laboratory, "run the papers' experiments again: data, figures, a page" },
    { "sweep", mor_cli_laboratory, "run a scene with many values of its parameters, and measure" },
    { "trust", mor_cli_laboratory, "say up to which step and time a simulation can be trusted" },
    { "view", mor_cli_laboratory, "show recordings and running scenes in the browser" },
    { "export-fmu", mor_cli_export_fmu, "write a scene as a unit for co-simulation (FMI)" },
    { "list", mor_cli_list, "list formulations, solvers, collision methods, shapes, scenes" },
};
enum { COMMAND_COUNT = sizeof commands / sizeof *commands };

const char* mor_cli_summary(const char* command)
{
    for (int i = 0; i < COMMAND_COUNT; i++)
        if (strcmp(command, commands[i].name) == 0) return commands[i].help;
    return "";
}

static void help(FILE* out)
{
    fprintf(out,
            "moreau %s: rigid bodies with contact and friction, and fair comparison of the methods\n\n"
            "usage: moreau COMMAND [ARGUMENTS]     (moreau help COMMAND tells more)\n\n",
            mor_version());
    for (int i = 0; i < COMMAND_COUNT; i++) fprintf(out, "  %-10s %s\n", commands[i].name, commands[i].help);
    fprintf(out,
            "\n--plugin FILE.so adds methods of your own to any command (docs/tutorials/your-solver.md)\n"
            "A first try:  moreau run peg_in_hole\n"
            "Exit status:  0 success, 1 the method failed on the problem, 2 bad usage or input, 3 the system failed\n");
}

/* "; did you mean ...": the text begins with a file that is not there, and one beside it has a similar name. */
static void print_near(const char* text)
{
    const char* colon = strstr(text, ": ");
    char asked[4096], near[4400] = "";
    if (!colon || colon - text >= (int)sizeof asked || strstr(text, "did you mean")) return;
    snprintf(asked, sizeof asked, "%.*s", (int)(colon - text), text);
    for (char* end = asked + strlen(asked); end > asked && (end[-1] == ':' || (end[-1] >= '0' && end[-1] <= '9'));) {
        if (*--end != ':') continue;
        *end = '\0'; /* FILE:LINE:COLUMN */
        if (access(asked, F_OK) == 0) return;
        *end = ':';
    }
    if (access(asked, F_OK) != 0 && errno == ENOENT) mor_cli_near_file(asked, false, near, sizeof near);
    if (*near && strcmp(near, asked) != 0) fprintf(stderr, "; did you mean '%s'?", near);
}

static int fail_as(const char* who, const mor_error* error)
{
    char short_text[MOR_CLI_SHORT_TEXT];
    const char* text = mor_cli_short_text(error->text, short_text);
    fprintf(stderr, "%s: %s", who, text);
    if (strstr(text, "No such file")) print_near(text);
    fputc('\n', stderr);
    return error->code == MOR_OK ? MOR_SYSTEM : (int)error->code;
}

int mor_cli_fail(const mor_error* error) { return fail_as("moreau", error); }

int mor_cli_fail_in(const char* command, const mor_error* error)
{
    char who[64];
    snprintf(who, sizeof who, "moreau %s", command);
    return fail_as(who, error);
}

int mor_cli_usage(const char* command, const char* format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(stderr, "moreau %s: ", command);
    vfprintf(stderr, format, args);
    fprintf(stderr, "; see 'moreau %s --help'\n", command);
    va_end(args);
    return MOR_BAD_INPUT;
}

/* Output that could not be written is a failure of the system, whatever the command thought of its work. */
static int finish(int status)
{
    if (fflush(stdout) == 0 && !ferror(stdout)) return status;
    if (status < MOR_BAD_INPUT) fprintf(stderr, "moreau: cannot write to standard output\n");
    return status < MOR_BAD_INPUT ? MOR_SYSTEM : status;
}

#if defined(__SANITIZE_ADDRESS__)
/* The font library keeps its caches to the end; in a build with sanitizers that is no leak of ours. */
MOR_API const char* __lsan_default_suppressions(void);
MOR_API const char* __lsan_default_options(void);
const char* __lsan_default_suppressions(void) { return "leak:libfontconfig"; }
const char* __lsan_default_options(void) { return "print_suppressions=0"; }
#endif

/* What needs no command: help, the list of commands for programs (name and summary, separated by a tab), the version.
 * False: argv is not that. */
static bool tell_about(int argc, char** argv)
{
    if (argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0))
        help(stdout);
    else if (strcmp(argv[1], "--help=table") == 0)
        for (int i = 0; i < COMMAND_COUNT; i++) printf("%s\t%s\n", commands[i].name, commands[i].help);
    else if (strcmp(argv[1], "--version") == 0) printf("moreau %s\n", mor_version());
    else return false;
    return true;
}

int main(int argc, char** argv)
{
    mor_cli_watch_memory();
    if (argc < 2) {
        help(stderr);
        return MOR_BAD_INPUT;
    }
    if (tell_about(argc, argv)) return finish(0);
    /* moreau help COMMAND, moreau --help COMMAND */
    char ask[] = "--help", *asked[] = { argv[0], argc > 2 ? argv[2] : NULL, ask, NULL };
    if (argc > 2 && (strcmp(argv[1], "help") == 0 || strcmp(argv[1], "--help") == 0)) argc = 3, argv = asked;
    const char* names[COMMAND_COUNT + 1] = { 0 };
    for (int i = 0; i < COMMAND_COUNT; i++) {
        names[i] = commands[i].name;
        if (strcmp(argv[1], commands[i].name) != 0) continue;
        int status = mor_cli_hand_over(argc, argv, commands[i].run == mor_cli_laboratory);
        if (status) return status;
        int count = argc - 1;
        status = mor_cli_plugins(&count, argv + 1);
        if (!status) status = commands[i].run(count, argv + 1);
        return finish(status == MOR_CLI_DONE ? 0 : status);
    }
    const char* near = mor_did_you_mean(argv[1], names);
    fprintf(stderr, "moreau: unknown command '%s'; %s%s%s\n", argv[1], near ? "did you mean '" : "see moreau --help",
            near ? near : "", near ? "'?" : "");
    return MOR_BAD_INPUT;
}
