/* Answers of other programs go into a copy of the problems they were made for (docs/bpmd.md).
 *
 * The answers are text, so that every language can write them:
 *
 *     solver my fixed point
 *     mbs_frame000001
 *     0.981 0.02 0
 *     0.975 -0.01 0.1
 *
 * After the name of a frame three numbers per contact, in the order of the file: impulses [N s] along the normal and
 * the two tangents. A frame loses the answer it held before, also one that is not named, so that nobody judges one for
 * the other. */
#include "lab/dataset.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/number.h"
#include "io/bpmd/bpmd.h"
#include "io/hdf5/h5.h"
#include "io/text/output.h"
#include "io/text/text_file.h"

enum { LARGEST_TEXT = 1 << 28 };
static const size_t LARGEST_PROBLEMS = (size_t)1 << 32;

typedef struct reader {
    const char *path, *at; /* of the text that is left */
    int line;
    mor_error* error;
} reader;

/* The line that is next, without its blanks, in `line`; false: there is none. Empty lines and comments (#) are
 * passed. */
static bool next_line(reader* r, char* line, size_t size)
{
    while (*r->at) {
        size_t length = strcspn(r->at, "\n"), start = strspn(r->at, " \t\r");
        const char* begin = r->at + (start < length ? start : length);
        size_t count = (size_t)(r->at + length - begin);
        r->at += length + (r->at[length] == '\n');
        r->line++;
        while (count > 0 && strchr(" \t\r", begin[count - 1])) count--;
        if (count == 0 || *begin == '#') continue;
        snprintf(line, size, "%.*s", (int)(count < size ? count : size - 1), begin);
        return true;
    }
    return false;
}

/* Three numbers per contact. */
static mor_code read_impulses(reader* r, const char* frame, int contacts, double* impulses)
{
    char line[400];
    for (int i = 0; i < contacts; i++) {
        int before = r->line;
        if (!next_line(r, line, sizeof line))
            return mor_fail(r->error, MOR_BAD_INPUT, "%s:%d: %s has %d contacts, and impulses of %d were given",
                            r->path, before, frame, contacts, i);
        char* at = line;
        for (int k = 0; k < 3; k++) {
            char* end = at;
            impulses[3 * i + k] = mor_strtod(at, &end);
            if (end == at || !isfinite(impulses[3 * i + k]))
                return mor_fail(r->error, MOR_BAD_INPUT, "%s:%d: three numbers are needed for contact %d of %d of %s",
                                r->path, r->line, i + 1, contacts, frame);
            at = end + strspn(end, " \t,");
        }
        if (*at)
            return mor_fail(r->error, MOR_BAD_INPUT, "%s:%d: more than three numbers for contact %d of %s", r->path,
                            r->line, i + 1, frame);
    }
    return MOR_OK;
}

typedef struct frame {
    char name[64];
    int contacts;
    double* impulses; /* NULL: no answer was given */
} frame;

/* Names and contacts of all frames. */
static mor_code list_frames(const char* path, frame** frames, int* count, mor_error* error)
{
    mor_bpmd* file = mor_bpmd_open(path, error);
    if (!file) return MOR_BAD_INPUT;
    mor_code code = MOR_OK;
    *count = mor_bpmd_count(file);
    *frames = calloc((size_t)*count + 1, sizeof **frames);
    if (!*frames) code = mor_fail(error, MOR_SYSTEM, "out of memory");
    for (int i = 0; i < *count && !code; i++) {
        mor_bpmd_frame f;
        code = mor_bpmd_read(file, i, &f, error);
        if (code) break;
        snprintf((*frames)[i].name, sizeof(*frames)[i].name, "%s", f.name);
        (*frames)[i].contacts = f.contact_count;
        mor_bpmd_frame_clear(&f);
    }
    mor_bpmd_free(file);
    return code;
}

static mor_code read_answers(reader* r, char solver[64], frame* frames, int count, int* answered)
{
    char line[400];
    bool begun = next_line(r, line, sizeof line);
    if (!begun || strncmp(line, "solver ", 7) != 0 || strlen(line) > 60)
        return mor_fail(r->error, MOR_BAD_INPUT,
                        "%s:%d: the first line must be 'solver' and a name of at most 50 letters", r->path,
                        begun ? r->line : 1);
    snprintf(solver, 64, "%s", line + 7 + strspn(line + 7, " \t"));
    for (char* c = solver; *c; c++)
        if (*c == '/' || *c == '.') *c = '-'; /* it becomes the name of a group */
    *answered = 0;
    while (next_line(r, line, sizeof line)) {
        int i = 0;
        while (i < count && strcmp(frames[i].name, line) != 0) i++;
        if (i == count)
            return mor_fail(r->error, MOR_BAD_INPUT, "%s:%d: the problems have no frame '%.100s'", r->path, r->line,
                            line);
        if (frames[i].impulses)
            return mor_fail(r->error, MOR_BAD_INPUT, "%s:%d: a second answer for %s", r->path, r->line, line);
        frames[i].impulses = calloc(3 * (size_t)frames[i].contacts + 1, sizeof(double));
        if (!frames[i].impulses) return mor_fail(r->error, MOR_SYSTEM, "out of memory");
        mor_code code = read_impulses(r, frames[i].name, frames[i].contacts, frames[i].impulses);
        if (code) return code;
        *answered += 1;
    }
    return *answered ? MOR_OK : mor_fail(r->error, MOR_BAD_INPUT, "%s: no answers", r->path);
}

static mor_code put_answer(mor_h5* h5, const frame* f, const char* solver, mor_error* error)
{
    static const char* const groups[] = { "solutions", "solution" };
    char path[200];
    mor_code code = MOR_OK;
    for (int i = 0; i < 2 && !code; i++) {
        snprintf(path, sizeof path, "/%s/%s", f->name, groups[i]);
        if (mor_h5_exists(h5, path)) code = mor_h5_remove(h5, path, error);
    }
    if (code || !f->impulses) return code;
    snprintf(path, sizeof path, "/%s/solutions", f->name);
    code = mor_h5_group(h5, path, error);
    snprintf(path, sizeof path, "/%s/solutions/%s", f->name, solver);
    if (!code) code = mor_h5_group(h5, path, error);
    snprintf(path, sizeof path, "/%s/solutions/%s/impulses", f->name, solver);
    size_t dims[2] = { (size_t)f->contacts, 3 };
    if (!code) code = mor_h5_write(h5, path, MOR_H5_DOUBLE, 2, dims, f->impulses, error);
    return code;
}

static mor_code write_answers(const char* problems, const char* target, const frame* frames, int count,
                              const char* solver, mor_error* error)
{
    char* bytes;
    size_t size;
    mor_code code = mor_text_read(problems, LARGEST_PROBLEMS, &bytes, &size, error);
    if (code) return code;
    code = mor_output_write(target, bytes, size, error);
    free(bytes);
    mor_h5 h5;
    if (code) return code;
    code = mor_h5_extend(&h5, target, error);
    if (!code) {
        for (int i = 0; i < count && !code; i++) code = put_answer(&h5, &frames[i], solver, error);
        code = mor_h5_finish(&h5, code, error);
    }
    if (code) remove(target);
    return code;
}

mor_code mor_dataset_answer(const char* problems, const char* answers, const char* target, int* answered,
                            mor_error* error)
{
    if (access(target, F_OK) == 0) return mor_fail(error, MOR_BAD_INPUT, "%s: the name is taken", target);
    frame* frames = NULL;
    int count = 0;
    char *text = NULL, solver[64];
    size_t length;
    mor_code code = list_frames(problems, &frames, &count, error);
    if (!code) code = mor_text_read(answers, LARGEST_TEXT, &text, &length, error);
    if (!code) {
        reader r = { .path = answers, .at = text, .error = error };
        code = read_answers(&r, solver, frames, count, answered);
    }
    if (!code) code = write_answers(problems, target, frames, count, solver, error);
    for (int i = 0; frames && i < count; i++) free(frames[i].impulses);
    free(frames);
    free(text);
    return code;
}
