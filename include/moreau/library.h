/* The method tables: built-in ones are constant, a library handle holds them plus whatever callers
 * or plug-ins append. Parser, `moreau list` and worlds are given a library.
 *
 * Threads: append everything before the library is used; from then on any number of threads may read it.
 * Ownership: appended descriptors are borrowed and must outlive the library; the library must outlive worlds and scenes
 * that were given it.
 * ABI: the handle is opaque; sizes of descriptors are checked for plug-ins (plugin.h). */
#ifndef MOREAU_LIBRARY_H
#define MOREAU_LIBRARY_H

#include "moreau/world.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A new handle with the built-in methods. Appended descriptors are borrowed: they must outlive it. */
MOR_API mor_library* mor_library_create(mor_error* error);
/* Frees the handle, not what was appended. NULL is allowed. */
MOR_API void mor_library_destroy(mor_library* library);

/* Appends a solver. Bad input when the name is taken or a mandatory function is missing. */
MOR_API mor_code mor_library_add_solver(mor_library* library, const mor_solver* solver, mor_error* error);
/* Appends a formulation; fails as above. */
MOR_API mor_code mor_library_add_formulation(mor_library* library, const mor_formulation* formulation,
                                             mor_error* error);
/* Appends a collision method, whose options begin with mor_collision_options; fails as above. */
MOR_API mor_code mor_library_add_collision(mor_library* library, const mor_collision* collision, mor_error* error);
/* A test for a pair of shape kinds. For custom shapes give their mor_custom_shape, else NULL. Either
 * order works: the driver swaps. Replaces a test that is there. */
MOR_API mor_code mor_library_add_pair(mor_library* library, mor_shape_kind a, const mor_custom_shape* custom_a,
                                      mor_shape_kind b, const mor_custom_shape* custom_b, mor_pair_test test,
                                      mor_error* error);

/* The solver of that name. NULL library means the built-in methods. NULL result: no such name. */
MOR_API const mor_solver* mor_library_solver(const mor_library* library, const char* name);
/* The formulation of that name, as above. */
MOR_API const mor_formulation* mor_library_formulation(const mor_library* library, const char* name);
/* The collision method of that name, as above. */
MOR_API const mor_collision* mor_library_collision(const mor_library* library, const char* name);
/* i-th solver in registry order, NULL past the end. */
MOR_API const mor_solver* mor_library_solver_at(const mor_library* library, int i);
/* i-th formulation in registry order, NULL past the end. */
MOR_API const mor_formulation* mor_library_formulation_at(const mor_library* library, int i);
/* i-th collision method in registry order, NULL past the end. */
MOR_API const mor_collision* mor_library_collision_at(const mor_library* library, int i);
/* The test for two placed geometries, and whether the pair must be swapped; NULL: no test, a clear error. */
MOR_API mor_pair_test mor_library_pair(const mor_library* library, const mor_geometry* a, const mor_geometry* b,
                                       bool* swap);

#ifdef __cplusplus
}
#endif
#endif
