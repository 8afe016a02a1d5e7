/* HDF5 files that are made in memory and written at once, see h5.h.
 *
 * HDF5 cannot be trusted with a disk that is full or fails: it may leave half a file, print to standard error and crash
 * when the process ends. So whole files are built by its driver for memory, taken out as an image of bytes, and written
 * by io/text/output.h: they are there whole or not at all.
 *
 * HDF5 1.10 clears the flag "open for writing" in the superblock of the image and leaves the checksum of the old
 * one. The checksum is made anew here: B. Jenkins' hash lookup3 of the superblock. Reference: The HDF Group (2016),
 * HDF5 File Format Specification Version 3.0, sections II.A and VII; B. Jenkins (2006), lookup3. */
#include "io/hdf5/h5_inside.h"
#include "io/text/output.h"
#include "io/text/text_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { GROWTH = 1 << 20, SUPERBLOCK = 44 }; /* bytes by which the memory grows; bytes before the checksum */
#define LARGEST_IMAGE ((size_t)1 << 36)     /* bytes of a file that is extended */

hid_t mor_h5_memory_access(void)
{
    hid_t list = mor_h5_access_list(true);
    if (list >= 0 && H5Pset_fapl_core(list, GROWTH, false) < 0) {
        H5Pclose(list);
        return H5I_INVALID_HID;
    }
    return list;
}

void mor_h5_memory_name(const void* owner, char name[64])
{
    snprintf(name, 64, "moreau-%ld-%p.image", (long)getpid(), owner); /* HDF5 tells its open files apart by name */
}

static mor_code begin(mor_h5* h5, const char* path, void* image, size_t size, mor_error* error)
{
    char name[64];
    if (mor_h5_remember_path(h5, path, error)) return MOR_BAD_INPUT;
    mor_h5_memory_name(h5, name);
    hid_t list = H5I_INVALID_HID, creation = H5P_DEFAULT;
    herr_t status = 0;
    QUIET(list = mor_h5_memory_access());
    if (list >= 0 && image) QUIET(status = H5Pset_file_image(list, image, size));
    if (list < 0 || status < 0) {
        mor_code code = mor_h5_failed(h5, "/", "cannot set up HDF5 in memory", MOR_SYSTEM, error);
        QUIET(H5Pclose(list));
        return code;
    }
    if (image) QUIET(h5->file = H5Fopen(name, H5F_ACC_RDWR, list));
    else {
        creation = mor_h5_timeless(H5P_FILE_CREATE);
        QUIET(h5->file = H5Fcreate(name, H5F_ACC_EXCL, creation, list));
    }
    mor_code code = MOR_OK;
    if (h5->file < 0)
        code = image ? mor_h5_failed(h5, "/", "cannot open the file for writing", MOR_BAD_INPUT, error)
                     : mor_h5_failed(h5, "/", "cannot create the file", MOR_SYSTEM, error);
    mor_h5_close_list(creation);
    QUIET(H5Pclose(list));
    return code;
}

mor_code mor_h5_begin(mor_h5* h5, const char* path, mor_error* error)
{
    char target[4200];
    mor_code code = mor_output_target(path, target, sizeof target, error);
    return code ? code : begin(h5, path, NULL, 0, error);
}

mor_code mor_h5_extend(mor_h5* h5, const char* path, mor_error* error)
{
    char* image;
    size_t size;
    mor_code code = mor_text_read(path, LARGEST_IMAGE, &image, &size, error);
    if (code) return code;
    code = begin(h5, path, image, size, error);
    free(image);
    return code;
}

static uint32_t turned(uint32_t x, int bits) { return x << bits | x >> (32 - bits); }

static uint32_t word_at(const unsigned char* bytes)
{
    return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

/* lookup3 of 44 bytes: three blocks of twelve, then eight. */
static uint32_t superblock_checksum(const unsigned char* bytes)
{
    static const int mixing[6] = { 4, 6, 8, 16, 19, 4 }, last[7] = { 14, 11, 25, 16, 4, 14, 24 };
    uint32_t x[3];
    for (int i = 0; i < 3; i++) x[i] = 0xdeadbeefu + SUPERBLOCK;
    for (int block = 0; block < 3; block++, bytes += 12) {
        for (int i = 0; i < 3; i++) x[i] += word_at(bytes + 4 * i);
        for (int k = 0; k < 6; k++) {
            uint32_t *a = &x[k % 3], *b = &x[(k + 1) % 3], *c = &x[(k + 2) % 3];
            *a -= *c;
            *a ^= turned(*c, mixing[k]);
            *c += *b;
        }
    }
    x[0] += word_at(bytes);
    x[1] += word_at(bytes + 4);
    for (int k = 0; k < 7; k++) {
        uint32_t *to = &x[(k + 2) % 3], *from = &x[(k + 1) % 3];
        *to ^= *from;
        *to -= turned(*from, last[k]);
    }
    return x[2];
}

/* The checksum of an image whose flags HDF5 has changed. */
static void repair_superblock(unsigned char* image, size_t size)
{
    if (size < SUPERBLOCK + 4 || image[8] < 2 || image[9] != 8) return;
    uint32_t sum = superblock_checksum(image);
    for (int i = 0; i < 4; i++) image[SUPERBLOCK + i] = (unsigned char)(sum >> 8 * i);
}

/* The bytes of the file as they would be on the disk; free it. NULL and a sentence about `path` otherwise. */
static void* take_image(hid_t file, const char* path, size_t* bytes, mor_error* error)
{
    ssize_t size = -1, got = -1;
    QUIET(if (H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0) size = H5Fget_file_image(file, NULL, 0));
    void* image = size > 0 ? malloc((size_t)size) : NULL;
    if (image) QUIET(got = H5Fget_file_image(file, image, (size_t)size));
    if (image && got == size) {
        *bytes = (size_t)size;
        repair_superblock(image, *bytes);
        return image;
    }
    mor_fail(error, MOR_SYSTEM, image || size <= 0 ? "%s: HDF5 cannot finish the file" : "%s: out of memory", path);
    free(image);
    return NULL;
}

mor_code mor_h5_save(hid_t file, const char* path, mor_error* error)
{
    size_t size;
    void* image = take_image(file, path, &size, error);
    if (!image) return MOR_SYSTEM;
    mor_code code = mor_output_write(path, image, size, error);
    free(image);
    return code;
}

mor_code mor_h5_finish(mor_h5* h5, mor_code code, mor_error* error)
{
    if (!code) code = mor_h5_save(h5->file, h5->path, error);
    mor_code closed = mor_h5_close(h5, code ? NULL : error);
    return code ? code : closed;
}

/* HDF5 opens the temporary file. Opened by its last name, a reader that was faster would hold HDF5's lock, and the
 * writer would be refused. */
static mor_code open_before_named(mor_h5* h5, const void* image, size_t size, mor_error* error)
{
    FILE* file = mor_output_open(h5->path, error);
    if (!file) return MOR_SYSTEM;
    char place[4200];
    mor_code code = MOR_OK;
    if (fwrite(image, 1, size, file) == size && fflush(file) == 0) { /* else mor_output_close says why */
        code = mor_output_place(file, h5->path, place, sizeof place, error);
        if (!code) code = mor_h5_open_swmr(h5, place, error);
    }
    mor_code closed = mor_output_close(file, h5->path, !code, code ? NULL : error);
    return code ? code : closed;
}

mor_code mor_h5_finish_live(mor_h5* h5, mor_code code, mor_error* error)
{
    size_t size = 0;
    void* image = code ? NULL : take_image(h5->file, h5->path, &size, error);
    if (!image && !code) code = MOR_SYSTEM;
    mor_code closed = mor_h5_close(h5, code ? NULL : error);
    if (!code) code = closed;
    if (!code) code = open_before_named(h5, image, size, error);
    free(image);
    return code;
}
