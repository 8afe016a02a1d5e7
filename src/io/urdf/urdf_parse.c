/* URDF text to records, through expat: every element and number checked where it stands.
 *
 *     robot > link  > inertial > origin, mass, inertia
 *                   > collision > origin, geometry > sphere | box | cylinder | capsule | mesh
 *           > joint > origin, parent, child, axis, limit, dynamics, mimic
 *
 * `visual` and `material` are for the eye and passed over in silence; all other elements are passed over,
 * too, but counted, so that the caller can tell which were not used. Poses: xyz and rpy, fixed axes,
 * R = Rz(yaw) Ry(pitch) Rx(roll).
 *
 * Reference: ROS wiki, urdf/XML (2009-), link and joint. */
#include "io/text/text_file.h"
#include "base/number.h"
#include "io/urdf/urdf.h"
#include "io/xml/xml.h"

#include <expat.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { IN_FILE, IN_ROBOT, IN_LINK, IN_INERTIAL, IN_COLLISION, IN_GEOMETRY, IN_JOINT, IN_LEAF };
enum { DEPTH_MAX = 16, FILE_MAX = 1 << 28 };

typedef struct parser {
    XML_Parser xml;
    mor_urdf* urdf;
    mor_error* error;
    mor_code code;
    int context[DEPTH_MAX], depth; /* of known elements */
    int skip;                      /* depth inside a passed-over element */
    bool has_geometry;
    mor_pose shape_pose;
    int shape_begin; /* shapes of the open collision element */
} parser;

static void fail(parser* p, const char* format, ...) MOR_PRINTF(2, 3);
static void fail(parser* p, const char* format, ...)
{
    if (p->code != MOR_OK) return;
    char text[600];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    p->code = mor_fail_at(p->error, MOR_BAD_INPUT, p->urdf->path, (int)XML_GetCurrentLineNumber(p->xml),
                          (int)XML_GetCurrentColumnNumber(p->xml) + 1, "%s", text);
    XML_StopParser(p->xml, XML_FALSE);
}

/* A zeroed record at the end of a growing array, or NULL. */
static void* add(parser* p, void** items, int* count, int* room, size_t size)
{
    if (*count == *room) {
        int larger = *room ? 2 * *room : 16;
        void* memory = realloc(*items, (size_t)larger * size);
        if (!memory) {
            if (p->code == MOR_OK) p->code = mor_fail(p->error, MOR_SYSTEM, "%s: out of memory", p->urdf->path);
            XML_StopParser(p->xml, XML_FALSE);
            return NULL;
        }
        *items = memory;
        *room = larger;
    }
    void* item = (char*)*items + (size_t)(*count)++ * size;
    memset(item, 0, size);
    return item;
}
#define ADD(p, list, count, room)                                                                                      \
    add(p, (void**)&(p)->urdf->list, &(p)->urdf->count, &(p)->urdf->room, sizeof *(p)->urdf->list)

/* --------------------------------------------------------------------------------- attributes */

static const char* attribute(const char** attributes, const char* name)
{
    for (; *attributes; attributes += 2)
        if (strcmp(attributes[0], name) == 0) return attributes[1];
    return NULL;
}

/* Copies a name; complains when it is missing, empty or too long. */
static bool read_name(parser* p, const char** attributes, const char* element, const char* name,
                      char out[MOR_NAME_SIZE])
{
    const char* text = attribute(attributes, name);
    if (!text || !*text) {
        fail(p, "<%s> has no %s; write <%s %s=\"...\">", element, name, element, name);
        return false;
    }
    if (strlen(text) >= MOR_NAME_SIZE) {
        fail(p, "the %s of <%s> is longer than %d characters", name, element, MOR_NAME_SIZE - 1);
        return false;
    }
    memcpy(out, text, strlen(text) + 1);
    return true;
}

/* Exactly `count` finite numbers. True if they are there and right. */
static bool read_numbers(parser* p, const char** attributes, const char* element, const char* name, int count,
                         bool needed, double* out)
{
    const char* text = attribute(attributes, name);
    if (!text) {
        if (needed) fail(p, "<%s> has no %s", element, name);
        return false;
    }
    double values[8];
    int found = 0;
    for (const char* s = text;;) {
        s += strspn(s, " \t\r\n");
        if (!*s) break;
        char* end;
        double x = mor_strtod(s, &end);
        if (end == s || !isfinite(x) || (*end && !strchr(" \t\r\n", *end))) {
            fail(p, "%s of <%s> is '%.40s'; expected %s", name, element, text, count == 1 ? "a number" : "numbers");
            return false;
        }
        if (found == count) {
            fail(p, "%s of <%s> has more than %d number%s: '%.60s'", name, element, count, count == 1 ? "" : "s", text);
            return false;
        }
        values[found++] = x;
        s = end;
    }
    if (found != count) {
        fail(p, "%s of <%s> has %d number%s where %d %s expected: '%.60s'", name, element, found, found == 1 ? "" : "s",
             count, count == 1 ? "is" : "are", text);
        return false;
    }
    memcpy(out, values, (size_t)count * sizeof *out);
    return true;
}

static mor_pose read_origin(parser* p, const char** attributes)
{
    double xyz[3] = { 0 }, rpy[3] = { 0 };
    read_numbers(p, attributes, "origin", "xyz", 3, false, xyz);
    read_numbers(p, attributes, "origin", "rpy", 3, false, rpy);
    mor_quat x = mor_quat_axis_angle(mor_v3(1, 0, 0), rpy[0]), y = mor_quat_axis_angle(mor_v3(0, 1, 0), rpy[1]),
             z = mor_quat_axis_angle(mor_v3(0, 0, 1), rpy[2]);
    mor_quat zy = mor_quat_mul(z, y);
    return (mor_pose){ mor_v3(xyz[0], xyz[1], xyz[2]), mor_quat_normalize(mor_quat_mul(zy, x)) };
}

/* ----------------------------------------------------------------------------------- elements */

static void read_link(parser* p, const char** attributes)
{
    mor_urdf_link* l = ADD(p, links, link_count, link_room);
    if (!l || !read_name(p, attributes, "link", "name", l->name)) return;
    l->line = (int)XML_GetCurrentLineNumber(p->xml);
    l->column = (int)XML_GetCurrentColumnNumber(p->xml) + 1;
    l->inertial_pose = mor_pose_identity();
}

static void read_joint(parser* p, const char** attributes)
{
    static const char* const types[] = { "fixed",     "revolute", "continuous", "prismatic",
                                         "spherical", "floating", "planar",     NULL };
    mor_urdf_joint* j = ADD(p, joints, joint_count, joint_room);
    if (!j || !read_name(p, attributes, "joint", "name", j->name)) return;
    j->line = (int)XML_GetCurrentLineNumber(p->xml);
    j->column = (int)XML_GetCurrentColumnNumber(p->xml) + 1;
    j->pose = mor_pose_identity();
    j->axis = mor_v3(1, 0, 0);
    j->effort = j->speed = INFINITY;
    j->mimic_ratio = 1.0;
    const char* type = attribute(attributes, "type");
    if (!type) {
        fail(p, "joint '%s' has no type; one of fixed, revolute, continuous, prismatic", j->name);
        return;
    }
    snprintf(j->type_name, sizeof j->type_name, "%.23s", type);
    int k = 0;
    while (types[k] && strcmp(types[k], type) != 0) k++;
    if (!types[k]) {
        const char* near = mor_did_you_mean(type, types);
        fail(p, "joint '%s' has unknown type '%.40s'%s%s%s", j->name, type,
             near ? "; did you mean '" : "; known: fixed, revolute, continuous, prismatic", near ? near : "",
             near ? "'?" : "");
        return;
    }
    j->type = k < MOR_URDF_UNSUPPORTED ? k : MOR_URDF_UNSUPPORTED;
    if (j->type == MOR_URDF_UNSUPPORTED)
        fail(p,
             "joint '%s' is of type %s, which is not supported; use prismatic and revolute joints in a row, or a "
             "floating base",
             j->name, type);
}

static void in_inertial(parser* p, mor_urdf_link* l, const char* name, const char** attributes)
{
    if (strcmp(name, "origin") == 0) l->inertial_pose = read_origin(p, attributes);
    else if (strcmp(name, "mass") == 0) {
        l->has_mass = read_numbers(p, attributes, "mass", "value", 1, true, &l->mass);
        if (l->has_mass && l->mass < 0.0) fail(p, "link '%s' has mass %g; a mass is not negative", l->name, l->mass);
    } else {
        static const char* const names[] = { "ixx", "ixy", "ixz", "iyy", "iyz", "izz" };
        l->has_inertia = true;
        for (int i = 0; i < 6; i++)
            read_numbers(p, attributes, "inertia", names[i], 1, i == 0 || i == 3 || i == 5, &l->inertia[i]);
    }
}

static void in_geometry(parser* p, const char* name, const char** attributes)
{
    mor_urdf_shape* s = ADD(p, shapes, shape_count, shape_room);
    if (!s) return;
    *s = (mor_urdf_shape){ .link = p->urdf->link_count - 1,
                           .line = (int)XML_GetCurrentLineNumber(p->xml),
                           .column = (int)XML_GetCurrentColumnNumber(p->xml) + 1,
                           .scale = { 1, 1, 1 },
                           .pose = mor_pose_identity() };
    int sizes = 1;
    if (strcmp(name, "box") == 0) {
        s->kind = MOR_URDF_BOX;
        read_numbers(p, attributes, name, "size", 3, true, s->size);
        sizes = 3;
    } else if (strcmp(name, "mesh") == 0) {
        s->kind = MOR_URDF_MESH;
        sizes = 0;
        const char* file = attribute(attributes, "filename");
        if (!file || !*file) {
            fail(p, "<mesh> has no filename");
            return;
        }
        s->file = malloc(strlen(file) + 1);
        if (s->file) memcpy(s->file, file, strlen(file) + 1);
        const char* scale = attribute(attributes, "scale");
        if (scale && !strpbrk(scale + strspn(scale, " \t\r\n"), " \t\r\n")) { /* one number for all */
            if (read_numbers(p, attributes, name, "scale", 1, true, s->scale)) s->scale[1] = s->scale[2] = s->scale[0];
        } else {
            read_numbers(p, attributes, name, "scale", 3, false, s->scale);
        }
        if (s->scale[0] * s->scale[1] * s->scale[2] == 0.0) fail(p, "scale of <mesh> has a zero");
    } else {
        s->kind = strcmp(name, "sphere") == 0     ? MOR_URDF_SPHERE
                  : strcmp(name, "cylinder") == 0 ? MOR_URDF_CYLINDER
                                                  : MOR_URDF_CAPSULE;
        read_numbers(p, attributes, name, "radius", 1, true, &s->size[0]);
        if (s->kind != MOR_URDF_SPHERE) {
            read_numbers(p, attributes, name, "length", 1, true, &s->size[1]);
            sizes = 2;
        }
    }
    for (int i = 0; i < sizes; i++)
        if (!(s->size[i] > 0.0) && !(s->kind == MOR_URDF_SPHERE && s->size[i] == 0.0))
            fail(p, "<%s> has the size %g; sizes are positive", name, s->size[i]);
}

/* True if the element belongs into a joint. */
static bool in_joint(parser* p, const char* name, const char** attributes)
{
    mor_urdf_joint* j = &p->urdf->joints[p->urdf->joint_count - 1];
    if (strcmp(name, "origin") == 0) j->pose = read_origin(p, attributes);
    else if (strcmp(name, "parent") == 0) read_name(p, attributes, "parent", "link", j->parent);
    else if (strcmp(name, "child") == 0) read_name(p, attributes, "child", "link", j->child);
    else if (strcmp(name, "axis") == 0) {
        double x[3] = { 1, 0, 0 };
        if (read_numbers(p, attributes, "axis", "xyz", 3, true, x)) j->axis = mor_v3(x[0], x[1], x[2]);
        double length = mor_norm(j->axis);
        if (j->type != MOR_URDF_FIXED && (!(length > 1e-9) || !isfinite(length)))
            fail(p, "the axis of joint '%s' has no length; give a direction such as \"0 0 1\"", j->name);
    } else if (strcmp(name, "limit") == 0) {
        j->has_limit = true;
        j->has_lower = read_numbers(p, attributes, "limit", "lower", 1, false, &j->lower);
        j->has_upper = read_numbers(p, attributes, "limit", "upper", 1, false, &j->upper);
        read_numbers(p, attributes, "limit", "effort", 1, false, &j->effort);
        read_numbers(p, attributes, "limit", "velocity", 1, false, &j->speed);
        bool turns = j->type == MOR_URDF_REVOLUTE || j->type == MOR_URDF_PRISMATIC;
        if (turns && (j->has_lower || j->has_upper) && j->lower > j->upper)
            fail(p, "joint '%s' has the lower limit %g above the upper limit %g", j->name, j->lower, j->upper);
    } else if (strcmp(name, "dynamics") == 0) {
        read_numbers(p, attributes, "dynamics", "damping", 1, false, &j->damping);
        read_numbers(p, attributes, "dynamics", "friction", 1, false, &j->friction);
        if (j->damping < 0.0 || j->friction < 0.0) fail(p, "joint '%s' has negative damping or friction", j->name);
    } else if (strcmp(name, "mimic") == 0) {
        read_name(p, attributes, "mimic", "joint", j->mimic);
        read_numbers(p, attributes, "mimic", "multiplier", 1, false, &j->mimic_ratio);
        read_numbers(p, attributes, "mimic", "offset", 1, false, &j->mimic_offset);
    } else return false;
    return true;
}

static void pass_over(parser* p, const char* name)
{
    p->skip = 1;
    if (strcmp(name, "visual") == 0 || strcmp(name, "material") == 0) return;
    mor_urdf* u = p->urdf;
    for (int i = 0; i < u->ignored_count; i++)
        if (strncmp(u->ignored[i].name, name, sizeof u->ignored[i].name - 1) == 0) {
            u->ignored[i].count++;
            return;
        }
    if (u->ignored_count >= 200) return; /* garbage: the first ones tell enough */
    mor_urdf_ignored* g = ADD(p, ignored, ignored_count, ignored_room);
    if (!g) return;
    *g = (mor_urdf_ignored){ .count = 1,
                             .line = (int)XML_GetCurrentLineNumber(p->xml),
                             .column = (int)XML_GetCurrentColumnNumber(p->xml) + 1 };
    snprintf(g->name, sizeof g->name, "%.39s", name);
}

static bool one_of(const char* name, const char* const* words)
{
    for (; *words; words++)
        if (strcmp(name, *words) == 0) return true;
    return false;
}

static void on_start(void* user, const char* name, const char** attributes)
{
    static const char* const inertial[] = { "origin", "mass", "inertia", NULL };
    static const char* const shapes[] = { "sphere", "box", "cylinder", "capsule", "mesh", NULL };
    parser* p = user;
    if (p->code != MOR_OK) return;
    if (p->skip) {
        p->skip++;
        return;
    }
    mor_urdf* u = p->urdf;
    int inside = p->depth ? p->context[p->depth - 1] : IN_FILE, next = -1;
    switch (inside) {
    case IN_FILE:
        if (strcmp(name, "robot") == 0) {
            const char* title = attribute(attributes, "name");
            snprintf(u->name, sizeof u->name, "%.90s", title ? title : "");
            next = IN_ROBOT;
        } else
            fail(p, "the first element is <%.40s>%s; a URDF file begins with <robot>", name,
                 strcmp(name, "sdf") == 0      ? " (an SDF file)"
                 : strcmp(name, "mujoco") == 0 ? " (a MuJoCo file)"
                                               : "");
        break;
    case IN_ROBOT:
        if (strcmp(name, "link") == 0) read_link(p, attributes), next = IN_LINK;
        else if (strcmp(name, "joint") == 0) read_joint(p, attributes), next = IN_JOINT;
        break;
    case IN_LINK:
        if (strcmp(name, "inertial") == 0) {
            mor_urdf_link* l = &u->links[u->link_count - 1];
            if (l->has_inertial) fail(p, "link '%s' has two <inertial> elements", l->name);
            l->has_inertial = true;
            l->inertial_line = (int)XML_GetCurrentLineNumber(p->xml);
            l->inertial_column = (int)XML_GetCurrentColumnNumber(p->xml) + 1;
            next = IN_INERTIAL;
        } else if (strcmp(name, "collision") == 0) {
            p->shape_pose = mor_pose_identity();
            p->shape_begin = u->shape_count;
            next = IN_COLLISION;
        }
        break;
    case IN_INERTIAL:
        if (one_of(name, inertial)) in_inertial(p, &u->links[u->link_count - 1], name, attributes), next = IN_LEAF;
        break;
    case IN_COLLISION:
        if (strcmp(name, "origin") == 0) p->shape_pose = read_origin(p, attributes), next = IN_LEAF;
        else if (strcmp(name, "geometry") == 0) next = IN_GEOMETRY;
        break;
    case IN_GEOMETRY:
        if (one_of(name, shapes)) in_geometry(p, name, attributes), next = IN_LEAF;
        break;
    case IN_JOINT:
        if (in_joint(p, name, attributes)) next = IN_LEAF;
        break;
    default:
        break;
    }
    if (p->code != MOR_OK) return;
    if (next < 0) pass_over(p, name);
    else p->context[p->depth++] = next; /* the contexts above nest at most 6 deep */
}

static void on_end(void* user, const char* name)
{
    (void)name;
    parser* p = user;
    if (p->code != MOR_OK) return;
    if (p->skip) {
        p->skip--;
        return;
    }
    int left = p->context[--p->depth];
    mor_urdf* u = p->urdf;
    if (left == IN_COLLISION) /* the origin may come after the geometry */
        for (int i = p->shape_begin; i < u->shape_count; i++) u->shapes[i].pose = p->shape_pose;
    if (left == IN_JOINT) {
        const mor_urdf_joint* j = &u->joints[u->joint_count - 1];
        if (!j->parent[0] || !j->child[0])
            fail(p, "joint '%s' has no %s; write <%s link=\"...\"/>", j->name, j->parent[0] ? "child" : "parent",
                 j->parent[0] ? "child" : "parent");
    }
}

/* ---------------------------------------------------------------------------------------- file */

void mor_urdf_free(mor_urdf* u)
{
    for (int i = 0; i < u->shape_count; i++) free(u->shapes[i].file);
    free(u->links);
    free(u->joints);
    free(u->shapes);
    free(u->ignored);
    *u = (mor_urdf){ 0 };
}

mor_code mor_urdf_parse(const char* path, mor_urdf* urdf, mor_error* error)
{
    *urdf = (mor_urdf){ .path = path };
    size_t length;
    mor_error local = { 0 };
    if (!error) error = &local;
    char* text;
    mor_code code = mor_text_read(path, FILE_MAX, &text, &length, error);
    if (!code && length == 0) {
        free(text);
        code = mor_fail(error, MOR_BAD_INPUT, "%s: the file is empty; a URDF file holds a <robot>", path);
    }
    if (code) return code;
    parser p = { .xml = XML_ParserCreate(NULL), .urdf = urdf, .error = error };
    if (!p.xml) {
        free(text);
        return mor_fail(error, MOR_SYSTEM, "out of memory");
    }
    XML_SetUserData(p.xml, &p);
    XML_SetElementHandler(p.xml, on_start, on_end);
    if (XML_Parse(p.xml, text, (int)length, 1) != XML_STATUS_OK && p.code == MOR_OK)
        p.code = mor_xml_broken(p.xml, path, error);
    XML_ParserFree(p.xml);
    free(text);
    if (p.code != MOR_OK) mor_urdf_free(urdf);
    return p.code;
}
