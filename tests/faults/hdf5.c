/* Calls of HDF5 that fail when `faults_hdf5` says so, which the program with the faults defines: the call is not made
 * and gives -1, as HDF5 does when a file is damaged or a disk fails. Calls that only give back (H5Dclose ...) do not
 * fail. These functions stand before those of libhdf5, in a program or by LD_PRELOAD. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <hdf5.h>
#include <stdbool.h>
#include <stdlib.h>

bool faults_hdf5(const void* caller);

/* One call: its result, name, parameters and arguments. */
#define CALL(type, name, parameters, arguments)                                                                        \
    type name parameters                                                                                               \
    {                                                                                                                  \
        static union {                                                                                                 \
            void* found;                                                                                               \
            type(*call) parameters;                                                                                    \
        } real;                                                                                                        \
        if (!real.found && !(real.found = dlsym(RTLD_NEXT, #name))) abort();                                           \
        return faults_hdf5(__builtin_return_address(0)) ? -1 : real.call arguments;                                    \
    }

CALL(hid_t, H5Fopen, (const char* path, unsigned flags, hid_t list), (path, flags, list))
CALL(hid_t, H5Fcreate, (const char* path, unsigned flags, hid_t create, hid_t access), (path, flags, create, access))
CALL(herr_t, H5Fflush, (hid_t object, H5F_scope_t scope), (object, scope))
CALL(ssize_t, H5Fget_file_image, (hid_t file, void* image, size_t size), (file, image, size))
CALL(herr_t, H5Fget_vfd_handle, (hid_t file, hid_t list, void** handle), (file, list, handle))
CALL(hid_t, H5Pcreate, (hid_t kind), (kind))
CALL(herr_t, H5Pset_chunk, (hid_t list, int rank, const hsize_t dims[]), (list, rank, dims))
CALL(herr_t, H5Pset_fapl_core, (hid_t list, size_t growth, hbool_t keep), (list, growth, keep))
CALL(herr_t, H5Pset_file_image, (hid_t list, void* image, size_t size), (list, image, size))
CALL(herr_t, H5Pset_fclose_degree, (hid_t list, H5F_close_degree_t degree), (list, degree))
CALL(herr_t, H5Pset_alignment, (hid_t list, hsize_t threshold, hsize_t size), (list, threshold, size))
CALL(herr_t, H5Pset_metadata_read_attempts, (hid_t list, unsigned count), (list, count))
CALL(herr_t, H5Pset_libver_bounds, (hid_t list, H5F_libver_t low, H5F_libver_t high), (list, low, high))
CALL(herr_t, H5Pset_obj_track_times, (hid_t list, hbool_t yes), (list, yes))
CALL(hid_t, H5Gopen2, (hid_t place, const char* name, hid_t list), (place, name, list))
CALL(hid_t, H5Gcreate2, (hid_t place, const char* name, hid_t link, hid_t create, hid_t access),
     (place, name, link, create, access))
CALL(herr_t, H5Gget_info, (hid_t group, H5G_info_t* info), (group, info))
CALL(herr_t, H5Literate,
     (hid_t group, H5_index_t by, H5_iter_order_t order, hsize_t* at, H5L_iterate_t each, void* user),
     (group, by, order, at, each, user))
CALL(herr_t, H5Ldelete, (hid_t place, const char* name, hid_t list), (place, name, list))
CALL(htri_t, H5Lexists, (hid_t place, const char* name, hid_t list), (place, name, list))
CALL(hid_t, H5Oopen, (hid_t place, const char* name, hid_t list), (place, name, list))
CALL(hid_t, H5Screate, (H5S_class_t kind), (kind))
CALL(hid_t, H5Screate_simple, (int rank, const hsize_t dims[], const hsize_t most[]), (rank, dims, most))
CALL(hssize_t, H5Sget_simple_extent_npoints, (hid_t space), (space))
CALL(int, H5Sget_simple_extent_ndims, (hid_t space), (space))
CALL(int, H5Sget_simple_extent_dims, (hid_t space, hsize_t dims[], hsize_t most[]), (space, dims, most))
CALL(herr_t, H5Sselect_hyperslab,
     (hid_t space, H5S_seloper_t how, const hsize_t start[], const hsize_t stride[], const hsize_t count[],
      const hsize_t block[]),
     (space, how, start, stride, count, block))
CALL(hid_t, H5Tcopy, (hid_t type), (type))
CALL(herr_t, H5Tset_size, (hid_t type, size_t size), (type, size))
CALL(hid_t, H5Tget_native_type, (hid_t type, H5T_direction_t direction), (type, direction))
CALL(hid_t, H5Dopen2, (hid_t place, const char* name, hid_t list), (place, name, list))
CALL(hid_t, H5Dcreate2,
     (hid_t place, const char* name, hid_t type, hid_t space, hid_t link, hid_t create, hid_t access),
     (place, name, type, space, link, create, access))
CALL(hid_t, H5Dget_space, (hid_t set), (set))
CALL(hid_t, H5Dget_type, (hid_t set), (set))
CALL(herr_t, H5Dset_extent, (hid_t set, const hsize_t size[]), (set, size))
CALL(herr_t, H5Dflush, (hid_t set), (set))
CALL(herr_t, H5Drefresh, (hid_t set), (set))
CALL(herr_t, H5Dread, (hid_t set, hid_t type, hid_t memory, hid_t file, hid_t list, void* data),
     (set, type, memory, file, list, data))
CALL(herr_t, H5Dwrite, (hid_t set, hid_t type, hid_t memory, hid_t file, hid_t list, const void* data),
     (set, type, memory, file, list, data))
CALL(hid_t, H5Aopen, (hid_t object, const char* name, hid_t list), (object, name, list))
CALL(hid_t, H5Aopen_by_name, (hid_t place, const char* path, const char* name, hid_t access, hid_t link),
     (place, path, name, access, link))
CALL(hid_t, H5Acreate_by_name,
     (hid_t place, const char* path, const char* name, hid_t type, hid_t space, hid_t create, hid_t access, hid_t link),
     (place, path, name, type, space, create, access, link))
CALL(htri_t, H5Aexists_by_name, (hid_t place, const char* path, const char* name, hid_t list),
     (place, path, name, list))
CALL(hid_t, H5Aget_type, (hid_t attribute), (attribute))
CALL(hid_t, H5Aget_space, (hid_t attribute), (attribute))
CALL(herr_t, H5Aread, (hid_t attribute, hid_t type, void* data), (attribute, type, data))
CALL(herr_t, H5Awrite, (hid_t attribute, hid_t type, const void* data), (attribute, type, data))
