/* Datasets: written at once, grown as columns, read; see h5.h. */
#include "io/hdf5/h5_inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------- datasets of fixed size */

static mor_code write_whole(mor_h5* h5, const char* path, hid_t type, int rank, const size_t* dims, const void* data,
                            mor_error* error)
{
    hsize_t size[MOR_H5_RANK];
    bool empty = false;
    for (int i = 0; i < rank; i++) {
        size[i] = dims[i];
        if (dims[i] == 0) empty = true;
    }
    hid_t space = H5I_INVALID_HID, set = H5I_INVALID_HID, list = mor_h5_timeless(H5P_DATASET_CREATE);
    herr_t status = -1;
    mor_code code = MOR_OK;
    QUIET(space = H5Screate_simple(rank, size, NULL));
    QUIET(set = H5Dcreate2(h5->file, path, type, space, H5P_DEFAULT, list, H5P_DEFAULT));
    mor_h5_close_list(list);
    if (set >= 0 && !empty) QUIET(status = H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data));
    if (set < 0 || (!empty && status < 0))
        code = mor_h5_failed(h5, path, "cannot write the dataset", MOR_SYSTEM, error);
    QUIET(H5Dclose(set); H5Sclose(space)); /* those that are not there are refused in silence */
    return code;
}

mor_code mor_h5_write(mor_h5* h5, const char* path, mor_h5_type type, int rank, const size_t* dims, const void* data,
                      mor_error* error)
{
    return write_whole(h5, path, mor_h5_memory_type(type), rank, dims, data, error);
}

mor_code mor_h5_write_texts(mor_h5* h5, const char* path, const char* data, size_t width, size_t count,
                            mor_error* error)
{
    hid_t type = H5I_INVALID_HID;
    QUIET(type = mor_h5_text_type(width));
    if (type < 0) return mor_h5_failed(h5, path, "cannot make a string type", MOR_SYSTEM, error);
    mor_code code = write_whole(h5, path, type, 1, &count, data, error);
    QUIET(H5Tclose(type));
    return code;
}

/* ------------------------------------------------------------------------------- columns */

mor_code mor_h5_column_create(mor_h5* h5, mor_h5_column* column, const char* path, mor_h5_type type, int rank,
                              const size_t* dims, const size_t* chunk, mor_error* error)
{
    *column = (mor_h5_column){ .id = H5I_INVALID_HID, .path = path, .type = type, .rank = rank };
    hsize_t most[MOR_H5_RANK], piece[MOR_H5_RANK];
    for (int i = 0; i < rank; i++) {
        column->dims[i] = i ? dims[i] : 0;
        most[i] = i ? (dims[i] ? dims[i] : 1) : H5S_UNLIMITED; /* a chunk may not exceed a fixed dimension */
        piece[i] = chunk[i] ? chunk[i] : 1;
    }
    hid_t space = H5I_INVALID_HID, list = H5I_INVALID_HID;
    herr_t status = -1;
    mor_code code = MOR_OK;
    QUIET(space = H5Screate_simple(rank, column->dims, most));
    QUIET(list = H5Pcreate(H5P_DATASET_CREATE));
    QUIET(status = H5Pset_chunk(list, rank, piece));
    if (status >= 0)
        QUIET(column->id = H5Dcreate2(h5->file, path, mor_h5_memory_type(type), space, H5P_DEFAULT, list, H5P_DEFAULT));
    if (column->id < 0) code = mor_h5_failed(h5, path, "cannot create the dataset", MOR_SYSTEM, error);
    QUIET(H5Pclose(list); H5Sclose(space));
    return code;
}

mor_code mor_h5_column_open(mor_h5* h5, mor_h5_column* column, mor_error* error)
{
    QUIET(column->id = H5Dopen2(h5->file, column->path, H5P_DEFAULT));
    return column->id < 0 ? mor_h5_failed(h5, column->path, "cannot open the dataset", MOR_SYSTEM, error) : MOR_OK;
}

static herr_t append(mor_h5_column* c, const hsize_t* start, const hsize_t* count, const void* data)
{
    if (H5Dset_extent(c->id, c->dims) < 0) return -1;
    hid_t memory = H5Screate_simple(c->rank, count, NULL), file = H5Dget_space(c->id);
    herr_t status = -1;
    if (memory >= 0 && file >= 0 && H5Sselect_hyperslab(file, H5S_SELECT_SET, start, NULL, count, NULL) >= 0)
        status = H5Dwrite(c->id, mor_h5_memory_type(c->type), memory, file, H5P_DEFAULT, data);
    mor_h5_close_spaces(memory, file);
    return status;
}

mor_code mor_h5_column_append(mor_h5* h5, mor_h5_column* column, size_t rows, const void* data, mor_error* error)
{
    hsize_t start[MOR_H5_RANK] = { column->dims[0] }, count[MOR_H5_RANK] = { rows };
    bool empty = rows == 0;
    for (int i = 1; i < column->rank; i++) {
        count[i] = column->dims[i];
        if (count[i] == 0) empty = true;
    }
    column->dims[0] += rows;
    herr_t status = 0;
    if (empty) QUIET(status = H5Dset_extent(column->id, column->dims));
    else QUIET(status = append(column, start, count, data));
    if (status < 0) return mor_h5_failed(h5, column->path, "cannot append", MOR_SYSTEM, error);
    return MOR_OK;
}

mor_code mor_h5_column_flush(mor_h5* h5, mor_h5_column* column, mor_error* error)
{
    herr_t status = -1;
    QUIET(status = H5Dflush(column->id));
    if (status < 0) return mor_h5_failed(h5, column->path, "cannot flush", MOR_SYSTEM, error);
    return MOR_OK;
}

void mor_h5_column_close(mor_h5_column* column)
{
    if (column->id < 0) return;
    QUIET(H5Dclose(column->id));
    column->id = H5I_INVALID_HID;
}

/* ------------------------------------------------------------------------------- reading */

static mor_code dataset_open(const mor_h5* h5, const char* path, hid_t* set, mor_error* error)
{
    herr_t status = 0;
    if (!mor_h5_exists(h5, path)) return mor_fail(error, MOR_BAD_INPUT, "%s:%s: missing dataset", h5->path, path);
    QUIET(*set = H5Dopen2(h5->file, path, H5P_DEFAULT));
    if (*set >= 0 && h5->live) QUIET(status = H5Drefresh(*set)); /* forget cached sizes */
    if (*set >= 0 && status >= 0) return MOR_OK;
    mor_code code = mor_h5_failed(h5, path, "cannot open the dataset", MOR_BAD_INPUT, error);
    QUIET(H5Dclose(*set)); /* one that is not there is refused in silence */
    return code;
}

static mor_code extent(const mor_h5* h5, const char* path, hid_t set, int* rank, hsize_t size[MOR_H5_RANK],
                       mor_error* error)
{
    hid_t space = H5I_INVALID_HID;
    mor_code code = MOR_OK;
    *rank = -1;
    QUIET(space = H5Dget_space(set));
    QUIET(*rank = H5Sget_simple_extent_ndims(space));
    if (*rank < 0) code = mor_h5_failed(h5, path, "cannot read the size", MOR_BAD_INPUT, error);
    else if (*rank > MOR_H5_RANK)
        code = mor_fail(error, MOR_BAD_INPUT, "%s:%s: has %d dimensions; at most %d are expected", h5->path, path,
                        *rank, MOR_H5_RANK);
    else QUIET(H5Sget_simple_extent_dims(space, size, NULL));
    QUIET(H5Sclose(space));
    return code;
}

mor_code mor_h5_dims(const mor_h5* h5, const char* path, int* rank, size_t dims[MOR_H5_RANK], mor_error* error)
{
    hid_t set;
    mor_code code = dataset_open(h5, path, &set, error);
    if (code) return code;
    hsize_t size[MOR_H5_RANK] = { 0 };
    code = extent(h5, path, set, rank, size, error);
    for (int i = 0; i < MOR_H5_RANK; i++) dims[i] = (size_t)size[i];
    QUIET(H5Dclose(set));
    return code;
}

static herr_t read_block(hid_t set, hid_t type, int rank, const hsize_t* start, const hsize_t* count, void* data)
{
    hid_t memory = H5Screate_simple(rank, count, NULL), file = H5Dget_space(set);
    herr_t status = -1;
    if (memory >= 0 && file >= 0 && H5Sselect_hyperslab(file, H5S_SELECT_SET, start, NULL, count, NULL) >= 0)
        status = H5Dread(set, type, memory, file, H5P_DEFAULT, data);
    mor_h5_close_spaces(memory, file);
    return status;
}

mor_code mor_h5_read(const mor_h5* h5, const char* path, mor_h5_type type, int rank, const size_t* start,
                     const size_t* count, void* data, mor_error* error)
{
    hid_t set;
    mor_code code = dataset_open(h5, path, &set, error);
    if (code) return code;
    hsize_t size[MOR_H5_RANK] = { 0 }, from[MOR_H5_RANK], n[MOR_H5_RANK];
    int stored_rank = 0;
    bool fits = true, empty = false;
    code = extent(h5, path, set, &stored_rank, size, error);
    for (int i = 0; i < rank; i++) {
        from[i] = start[i];
        n[i] = count[i];
        if (n[i] == 0) empty = true;
        if (!code && i < stored_rank && from[i] + n[i] > size[i]) fits = false;
    }
    if (!code && (stored_rank != rank || !fits))
        code = mor_fail(error, MOR_BAD_INPUT, "%s:%s: wrong shape; at least %llu rows in %d dimensions are expected",
                        h5->path, path, (unsigned long long)(from[0] + n[0]), rank);
    if (!code && !empty) {
        herr_t status = -1;
        QUIET(status = read_block(set, mor_h5_memory_type(type), rank, from, n, data));
        if (status < 0) code = mor_h5_failed(h5, path, "cannot read numbers", MOR_BAD_INPUT, error);
    }
    QUIET(H5Dclose(set));
    return code;
}

mor_code mor_h5_read_texts(const mor_h5* h5, const char* path, char* data, size_t width, size_t count, mor_error* error)
{
    hid_t set;
    mor_code code = dataset_open(h5, path, &set, error);
    if (code) return code;
    hsize_t size[MOR_H5_RANK] = { 0 };
    int rank = 0;
    hid_t stored = H5I_INVALID_HID, type = H5I_INVALID_HID;
    code = extent(h5, path, set, &rank, size, error);
    bool is_text = false;
    QUIET(stored = H5Dget_type(set));
    QUIET(is_text = H5Tget_class(stored) == H5T_STRING && H5Tis_variable_str(stored) == 0);
    if (!code && (!is_text || rank != 1 || size[0] != count))
        code = mor_fail(error, MOR_BAD_INPUT, "%s:%s: %zu fixed-length strings are expected", h5->path, path, count);
    if (!code && count > 0) {
        herr_t status = -1;
        QUIET(type = mor_h5_text_type(width));
        QUIET(status = H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data));
        if (status < 0) code = mor_h5_failed(h5, path, "cannot read the strings", MOR_BAD_INPUT, error);
        for (size_t i = 0; i < count; i++) data[i * width + width - 1] = '\0';
    }
    QUIET(H5Tclose(type); H5Tclose(stored); H5Dclose(set));
    return code;
}

mor_code mor_h5_read_all(const mor_h5* h5, const char* path, mor_h5_type type, size_t count, void* data,
                         mor_error* error)
{
    hid_t set;
    mor_code code = dataset_open(h5, path, &set, error);
    if (code) return code;
    hid_t space = H5I_INVALID_HID, stored = H5I_INVALID_HID;
    hssize_t points = -1;
    bool numbers = false;
    QUIET(space = H5Dget_space(set));
    QUIET(points = H5Sget_simple_extent_npoints(space));
    QUIET(stored = H5Dget_type(set));
    QUIET(numbers = H5Tget_class(stored) == H5T_INTEGER || H5Tget_class(stored) == H5T_FLOAT);
    if (!numbers) code = mor_fail(error, MOR_BAD_INPUT, "%s:%s: numbers are expected", h5->path, path);
    else if (points < 0 || (size_t)points != count)
        code = mor_fail(error, MOR_BAD_INPUT, "%s:%s: holds %lld numbers; %zu are expected", h5->path, path,
                        (long long)points, count);
    else if (count > 0) {
        herr_t status = -1;
        QUIET(status = H5Dread(set, mor_h5_memory_type(type), H5S_ALL, H5S_ALL, H5P_DEFAULT, data));
        if (status < 0) code = mor_h5_failed(h5, path, "cannot read the numbers", MOR_BAD_INPUT, error);
    }
    QUIET(H5Tclose(stored); H5Sclose(space); H5Dclose(set));
    return code;
}
