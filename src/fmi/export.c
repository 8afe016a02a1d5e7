/* Writing a unit, see export.h. */
#include "fmi/export.h"

#include "fmi/unit.h"
#include "io/text/output.h"
#include "io/text/text_file.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ------------------------------------------------------------------------- a temporary folder */

static mor_code make_folders(char* path, mor_error* error)
{
    for (char* at = path + 1; *at; at++) {
        if (*at != '/') continue;
        *at = '\0';
        int failed = mkdir(path, 0700) && errno != EEXIST;
        if (failed) mor_fail(error, MOR_SYSTEM, "%s: %s", path, strerror(errno));
        *at = '/';
        if (failed) return MOR_SYSTEM;
    }
    return MOR_OK;
}

/* Removes the copies and their folders, deepest first, as far as they are empty. */
static void remove_copies(const mor_fmu_files* f, const char* folder)
{
    char path[2 * PATH_MAX];
    for (int i = 0; i <= f->count; i++) {
        if (i < f->count) snprintf(path, sizeof path, "%s/%s", folder, f->paths[i] + strlen(f->base) + 1);
        else snprintf(path, sizeof path, "%s/moreau.txt", folder);
        unlink(path);
        for (char* slash; (slash = strrchr(path, '/')) && slash > path + strlen(folder);) {
            *slash = '\0';
            if (rmdir(path)) break;
        }
    }
    rmdir(folder);
}

/* ---------------------------------------------------------------------------------- the parts */

/* FNV-1a, over and over: the token is a fingerprint of what is in the unit. */
static void mix(uint64_t hash[2], const void* data, size_t size)
{
    const unsigned char* bytes = data;
    for (size_t i = 0; i < size; i++) {
        hash[0] = (hash[0] ^ bytes[i]) * 1099511628211u;
        hash[1] = (hash[1] + bytes[i]) * 6364136223846793005u + 1442695040888963407u;
    }
}

typedef struct package {
    const mor_fmu_export* what;
    mor_fmu_files files;
    char folder[64]; /* of the copy */
    char token[40];
    char* listing; /* moreau.txt */
    size_t listing_size;
    mor_zip* zip;
} package;

/* Reads a file and gives it to the archive (zip) or the folder (copy) under a name. */
static mor_code put_file(package* p, const char* path, const char* name, bool copy, uint64_t hash[2], mor_error* error)
{
    char* text;
    size_t size;
    mor_code code = mor_text_read(path, (size_t)1 << 30, &text, &size, error);
    if (code) return code;
    if (hash) mix(hash, text, size);
    if (copy) {
        char to[2 * PATH_MAX];
        snprintf(to, sizeof to, "%s/%s", p->folder, name);
        code = make_folders(to, error);
        if (!code) code = mor_output_write(to, text, size, error);
    } else mor_zip_add(p->zip, name, text, size);
    free(text);
    return code;
}

static mor_code write_listing(package* p, mor_error* error)
{
    FILE* out = open_memstream(&p->listing, &p->listing_size);
    if (!out) return mor_fail(error, MOR_SYSTEM, "out of memory");
    fprintf(out, "%s\n%s\n", p->token, p->files.paths[0] + strlen(p->files.base) + 1);
    for (const char* const* one = p->what->overrides; one && *one; one++) fprintf(out, "%s\n", *one);
    if (fclose(out)) return mor_fail(error, MOR_SYSTEM, "out of memory");
    char path[128];
    snprintf(path, sizeof path, "%s/moreau.txt", p->folder);
    return mor_output_write(path, p->listing, p->listing_size, error);
}

/* Copies everything, so that the copy can be tried. */
static mor_code copy_all(package* p, mor_error* error)
{
    snprintf(p->folder, sizeof p->folder, "/tmp/moreau-fmu-XXXXXX");
    mor_code code = mor_fmu_gather(p->what->scene, &p->files, error);
    if (code) return code;
    if (!mkdtemp(p->folder)) return mor_fail(error, MOR_SYSTEM, "%s: %s", p->folder, strerror(errno));
    uint64_t hash[2] = { 14695981039346656037u, (uint64_t)p->what->version };
    for (const char* const* one = p->what->overrides; one && *one; one++) mix(hash, *one, strlen(*one) + 1);
    for (int i = 0; i < p->files.count && !code; i++)
        code = put_file(p, p->files.paths[i], p->files.paths[i] + strlen(p->files.base) + 1, true, hash, error);
    mix(hash, mor_version(), strlen(mor_version()));
    snprintf(p->token, sizeof p->token, "{%016llx%016llx}", (unsigned long long)hash[0], (unsigned long long)hash[1]);
    return code ? code : write_listing(p, error);
}

static mor_code fill(package* p, const char* description, size_t size, mor_error* error)
{
    const char* place = p->what->version == 2 ? "binaries/linux64/moreau.so" : "binaries/x86_64-linux/moreau.so";
#if defined(__aarch64__)
    if (p->what->version == 3) place = "binaries/aarch64-linux/moreau.so";
#endif
    mor_zip_add(p->zip, "modelDescription.xml", description, size);
    mor_code code = put_file(p, p->what->library, place, false, NULL, error);
    mor_zip_add(p->zip, "resources/moreau.txt", p->listing, p->listing_size);
    for (int i = 0; i < p->files.count && !code; i++) {
        char name[PATH_MAX];
        snprintf(name, sizeof name, "resources/%s", p->files.paths[i] + strlen(p->files.base) + 1);
        code = put_file(p, p->files.paths[i], name, false, NULL, error);
    }
    return code;
}

/* Tries the copy as a unit would, and against the scene where it lies. */
static mor_code try_copy(package* p, mor_scene** scene, mor_world** world, mor_error* error)
{
    *scene = mor_scene_load(p->what->scene, p->what->overrides, NULL, error);
    *world = *scene ? mor_scene_build(*scene, 1, error) : NULL;
    if (!*world) return error->code;
    mor_fmu* unit = mor_fmu_create(p->folder, p->token, error);
    if (!unit) return error->code;
    mor_fmu_destroy(unit);
    return MOR_OK;
}

static mor_code write_unit(package* p, int* count, mor_error* error)
{
    mor_scene* scene = NULL;
    mor_world* world = NULL;
    mor_code code = try_copy(p, &scene, &world, error);
    size_t size = 0;
    char* description = code ? NULL : mor_fmu_description(world, scene, p->token, p->what->version, &size);
    if (!code && !description) code = mor_fail(error, MOR_SYSTEM, "out of memory");
    if (!code && !(p->zip = mor_zip_open(p->what->output, error))) code = error->code;
    if (!code) {
        code = fill(p, description, size, error);
        mor_error other = { 0 };
        if (mor_zip_close(p->zip, !code, code ? &other : error) && !code) code = MOR_SYSTEM;
        free(mor_fmu_variables(world, count));
    }
    free(description);
    mor_world_destroy(world);
    mor_scene_destroy(scene);
    return code;
}

mor_code mor_fmu_write(const mor_fmu_export* what, int* count, mor_error* error)
{
    package p = { .what = what };
    mor_code code = copy_all(&p, error);
    if (!code) code = write_unit(&p, count, error);
    if (p.folder[0] && p.token[0]) remove_copies(&p.files, p.folder);
    mor_fmu_files_free(&p.files);
    free(p.listing);
    return code;
}
