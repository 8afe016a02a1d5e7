/* Stored problems in the viewer, see problem_view.h.
 *
 * A BPMD file becomes a recording in a temporary folder that is gone as soon as it is open. A report holds the viewer's
 * page once and each frame as one more recording, both deflated and in base64: about 240 kB, and 1 to 20 kB a frame. */
#include "serve/problem_view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "io/bpmd/bpmd.h"
#include "serve/export.h"

enum { MOST_FRAMES = 60, MOST_CONTACTS = 600, MOST_BYTES = 1200000 }; /* as report_data.c; base64 of all frames */

/* The frames as a recording of the file's own name, so that the page shows that name. */
static mor_recording* convert(const mor_bpmd* file, const char* path, int frame, const mor_library* library, int* kept,
                              mor_error* error)
{
    const char *base = getenv("TMPDIR"), *slash = strrchr(path, '/');
    char folder[512], copy[1024];
    snprintf(folder, sizeof folder, "%s/moreau-view-XXXXXX", base && *base ? base : "/tmp");
    if (!mkdtemp(folder)) {
        mor_fail(error, MOR_SYSTEM, "no temporary folder: %s", strerror(errno));
        return NULL;
    }
    snprintf(copy, sizeof copy, "%s/%.400s", folder, slash ? slash + 1 : path);
    mor_recording* r = NULL;
    if (!mor_bpmd_to_recording(file, frame - 1, library, copy, kept, error)) r = mor_recording_open(copy, error);
    remove(copy);
    rmdir(folder);
    return r;
}

mor_recording* mor_view_open(const char* path, int frame, const mor_library* library, int* left_out, mor_error* error)
{
    mor_error first = { 0 }, none = { 0 };
    if (left_out) *left_out = 0;
    mor_recording* r = mor_recording_open(path, &first);
    if (r && frame > 0) {
        mor_recording_close(r);
        mor_fail(error, MOR_BAD_INPUT, "%s: a recording has times, not frames of problems: use --at", path);
        return NULL;
    }
    if (r) return r;
    mor_bpmd* file = first.code == MOR_SYSTEM ? NULL : mor_bpmd_open(path, &none);
    if (!file) {
        if (error) *error = none.code == MOR_SYSTEM ? none : first;
        return NULL;
    }
    int count = mor_bpmd_count(file), kept = 0;
    if (frame > count) mor_fail(error, MOR_BAD_INPUT, "%s: frame %d is asked for, there are %d", path, frame, count);
    else r = convert(file, path, frame, library, &kept, error);
    if (r && left_out) *left_out = frame > 0 ? 0 : count - kept;
    mor_bpmd_free(file);
    return r;
}

/* ----------------------------------------------------------------------------------- the report */

static void put_page(FILE* out)
{
    uLongf size = compressBound((uLong)mor_viewer_page_size);
    unsigned char* zipped = malloc(size);
    if (zipped && compress2(zipped, &size, mor_viewer_page, (uLong)mor_viewer_page_size, 9) == Z_OK) {
        fputs("<script type=\"application/octet-stream\" id=\"viewer\">", out);
        mor_write_base64(out, zipped, size);
        fputs("</script>\n", out);
    }
    free(zipped);
}

void mor_view_report(const mor_lab* lab, FILE* out)
{
    size_t used = 0;
    int written = 0;
    for (int i = 0; i < lab->problem_count && written < MOST_FRAMES; i++) {
        const mor_lab_problem* p = &lab->problems[i];
        if (p->frame < 0 || p->contacts > MOST_CONTACTS || !mor_lab_traced(lab, i)) continue;
        mor_recording* r = mor_view_open(p->path, p->frame + 1, lab->options.library, NULL, NULL);
        mor_bytes zipped = { 0 };
        if (r && !mor_export_payload(&zipped, r, NULL) && used + zipped.size / 3 * 4 < MOST_BYTES) {
            if (written++ == 0) put_page(out);
            fprintf(out, "<script type=\"application/octet-stream\" class=\"stage\" data-p=\"%d\">", i);
            mor_write_base64(out, zipped.data, zipped.size);
            fputs("</script>\n", out);
            used += zipped.size / 3 * 4;
        }
        mor_bytes_free(&zipped);
        mor_recording_close(r);
    }
}
