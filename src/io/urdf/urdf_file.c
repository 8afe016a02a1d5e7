/* Where the files are that a URDF names.
 *
 * package://NAME/REST and model://NAME/REST are looked for as D/NAME/REST in every directory D above the
 * URDF file, nearest first, then in the given list of directories, then in those of ROS_PACKAGE_PATH,
 * GZ_SIM_RESOURCE_PATH and GAZEBO_MODEL_PATH; then with leading directories dropped one by one, because a package is
 * often unpacked under another name. Other names are relative to the URDF file. */
#include "io/urdf/urdf.h"
#include "io/text/text_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* directory (length characters) / name; "" when it does not fit. */
static const char* join(const char* directory, size_t length, const char* name, char* out, size_t size)
{
    int n = snprintf(out, size, "%.*s%s%s", (int)length, directory, length ? "/" : "", name);
    if (n < 0 || (size_t)n >= size) out[0] = '\0';
    return out;
}

/* In a list of directories, separated by colons. */
static bool search_list(const char* list, const char* name, char* found, size_t size)
{
    for (const char* p = list; p && *p;) {
        size_t n = strcspn(p, ":");
        join(p, n, name, found, size);
        if (n && found[0] && mor_file_is_regular(found)) return true;
        p += n + (p[n] == ':');
    }
    return false;
}

static bool search(const char* urdf_path, const char* packages, const char* name, char* found, size_t size)
{
    const char* slash = strrchr(urdf_path, '/');
    size_t length = slash ? (size_t)(slash - urdf_path) : 0;
    for (int level = 0; level < 12; level++) {
        join(urdf_path, length, name, found, size);
        if (slash && slash == urdf_path && length == 0) snprintf(found, size, "/%s", name);
        if (found[0] && mor_file_is_regular(found)) return true;
        if (length == 0) break;
        while (length > 0 && urdf_path[length - 1] != '/') length--;
        while (length > 0 && urdf_path[length - 1] == '/') length--;
    }
    if (!slash || urdf_path[0] != '/') { /* a relative path: the directories above are not in its name */
        char up[64] = "..";
        for (int level = 0; level < 6; level++) {
            char prefix[4400];
            size_t own = slash ? (size_t)(slash - urdf_path) : 0;
            join(urdf_path, own, up, prefix, sizeof prefix);
            join(prefix, strlen(prefix), name, found, size);
            if (found[0] && mor_file_is_regular(found)) return true;
            strcat(up, "/..");
        }
    }
    static const char* const variables[] = { "ROS_PACKAGE_PATH", "GZ_SIM_RESOURCE_PATH", "GAZEBO_MODEL_PATH" };
    if (search_list(packages, name, found, size)) return true;
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        if (search_list(getenv(variables[i]), name, found, size)) return true;
    return false;
}

bool mor_urdf_find_file(const char* urdf_path, const char* packages, const char* name, char* found, size_t size)
{
    static const char* const schemes[] = { "package://", "model://" };
    for (int i = 0; i < 2; i++) {
        size_t n = strlen(schemes[i]);
        if (strncmp(name, schemes[i], n) != 0) continue;
        const char *rest = name + n, *inner = strchr(rest, '/');
        if (inner != rest && search(urdf_path, packages, rest, found, size)) return true;
        for (; inner; inner = strchr(inner + 1, '/'))
            if (inner[1] && inner[1] != '/' && search(urdf_path, packages, inner + 1, found, size)) return true;
        snprintf(found, size, "%s", name);
        return false;
    }
    if (strncmp(name, "file://", 7) == 0) name += 7;
    if (name[0] == '/') {
        snprintf(found, size, "%s", name);
        return mor_file_is_regular(found);
    }
    const char* slash = strrchr(urdf_path, '/');
    join(urdf_path, slash ? (size_t)(slash - urdf_path) : 0, name, found, size);
    return found[0] && mor_file_is_regular(found);
}
