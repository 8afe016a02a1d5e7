/* moreau plot: figures from recordings. */
#include "cli/cli.h"
#include "cli/lab/commands.h"
#include "cli/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "plot/convergence.h"
#include "plot/series.h"

#define MOST_FILES 32
#define CONVERGENCE "convergence"

/* "/solver/status": a dataset, unless it is a file. */
static bool looks_like_dataset(const char* text)
{
    const char* dot = strrchr(text, '.');
    return text[0] == '/' && access(text, F_OK) != 0 &&
           !(dot && (strcmp(dot, ".h5") == 0 || strcmp(dot, ".hdf5") == 0));
}

static bool looks_like_file(const char* text)
{
    const char* dot = strrchr(text, '.');
    return (dot && (strcmp(dot, ".h5") == 0 || strcmp(dot, ".hdf5") == 0)) || strchr(text, '/') ||
           access(text, F_OK) == 0;
}

/* FILE.h5 -> FILE.svg */
static void default_output(const char* file, char* output, size_t size)
{
    const char *dot = strrchr(file, '.'), *slash = strrchr(file, '/');
    int n = dot && (!slash || dot > slash) ? (int)(dot - file) : (int)strlen(file);
    snprintf(output, size, "%.*s.svg", n, file);
}

typedef struct arguments {
    const char *files[MOST_FILES], *quantities[MOR_FIGURE_PANELS], *output, *title;
    int file_count, quantity_count;
} arguments;

/* A recording or a quantity. */
static int take_word(void* user, char* word)
{
    arguments* a = user;
    bool quantity = mor_is_quantity(word) || strcmp(word, CONVERGENCE) == 0 || looks_like_dataset(word);
    if (a->file_count == 0 || (!quantity && looks_like_file(word))) {
        if (a->file_count == MOST_FILES) return mor_cli_usage("plot", "too many files at '%s'", word);
        a->files[a->file_count++] = word;
        return 0;
    }
    if (a->quantity_count == MOR_FIGURE_PANELS)
        return mor_cli_usage("plot", "too many quantities for one figure at '%s'", word);
    a->quantities[a->quantity_count++] = word;
    return 0;
}

static const mor_cli_option options[] = {
    { "--output", "FILE.svg|.pdf|.png", "the figure (next to the first recording, as FILE.svg)", MOR_CLI_TEXT,
      .offset = offsetof(arguments, output), .alias = "-o", .writes = true },
    { "--title", "TEXT", "above the figure (the scene)", MOR_CLI_TEXT, .offset = offsetof(arguments, title) },
    { .name = NULL },
};

static void print_quantities(FILE* out)
{
    fprintf(out, "quantities:\n");
    for (const mor_quantity* q = mor_quantities(); q->name; q++)
        fprintf(out, "  %-15s %s%s%s%s\n", q->name, q->help, q->unit[0] ? " [" : "", q->unit, q->unit[0] ? "]" : "");
    fputs("  /DATASET        any dataset of the file with one row per frame, as it is (docs/recording.md)\n"
          "\n"
          "position, orientation, velocity, acceleration and contact-forces take a body and a component:\n"
          "  position:peg    x, y and z of the body 'peg'\n"
          "  velocity:peg.z  one component: x, y, z, norm; for velocity and acceleration also wx, wy, wz;\n"
          "                  orientation: w, x, y, z\n"
          "\n"
          "  convergence     of solvers, from a trace made by `moreau solve PROBLEM --all --trace FILE.h5`:\n"
          "                  error against iteration and against time\n"
          "\n"
          "examples:\n"
          "  moreau plot run.h5 energy penetration\n"
          "  moreau plot lemke.h5 pgs.h5 position:peg.z residual timing -o compare.png\n",
          out);
}

static const mor_cli_command command = {
    .name = "plot",
    .usage = "FILE.h5 [FILE2.h5 ...] QUANTITY... [-o FILE.svg|.pdf|.png] [--title TEXT]",
    .about = "Draws quantities of one or more recordings over time, one panel each. The recording may still\n"
             "be running.\n",
    .options = options,
    .more = "",
    .operand = take_word,
    .print_more = print_quantities,
};

static int parse(int argc, char** argv, arguments* a)
{
    int status = mor_cli_parse(&command, argc, argv, a);
    if (status) return status;
    if (a->file_count == 0) return mor_cli_usage("plot", "give a recording and at least one quantity");
    if (a->quantity_count == 0)
        return mor_cli_usage("plot", "give at least one quantity (energy, position, penetration ...) to plot from '%s'",
                             a->files[0]);
    return 0;
}

static mor_code draw_recordings(const arguments* a, mor_figure* figure, mor_error* error)
{
    mor_recording* recordings[MOST_FILES] = { 0 };
    mor_code code = MOR_OK;
    for (int i = 0; !code && i < a->file_count; i++) {
        recordings[i] = mor_recording_open(a->files[i], error);
        if (!recordings[i]) code = error->code;
    }
    if (!code) mor_plot_title(figure, recordings, a->file_count);
    for (int i = 0; !code && i < a->quantity_count; i++)
        code = mor_plot_add(figure, recordings, a->file_count, a->quantities[i], error);
    for (int i = 0; i < a->file_count; i++) mor_recording_close(recordings[i]);
    return code;
}

static mor_code draw_traces(const arguments* a, mor_figure* figure, mor_error* error)
{
    mor_code code = MOR_OK;
    for (int i = 0; !code && i < a->file_count; i++) {
        mor_trace_record* records;
        int count;
        code = mor_trace_file_read(a->files[i], &records, &count, error);
        if (code) break;
        code = mor_plot_convergence(figure, records, count, error);
        mor_trace_records_free(records, count);
    }
    return code;
}

int mor_cli_plot(int argc, char** argv)
{
    arguments a = { 0 };
    int status = parse(argc, argv, &a);
    if (status) return status;

    mor_error error = { 0 };
    mor_code code = MOR_OK;
    mor_figure* figure = calloc(1, sizeof *figure);
    if (!figure) code = mor_fail(&error, MOR_SYSTEM, "out of memory");
    if (!code && a.title) snprintf(figure->title, sizeof figure->title, "%s", a.title);
    bool traces = false;
    for (int i = 0; i < a.quantity_count; i++) traces = traces || strcmp(a.quantities[i], CONVERGENCE) == 0;
    if (traces && a.quantity_count > 1)
        code = mor_fail(&error, MOR_BAD_INPUT,
                        "convergence is drawn from traces, the other quantities from recordings: one figure each");
    if (!code) code = traces ? draw_traces(&a, figure, &error) : draw_recordings(&a, figure, &error);

    char output[1100];
    default_output(a.files[0], output, sizeof output);
    if (a.output) snprintf(output, sizeof output, "%s", a.output);
    if (!code) code = mor_figure_write(figure, output, &error);
    if (code) mor_cli_fail_in("plot", &error);
    else printf("%s\n", output);

    if (figure) mor_figure_clear(figure);
    free(figure);
    return (int)code;
}
