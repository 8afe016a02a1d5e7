/* What the laboratory works on: methods by name, problems from files, scenes and folders. */
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/bpmd/bpmd.h"
#include "io/fclib/fclib.h"
#include "lab/compare.h"
#include "lab/listing.h"

enum { LEAST_RECORDED = 60 }; /* frames of a scene that is run for a comparison, if it has as many steps */

mor_lab_options mor_lab_options_default(void)
{
    return (mor_lab_options){ .tols = { 1e-4, 1e-8 },
                              .tol_count = 2,
                              .time_limit = 1.0,
                              .memory_gb = 2.0,
                              .jobs = 1,
                              .frames = 50,
                              .traces = 50,
                              .scene_limit = 20.0,
                              .assume = MOR_LAB_FAMILY };
}

const char* mor_lab_formulation_name(const mor_lab* lab, int f) { return f < 0 ? "-" : lab->formulations[f]->name; }
const char* mor_lab_solver_name(const mor_lab* lab, int s) { return s < 0 ? "-" : lab->solvers[s]->name; }

/* -------------------------------------------------------------------------------- methods */

static mor_code unknown(const char* stage, const char* name, const char* const* names, mor_error* error)
{
    const char* near = mor_did_you_mean(name, names);
    return near ? mor_fail(error, MOR_BAD_INPUT, "unknown %s '%s'; did you mean '%s'?", stage, name, near)
                : mor_fail(error, MOR_BAD_INPUT, "unknown %s '%s'; see moreau list %ss", stage, name, stage);
}

mor_code mor_lab_begin(mor_lab* lab, const mor_lab_options* options, mor_error* error)
{
    *lab = (mor_lab){ .options = *options };
    const mor_library* library = options->library;
    const char* names[MOR_LAB_METHODS + 1] = { 0 };
    const char* usual[] = { "ncp", "st", NULL };
    const char* const* wanted = options->formulations[0] ? options->formulations : usual;
    for (int i = 0; i < MOR_LAB_METHODS && mor_library_formulation_at(library, i); i++)
        names[i] = mor_library_formulation_at(library, i)->name;
    for (; *wanted; wanted++) {
        const mor_formulation* f = mor_library_formulation(library, *wanted);
        if (!f) return unknown("formulation", *wanted, names, error);
        bool twice = false;
        for (int i = 0; i < lab->formulation_count; i++) twice = twice || lab->formulations[i] == f;
        if (!twice) lab->formulations[lab->formulation_count++] = f;
    }
    memset(names, 0, sizeof names);
    for (int i = 0; i < MOR_LAB_METHODS && mor_library_solver_at(library, i); i++)
        names[i] = mor_library_solver_at(library, i)->name;
    for (const char* const* one = options->solvers[0] ? options->solvers : names; *one; one++) {
        const mor_solver* s = mor_library_solver(library, *one);
        if (!s) return unknown("solver", *one, names, error);
        bool twice = false;
        for (int i = 0; i < lab->solver_count; i++) twice = twice || lab->solvers[i] == s;
        if (!twice) lab->solvers[lab->solver_count++] = s;
    }
    return MOR_OK;
}

static void remove_folder(const char* path)
{
    DIR* folder = opendir(path);
    if (!folder) return;
    for (struct dirent* e; (e = readdir(folder));) {
        char name[600];
        if (e->d_name[0] == '.' || snprintf(name, sizeof name, "%s/%s", path, e->d_name) >= (int)sizeof name) continue;
        remove(name);
    }
    closedir(folder);
    rmdir(path);
}

void mor_lab_end(mor_lab* lab)
{
    if (lab->temporary[0]) remove_folder(lab->temporary);
    free(lab->problems);
    free(lab->runs);
    free(lab->traces);
    free(lab->scene_names);
    free(lab->scene_paths);
    free(lab->scene_runs);
    mor_lab_notes_free(&lab->notes);
    memset(lab, 0, sizeof *lab);
}

/* ------------------------------------------------------------------------------- problems */

static mor_lab_problem* new_problem(mor_lab* lab, mor_error* error)
{
    if (lab->problem_count == lab->problem_capacity) {
        int capacity = lab->problem_capacity ? 2 * lab->problem_capacity : 64;
        mor_lab_problem* grown = realloc(lab->problems, (size_t)capacity * sizeof *grown);
        if (!grown) {
            mor_fail(error, MOR_SYSTEM, "out of memory");
            return NULL;
        }
        lab->problems = grown;
        lab->problem_capacity = capacity;
    }
    mor_lab_problem* p = &lab->problems[lab->problem_count];
    *p = (mor_lab_problem){ .deficiency = -1, .condition = NAN, .mass_ratio = NAN, .stored_error = NAN };
    return p;
}

/* "a/b/pile-100.h5" gives "pile-100", the family "pile". */
static void name_of(const char* path, char* name, size_t size, char* family, size_t family_size)
{
    const char* slash = strrchr(path, '/');
    snprintf(name, size, "%s", slash ? slash + 1 : path);
    char* dot = strrchr(name, '.');
    if (dot && dot != name && strcmp(dot, ".dat") != 0) *dot = '\0';
    snprintf(family, family_size, "%.*s", (int)family_size - 1, name);
    char* dash = strrchr(family, '-');
    if (dash && dash != family) *dash = '\0';
}

/* Has this frame something to solve? How many contacts. */
static mor_code look_at(mor_lab* lab, const mor_bpmd* file, int frame, int* contacts, bool* some, mor_error* error)
{
    mor_bpmd_frame f;
    mor_code code = mor_bpmd_read(file, frame, &f, error);
    if (code) return code;
    mor_lab_notes_add(&lab->notes, f.notes, f.name);
    *contacts = f.contact_count;
    *some = f.contact_count > 0;
    for (int i = 0; i < f.constraint_count; i++) *some = *some || f.constraints[i].kind != MOR_BPMD_LINK;
    mor_bpmd_frame_clear(&f);
    return MOR_OK;
}

/* Frames evenly spread over the file; one without anything to solve gives its place to the nearest one that has, on
 * its side of the frames before and after it. */
static mor_code add_frames(mor_lab* lab, const char* path, const char* name, const char* family, const mor_lab_look* at,
                           mor_error* error)
{
    mor_bpmd* file = mor_bpmd_open(path, error);
    if (!file) return MOR_BAD_INPUT;
    mor_code code = MOR_OK;
    int count = mor_bpmd_count(file), last = -1,
        wanted = lab->options.frames > 0 && lab->options.frames < count ? lab->options.frames : count;
    for (int k = 0; k < wanted && !code; k++) {
        int middle = wanted == 1 ? count - 1 : (int)((long long)k * (count - 1) / (wanted - 1));
        int next = k + 1 < wanted ? (int)((long long)(k + 1) * (count - 1) / (wanted - 1)) : count;
        int frame = -1, contacts = 0;
        for (int d = 0; frame < 0 && !code && (middle - d > last || middle + d < next); d++)
            for (int side = 0; side < (d ? 2 : 1) && frame < 0 && !code; side++) {
                int one = side ? middle + d : middle - d;
                bool some = false;
                if (one <= last || one >= next) continue;
                if (mor_lab_stopped(lab, at)) code = mor_fail(error, MOR_STOPPED, "%.600s: not read to its end", path);
                else code = look_at(lab, file, one, &contacts, &some, error);
                if (some) frame = one;
            }
        if (frame < 0 || code) continue;
        last = frame;
        mor_lab_problem* p = new_problem(lab, error);
        if (!p) {
            code = MOR_SYSTEM;
            break;
        }
        snprintf(p->name, sizeof p->name, "%s#%d", name, frame + 1);
        snprintf(p->family, sizeof p->family, "%s", family);
        snprintf(p->path, sizeof p->path, "%s", path);
        snprintf(p->kind, sizeof p->kind, "frame");
        p->frame = frame;
        p->contacts = contacts;
        lab->problem_count++;
    }
    mor_bpmd_free(file);
    return code;
}

static mor_code add_problem(mor_lab* lab, const char* path, const char* name, const char* family, mor_error* error)
{
    mor_problem_file file;
    mor_code code = mor_problem_load(path, NULL, &file, error);
    if (code) return code;
    mor_lab_problem* p = new_problem(lab, error);
    if (p) {
        snprintf(p->name, sizeof p->name, "%s", name);
        snprintf(p->family, sizeof p->family, "%s", family);
        snprintf(p->path, sizeof p->path, "%s", path);
        snprintf(p->kind, sizeof p->kind, "%s", mor_form_name(file.problem.form));
        p->frame = -1;
        p->rows = file.problem.size;
        p->contacts = file.problem.contact_count;
        lab->problem_count++;
    }
    mor_problem_file_free(&file);
    return p ? MOR_OK : MOR_SYSTEM;
}

/* Runs a scene by its own methods; every `every`-th frame goes to `file`. *every 0: as many frames as are wanted and
 * some to choose from; then what was used is told there. */
static mor_code record_scene(const mor_lab* lab, const mor_scene* scene, const char* file, const mor_lab_look* at,
                             int* every, mor_error* error)
{
    mor_world* w = mor_scene_build(scene, 1, error);
    if (!w) return MOR_BAD_INPUT;
    int steps = (int)floor(mor_scene_end(scene) / mor_world_get_step(w) + 0.5);
    if (*every == 0) {
        int most = lab->options.frames > LEAST_RECORDED / 2 ? 2 * lab->options.frames : LEAST_RECORDED;
        *every = lab->options.frames > 0 && steps > most ? steps / most : 1;
    }
    mor_bpmd_recorder* r = mor_bpmd_record(file, w, scene, *every, error);
    mor_code code = r ? MOR_OK : MOR_SYSTEM;
    if (r) mor_bpmd_record_range(r, 1, steps); /* written at the end, at once */
    if (r) mor_bpmd_record_interrupt(r, lab->options.interrupt);
    mor_world_set_interrupt(w, lab->options.interrupt);
    mor_lab_look now = *at;
    for (now.steps = steps; now.step < steps && !code && !mor_lab_stopped(lab, &now); now.step++) {
        mor_step_report report;
        code = mor_world_step(w, &report, error);
    }
    bool stopped = mor_lab_stopped(lab, &now);
    if (code == MOR_STOPPED) code = MOR_OK; /* its solver failed: the frames so far are what there is */
    mor_code closed = mor_bpmd_close(r, code ? NULL : error);
    mor_world_destroy(w);
    if (stopped) return mor_fail(error, MOR_STOPPED, "%.600s: not run to its end", at->place);
    return code ? code : closed;
}

/* Its frames are kept in a folder of this comparison. */
static mor_code add_scene(mor_lab* lab, const char* path, const char* name, const char* family, const mor_lab_look* at,
                          mor_error* error)
{
    if (!lab->temporary[0]) {
        const char* base = getenv("TMPDIR");
        snprintf(lab->temporary, sizeof lab->temporary, "%s/moreau-compare-XXXXXX", base && *base ? base : "/tmp");
        if (!mkdtemp(lab->temporary)) {
            lab->temporary[0] = '\0';
            return mor_fail(error, MOR_SYSTEM, "no temporary folder: %s", strerror(errno));
        }
    }
    mor_scene* scene = mor_scene_load(path, NULL, lab->options.library, error);
    if (!scene) return MOR_BAD_INPUT;
    void* names = realloc(lab->scene_names, (size_t)(lab->scene_count + 1) * sizeof *lab->scene_names);
    if (names) lab->scene_names = names;
    void* paths = realloc(lab->scene_paths, (size_t)(lab->scene_count + 1) * sizeof *lab->scene_paths);
    if (paths) lab->scene_paths = paths;
    if (!names || !paths) {
        mor_scene_destroy(scene);
        return mor_fail(error, MOR_SYSTEM, "out of memory");
    }
    snprintf(lab->scene_names[lab->scene_count], sizeof *lab->scene_names, "%s", name);
    snprintf(lab->scene_paths[lab->scene_count++], sizeof *lab->scene_paths, "%s", path);
    char file[600];
    snprintf(file, sizeof file, "%s/%s.h5", lab->temporary, name);
    int every = 0, before = lab->problem_count;
    mor_code code = record_scene(lab, scene, file, at, &every, error);
    if (!code) code = add_frames(lab, file, name, family, at, error);
    if (!code && every > 1 && lab->problem_count == before) { /* contacts that are short: look at every step */
        remove(file);
        every = 1;
        code = record_scene(lab, scene, file, at, &every, error);
        if (!code) code = add_frames(lab, file, name, family, at, error);
    }
    mor_scene_destroy(scene);
    return code;
}

static mor_code add_one(mor_lab* lab, const char* path, const mor_lab_look* at, mor_error* error)
{
    char name[200], family[64];
    name_of(path, name, sizeof name, family, sizeof family);
    if (mor_lab_is_scene(path)) return add_scene(lab, path, name, family, at, error);
    size_t n = strlen(path);
    if (n > 4 && strcmp(path + n - 4, ".dat") == 0) return add_problem(lab, path, name, family, error);
    mor_code code = add_frames(lab, path, name, family, at, error);
    if (code == MOR_BAD_INPUT && error && strstr(error->text, "no frames")) { /* HDF5, but not BPMD */
        mor_error kept = *error;
        code = add_problem(lab, path, name, family, error);
        if (code == MOR_BAD_INPUT) *error = kept; /* not lack of memory */
    }
    return code;
}

/* A folder may hold files that are no scenes: this is told before hours of running the others. */
static mor_code check_scenes(const mor_lab* lab, const mor_lab_listing* list, mor_error* error)
{
    for (int i = 0; i < list->count && list->count > 1; i++) {
        const mor_lab_look at = { .place = list->paths[i], .count = list->count, .scenes = list->scenes };
        if (mor_lab_stopped(lab, &at)) return mor_fail(error, MOR_STOPPED, "%.600s: not read", list->paths[i]);
        if (!mor_lab_is_scene(list->paths[i])) continue;
        mor_scene* scene = mor_scene_load(list->paths[i], NULL, lab->options.library, error);
        if (!scene) return MOR_BAD_INPUT;
        mor_scene_destroy(scene);
    }
    return MOR_OK;
}

mor_code mor_lab_add(mor_lab* lab, const char* path, mor_error* error)
{
    mor_lab_listing list;
    mor_code code = mor_lab_list(lab, path, &list, error);
    if (!code) code = check_scenes(lab, &list, error);
    for (int i = 0; i < list.count && !code; i++) {
        const mor_lab_look at = { .place = list.paths[i], .index = i + 1, .count = list.count, .scenes = list.scenes };
        code = mor_lab_stopped(lab, &at) ? mor_fail(error, MOR_STOPPED, "%.600s: not read", list.paths[i])
                                         : add_one(lab, list.paths[i], &at, error);
    }
    mor_lab_listing_free(&list);
    return code;
}
