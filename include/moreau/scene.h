/* Scene files (YAML, version 1). docs/scene.md is the reference.
 *
 *     mor_error error = { 0 };
 *     mor_scene* scene = mor_scene_load("scenes/bounce.yaml", NULL, NULL, &error);
 *     mor_world* world = scene ? mor_scene_build(scene, 1, &error) : NULL;
 *     while (world && mor_world_time(world) < mor_scene_end(scene))
 *         if (mor_world_step(world, NULL, &error) != MOR_OK) break;
 *     mor_world_destroy(world);
 *     mor_scene_destroy(scene);
 *
 * Threads: a scene is constant once it is loaded; several threads may build worlds of it if they do not do so at the
 * same time (reference counts).
 * Ownership: the caller destroys scenes; a scene must outlive the worlds built of it.
 * ABI: a scene is opaque. */
#ifndef MOREAU_SCENE_H
#define MOREAU_SCENE_H

#include "moreau/library.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A scene as read: bodies, robots, methods and time. */
typedef struct mor_scene mor_scene;

/* Where a scene file is: `path` itself if it is there, else the file of that name one folder further down, so that
 * "scenes/s2.yaml" finds scenes/benchmark/s2.yaml. Writes `path` when there is neither (reading it then says so).
 * MOR_BAD_INPUT when two folders have the name or the result does not fit into `size` bytes. */
MOR_API mor_code mor_scene_locate(const char* path, char* found, size_t size, mor_error* error);
/* Reads and checks a scene file (found by mor_scene_locate) with its includes. Every error has file:line:column.
 * `overrides`: NULL-terminated "key=value" strings with dotted keys ("time.step=0.005", "method.solver.tol=1e-9",
 * "bodies.peg.mass=2"), applied before the checks. */
MOR_API mor_scene* mor_scene_load(const char* path, const char* const* overrides, const mor_library* library,
                                  mor_error* error);
/* The same from memory; `name` stands for the file in messages, includes are relative to it. */
MOR_API mor_scene* mor_scene_parse(const char* text, size_t length, const char* name, const char* const* overrides,
                                   const mor_library* library, mor_error* error);
/* Frees the scene. NULL is allowed. */
MOR_API void mor_scene_destroy(mor_scene* scene);

/* A new world in the scene's initial state, with `threads` threads for islands. The scene must outlive it (motions,
 * forces). NULL and a sentence: a body, robot or method is refused, or there is no memory. */
MOR_API mor_world* mor_scene_build(const mor_scene* scene, int threads, mor_error* error);
/* Applies the scene's forces for the coming step. A built world does this in its user stage: call it from
 * a user stage that replaces that one. */
MOR_API void mor_scene_apply_forces(const mor_scene* scene, mor_world* world);

/* `name` of the scene, or the file's name without folder and ending. */
MOR_API const char* mor_scene_name(const mor_scene* scene);
MOR_API const char* mor_scene_text(const mor_scene* scene); /* as read, for recordings */
MOR_API double mor_scene_end(const mor_scene* scene);       /* time.end [s] */
/* record.every: frames are recorded every so many steps. */
MOR_API int mor_scene_record_every(const mor_scene* scene);
/* record.contacts: whether contacts are recorded. */
MOR_API bool mor_scene_record_contacts(const mor_scene* scene);
/* The i-th pattern of record.bus, NULL past the end. */
MOR_API const char* mor_scene_record_bus(const mor_scene* scene, int i);
/* Warnings of the reader (mesh repairs ...), one per line; "" if none. */
MOR_API const char* mor_scene_notes(const mor_scene* scene);
/* The i-th mesh that was cut into convex pieces, as written in the scene, and what came of it; NULL past the end. */
MOR_API const char* mor_scene_decomposition(const mor_scene* scene, int i, mor_decomposition* report);
/* One line per key of the scene file, from the parser's own tables, as Markdown: docs/scene.md.
 * MOR_SYSTEM when the buffer is too small (64 KiB are enough), the text is then cut. */
MOR_API mor_code mor_scene_reference(char* buffer, size_t size);

#ifdef __cplusplus
}
#endif
#endif
