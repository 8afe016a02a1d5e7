/* Where a run begins and what it leaves: snapshots (mor_world_save), and states of recordings through the laboratory.
 *
 * A snapshot restores the run bit for bit, time and warm start included, in a world of the same scene and build. A
 * recording gives positions and velocities of bodies by their names; time begins at 0 again. */
#include "cli/run_start.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/laboratory.h"
#include "io/text/output.h"
#include "io/text/text_file.h"

static mor_code read_snapshot(const char* path, mor_world* world, mor_error* error)
{
    FILE* f = mor_file_stream(path);
    if (!f)
        return mor_fail(error, errno == ETIMEDOUT ? MOR_BAD_INPUT : MOR_SYSTEM,
                        "%.200s: the snapshot cannot be opened: %s", path, mor_file_reason(errno));
    size_t size = 0, room = 1 << 16;
    unsigned char* bytes = malloc(room);
    while (bytes) {
        size += fread(bytes + size, 1, room - size, f);
        if (size < room) break;
        unsigned char* larger = realloc(bytes, room *= 2);
        if (!larger) free(bytes);
        bytes = larger;
    }
    bool broken = ferror(f) != 0;
    fclose(f);
    mor_error inner = { 0 };
    mor_code code = !bytes   ? mor_fail(&inner, MOR_SYSTEM, "out of memory")
                    : broken ? mor_fail(&inner, MOR_SYSTEM, "it cannot be read")
                             : mor_world_restore(world, bytes, size, &inner);
    free(bytes);
    return code ? mor_fail(error, code, "%.200s: %s", path, inner.text) : MOR_OK;
}

mor_code mor_cli_start_from(const char* path, double time, mor_world* world, mor_error* error)
{
    size_t n = strlen(path);
    bool recording = (n > 3 && strcmp(path + n - 3, ".h5") == 0) || (n > 5 && strcmp(path + n - 5, ".hdf5") == 0);
    if (recording) return mor_cli_recording_start(path, time, world, error);
    if (time >= 0.0)
        return mor_fail(error, MOR_BAD_INPUT, "%.200s: a snapshot has one time; leave ':%g' out", path, time);
    return read_snapshot(path, world, error);
}

mor_code mor_cli_snapshot(const char* path, const mor_world* world, mor_error* error)
{
    size_t size = mor_world_save(world, NULL, 0);
    void* bytes = malloc(size);
    if (!bytes) return mor_fail(error, MOR_SYSTEM, "out of memory");
    mor_code code = mor_world_save(world, bytes, size) == size
                        ? mor_output_write(path, bytes, size, error)
                        : mor_fail(error, MOR_SYSTEM, "%.200s: the snapshot cannot be made", path);
    free(bytes);
    return code;
}
