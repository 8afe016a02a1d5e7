/* Building, checking and extending the benchmark database, see dataset.h. */
#include "lab/dataset.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/failed.h"
#include "io/bpmd/bpmd.h"
#include "io/fclib/fclib.h"
#include "io/scene/scene_def.h"
#include "io/text/output.h"
#include "io/text/text_file.h"
#include "lab/dataset_page.h"
#include "model/step.h"

#define LARGEST_FILE ((size_t)1 << 36) /* bytes of a file that is added */

static mor_code write_urdf(const char* folder, const mor_family* family, double size, mor_error* error)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/robots", folder);
    mkdir(path, 0777); /* a failure shows below */
    if (snprintf(path, sizeof path, "%s/robots/%s-%g.urdf", folder, family->name, size) >= (int)sizeof path)
        return mor_fail(error, MOR_BAD_INPUT, "%.200s...: name too long", folder);
    FILE* out = mor_output_open(path, error);
    if (!out) return MOR_SYSTEM;
    family->urdf(size, out);
    return mor_output_close(out, path, true, error);
}

/* Where the file comes from, as for files that are added. */
static mor_code write_provenance(const char* path, const mor_family* family, mor_error* error)
{
    char engine[64], command[128];
    snprintf(engine, sizeof engine, "moreau %s", mor_version());
    snprintf(command, sizeof command, "moreau dataset build --full --family %s", family->name);
    mor_provenance p = { .author = "The Moreau authors", .licence = "MIT", .engine = engine, .command = command };
    return mor_provenance_write(path, &p, error);
}

mor_code mor_dataset_build(const char* folder, const mor_family* family, double size, const volatile int* stop,
                           bool* built, mor_error* error)
{
    char path[1024], name[96], work[1100], *text = NULL;
    size_t length = 0;
    *built = false;
    snprintf(name, sizeof name, "%s-%g.h5", family->name, size);
    if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path)
        return mor_fail(error, MOR_BAD_INPUT, "%.200s...: name too long", folder);
    if (access(path, F_OK) == 0) return MOR_OK;
    if (family->urdf) {
        mor_code written = write_urdf(folder, family, size, error);
        if (written) return written;
    }
    FILE* out = open_memstream(&text, &length);
    if (!out) return mor_fail(error, MOR_SYSTEM, "out of memory");
    family->scene(size, out);
    fclose(out);
    mor_code code = MOR_OK;
    mor_bpmd_recorder* r = NULL;
    mor_world* w = NULL;
    mor_scene* scene = mor_scene_parse(text, length, path, NULL, NULL, error);
    if (scene) scene->file = name; /* the same bytes in every folder */
    if (!scene || !(w = mor_scene_build(scene, 1, error))) code = MOR_BAD_INPUT;
    snprintf(work, sizeof work, "%s.building", path); /* an interrupted build leaves no file that looks finished */
    remove(work);
    if (!code && !(r = mor_bpmd_record(work, w, scene, family->third, error))) code = MOR_SYSTEM;
    if (w) mor_world_set_interrupt(w, stop);
    if (r) mor_bpmd_record_range(r, 2, 3 * family->third + 1), mor_bpmd_record_iterations(r, MOR_BPMD_ITERATIONS);
    for (int k = 0; k < 3 * family->third + 1 && !code; k++) {
        mor_step_report report;
        code = mor_world_step(w, &report, error);
        if (code == MOR_STOPPED)
            code = mor_fail(error, MOR_BAD_INPUT, "%s: step %d has no answer: %s", name, k + 1, report.detail);
    }
    mor_code closed = mor_bpmd_close(r, code ? NULL : error);
    if (!code) code = closed;
    if (!code) code = mor_output_replace(work, path, path, error);
    if (code) remove(work);
    *built = !code;
    if (!code) code = write_provenance(path, family, error);
    mor_world_destroy(w);
    mor_scene_destroy(scene);
    free(text);
    return code;
}

mor_code mor_dataset_check(const char* path, int* frames, int* contacts, mor_error* error)
{
    mor_bpmd* file = mor_bpmd_open(path, error);
    if (!file) return MOR_BAD_INPUT;
    mor_code code = MOR_OK;
    *frames = mor_bpmd_count(file);
    *contacts = 0;
    for (int i = 0; i < *frames && !code; i++) {
        mor_bpmd_frame f;
        code = mor_bpmd_read(file, i, &f, error);
        if (code) break;
        *contacts += f.contact_count;
        mor_world* w = mor_bpmd_world(&f, NULL, NULL, error);
        if (!w) code = mor_failed(error, MOR_BAD_INPUT);
        mor_world_destroy(w);
        mor_bpmd_frame_clear(&f);
    }
    mor_bpmd_free(file);
    if (!code && *frames == 0) code = mor_fail(error, MOR_BAD_INPUT, "%s:/: no frames", path);
    if (!code && *contacts == 0)
        code = mor_fail(error, MOR_BAD_INPUT, "%s: no frame has a contact: nothing to solve", path);
    return code;
}

mor_code mor_dataset_add(const char* folder, const char* path, mor_error* error)
{
    int frames, contacts;
    mor_code code = mor_dataset_check(path, &frames, &contacts, error);
    if (code) return code;
    char target[1024], *bytes;
    size_t size;
    const char* slash = strrchr(path, '/');
    snprintf(target, sizeof target, "%s/%s", folder, slash ? slash + 1 : path);
    if (access(target, F_OK) == 0)
        return mor_fail(error, MOR_BAD_INPUT, "%s: the name is taken; rename the file", target);
    code = mor_text_read(path, LARGEST_FILE, &bytes, &size, error);
    if (!code) code = mor_output_write(target, bytes, size, error);
    free(bytes);
    return code;
}

/* The islands of a frame. A frame without FCLIB form gives MOR_BAD_INPUT and a sentence. */
static mor_code export_frame(const mor_bpmd_frame* f, const char* path, const char* folder, const char* stem,
                             int* problems, mor_error* error)
{
    char target[1024], title[400];
    int islands = 0;
    mor_world* w = mor_bpmd_world(f, NULL, NULL, error);
    if (!w) return mor_failed(error, MOR_BAD_INPUT);
    mor_code code = MOR_OK;
    for (int k = 0; k < w->last->island_count; k++) islands += w->last->islands[k].system.contact_count > 0;
    for (int k = 0, number = 0; k < w->last->island_count && !code; k++) {
        if (w->last->islands[k].system.contact_count == 0) continue;
        int n = snprintf(target, sizeof target, "%s/%s-%s", folder, stem, f->name);
        if (islands > 1) n += snprintf(target + n, sizeof target - (size_t)n, "-%d", ++number);
        snprintf(target + n, sizeof target - (size_t)n, ".hdf5");
        snprintf(title, sizeof title, "%s %s, island %d of %d", stem, f->name, islands > 1 ? number : 1, islands);
        mor_error reason = { 0 };
        code = mor_fclib_write_system(target, &w->last->islands[k].system, title, &reason);
        if (!code) ++*problems;
        else mor_fail(error, code, "%s:/%s: %.400s", path, f->name, reason.text);
    }
    mor_world_destroy(w);
    return code;
}

mor_code mor_dataset_export(const char* path, const char* folder, int* problems, mor_error* error)
{
    mor_bpmd* file = mor_bpmd_open(path, error);
    if (!file) return MOR_BAD_INPUT;
    const char* slash = strrchr(path, '/');
    char stem[256];
    snprintf(stem, sizeof stem, "%s", slash ? slash + 1 : path);
    char* dot = strrchr(stem, '.');
    if (dot && dot != stem) *dot = '\0';
    mor_code code = MOR_OK, first = MOR_OK;
    for (int i = 0; i < mor_bpmd_count(file) && code != MOR_SYSTEM; i++) {
        mor_bpmd_frame f;
        mor_error reason = { 0 };
        code = mor_bpmd_read(file, i, &f, &reason);
        if (!code) {
            code = export_frame(&f, path, folder, stem, problems, &reason);
            mor_bpmd_frame_clear(&f);
        }
        if (code && !first) {
            first = code;
            mor_fail(error, code, "%s", reason.text);
        }
    }
    mor_bpmd_free(file);
    return first;
}
