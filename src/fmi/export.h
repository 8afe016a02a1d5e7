/* A scene as a unit for co-simulation (FMI 2.0 or 3.0): one .fmu file with the library, the scene and all files it
 * needs.
 *
 *   modelDescription.xml                 names, numbers, units of all variables (fmi/variables.h)
 *   binaries/linux64/moreau.so           (3.0: binaries/x86_64-linux) the library with the functions of the standard
 *   resources/moreau.txt                 token; path of the scene within resources; one KEY=VALUE override per line
 *   resources/...                        the scene, its includes, robots, meshes and tables, as they lay to each other
 *
 * Reference: Functional Mock-up Interface for Model Exchange and Co-Simulation, 2.0.4 (2022) and 3.0.1 (2023), Modelica
 * Association. */
#ifndef MOREAU_FMI_EXPORT_H
#define MOREAU_FMI_EXPORT_H

#include "moreau/moreau.h"

typedef struct mor_fmu_export {
    const char* scene;            /* the file */
    const char* const* overrides; /* KEY=VALUE, NULL-terminated; may be NULL */
    const char* library;          /* the shared object that goes into the unit */
    const char* output;           /* where the unit goes */
    int version;                  /* 2 or 3 */
} mor_fmu_export;

/* Writes the unit. The copy of the scene's files is read back from a temporary folder before anything is written: a
 * file that was not found there is bad input with the reader's sentence. *count: number of variables. */
mor_code mor_fmu_write(const mor_fmu_export* what, int* count, mor_error* error);

/* The files a scene is made of, itself first (bundle.c). Paths are absolute and without links; `base` is the folder
 * that holds them all. */
typedef struct mor_fmu_files {
    char** paths;
    int count, capacity;
    char base[4096];
} mor_fmu_files;
mor_code mor_fmu_gather(const char* scene, mor_fmu_files* files, mor_error* error);
void mor_fmu_files_free(mor_fmu_files* files);

/* A zip archive without compression (zip.c). */
typedef struct mor_zip mor_zip;
mor_zip* mor_zip_open(const char* path, mor_error* error);
void mor_zip_add(mor_zip* zip, const char* name, const void* data, size_t size);
/* Writes the directory and closes; MOR_SYSTEM when bytes were lost. `keep` false: nothing is left. */
mor_code mor_zip_close(mor_zip* zip, bool keep, mor_error* error);

/* modelDescription.xml; free() it. NULL: out of memory. */
char* mor_fmu_description(const mor_world* world, const mor_scene* scene, const char* token, int version,
                          size_t* length);

#endif
