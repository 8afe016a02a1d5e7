/* moreau view: recordings and running scenes in the browser. */
#include "cli/cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "serve/export.h"

static const char help_text[] =
    "usage: moreau view FILE.h5 [FILE2.h5 ...] --html OUT.html [options]\n\n"
    "Shows recordings in the browser. The first is the subject, the others are laid over it or shown beside it.\n\n"
    "  --html OUT.html      one file with the recordings inside, opens from disk\n"
    "  --size MB            largest size of that file; frames are left out until it fits (3)\n"
    "  --rate N             most frames per second of simulated time in that file (60)\n";

enum { MOST_FILES = 9 };

typedef struct arguments {
    const char *files[MOST_FILES], *html;
    int file_count;
    mor_export_options export;
    bool help;
} arguments;

static bool number(const char* text, double low, double high, double* value)
{
    char* end;
    *value = strtod(text, &end);
    return end != text && *end == '\0' && *value >= low && *value <= high;
}

static int parse(int argc, char** argv, arguments* a)
{
    static const char* const known[] = { "--html", "--size", "--rate", "--help", NULL };
    *a = (arguments){ .export = mor_export_options_default() };
    for (int i = 1; i < argc; i++) {
        const char* word = argv[i];
        if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
            a->help = true;
            return 0;
        }
        if (word[0] != '-') {
            if (a->file_count == MOST_FILES) return mor_cli_usage("view", "more than %d recordings", MOST_FILES);
            a->files[a->file_count++] = word;
            continue;
        }
        bool is_known = false;
        for (int k = 0; known[k]; k++) is_known = is_known || strcmp(known[k], word) == 0;
        if (!is_known) {
            const char* near = mor_did_you_mean(word, (const char**)known);
            return near ? mor_cli_usage("view", "unknown option '%s', did you mean '%s'?", word, near)
                        : mor_cli_usage("view", "unknown option '%s'", word);
        }
        if (++i == argc) return mor_cli_usage("view", "%s needs a value", word);
        double x = 0.0;
        if (strcmp(word, "--html") == 0) a->html = argv[i];
        else if (strcmp(word, "--size") == 0) {
            if (!number(argv[i], 1.0, 1000.0, &x)) return mor_cli_usage("view", "--size %s: expected 1 to 1000 (MB)", argv[i]);
            a->export.most_bytes = 1e6 * x;
        } else {
            if (!number(argv[i], 0.01, 1e6, &x)) return mor_cli_usage("view", "--rate %s: expected frames per second", argv[i]);
            a->export.rate = x;
        }
    }
    if (a->file_count == 0) return mor_cli_usage("view", "which recording?");
    return 0;
}

static int export_html(const arguments* a, mor_recording* const* recordings)
{
    mor_error error = { 0 };
    mor_export_report reports[MOST_FILES];
    if (mor_export_html(a->html, recordings, a->file_count, &a->export, reports, &error)) return mor_cli_fail(&error);
    printf("%s: %.2f MB\n", a->html, reports[0].bytes / 1e6);
    for (int i = 0; i < a->file_count; i++)
        printf("  %s: %d of %d frames%s\n", a->files[i], reports[i].frames, reports[i].of_frames,
               reports[i].contacts || !mor_recording_get_info(recordings[i])->has_contacts ? "" : ", without contacts");
    if (reports[0].bytes > a->export.most_bytes)
        fprintf(stderr, "moreau: %s is larger than %g MB even with two frames per recording\n", a->html, a->export.most_bytes / 1e6);
    return 0;
}

int mor_cli_view(int argc, char** argv)
{
    arguments a;
    int code = parse(argc, argv, &a);
    if (code) return code;
    if (a.help) {
        fputs(help_text, stdout);
        return 0;
    }
    mor_error error = { 0 };
    mor_recording* recordings[MOST_FILES] = { 0 };
    for (int i = 0; !code && i < a.file_count; i++) {
        recordings[i] = mor_recording_open(a.files[i], &error);
        if (!recordings[i]) code = mor_cli_fail(&error);
    }
    if (!code) code = a.html ? export_html(&a, recordings) : mor_cli_usage("view", "where to? --html FILE.html is missing");
    for (int i = 0; i < a.file_count; i++) mor_recording_close(recordings[i]);
    return code;
}
