/* What a URDF file says for the eye: the visual elements of its links and the
 * materials.
 *
 * A material has a colour of its own or is one of those named at the top of the
 * file. Textures are not read; a material with a texture only is grey. */
#include "io/urdf/urdf_visuals.h"
#include "base/elementary.h"
#include "base/failed.h"

#include <string.h>

static mor_pose pose_of(const mor_xml* origin)
{
    double xyz[3] = { 0 }, rpy[3] = { 0 };
    if (origin) {
        mor_xml_numbers(origin, "xyz", 3, 3, xyz, NULL, NULL);
        mor_xml_numbers(origin, "rpy", 3, 3, rpy, NULL, NULL);
    }
    mor_quat x = mor_quat_axis_angle(mor_v3(1, 0, 0), rpy[0]), y = mor_quat_axis_angle(mor_v3(0, 1, 0), rpy[1]),
             z = mor_quat_axis_angle(mor_v3(0, 0, 1), rpy[2]);
    return (mor_pose){ mor_v3(xyz[0], xyz[1], xyz[2]), mor_quat_mul(z, mor_quat_mul(y, x)) };
}

static bool color_of(const mor_xml* material, double color[4])
{
    const mor_xml* c = material ? mor_xml_child(material, "color") : NULL;
    int n = 0;
    return c && mor_xml_numbers(c, "rgba", 3, 4, color, &n, NULL) == MOR_OK && n >= 3;
}

static bool find_color(const mor_xml* robot, const mor_xml* visual, double color[4])
{
    const mor_xml* own = mor_xml_child(visual, "material");
    const char* name = own ? mor_xml_get(own, "name") : NULL;
    if (color_of(own, color)) return true;
    if (!name) return false;
    for (const mor_xml* m = mor_xml_child(robot, "material"); m; m = mor_xml_sibling(m)) {
        const char* other = mor_xml_get(m, "name");
        if (other && strcmp(other, name) == 0 && color_of(m, color)) return true;
    }
    for (const mor_xml* l = mor_xml_child(robot, "link"); l; l = mor_xml_sibling(l)) /* named in another link */
        for (const mor_xml* v = mor_xml_child(l, "visual"); v; v = mor_xml_sibling(v)) {
            const mor_xml* m = mor_xml_child(v, "material");
            const char* other = m ? mor_xml_get(m, "name") : NULL;
            if (other && strcmp(other, name) == 0 && color_of(m, color)) return true;
        }
    return false;
}

/* What has numbers that cannot be read is left out: it is not drawn, and
 * nothing else changes. */
static bool shape_of(const mor_xml* geometry, mor_urdf_visual* out)
{
    const mor_xml* e;
    double r[1], l[1];
    int n = 0;
    if ((e = mor_xml_child(geometry, "mesh"))) {
        double s[3];
        out->file = mor_xml_get(e, "filename");
        if (mor_xml_numbers(e, "scale", 1, 3, s, &n, NULL) == MOR_OK && n)
            for (int k = 0; k < 3; k++) out->scale[k] = s[n == 3 ? k : 0];
        return out->file != NULL;
    }
    if ((e = mor_xml_child(geometry, "box"))) {
        double v[3];
        if (mor_xml_numbers(e, "size", 3, 3, v, &n, NULL) || !n) return false;
        out->geometry = mor_geometry_box(v[0], v[1], v[2], NULL);
    } else if ((e = mor_xml_child(geometry, "sphere"))) {
        if (mor_xml_numbers(e, "radius", 1, 1, r, &n, NULL) || !n) return false;
        out->geometry = mor_geometry_sphere(r[0], NULL);
    } else if ((e = mor_xml_child(geometry, "cylinder")) || (e = mor_xml_child(geometry, "capsule"))) {
        if (mor_xml_numbers(e, "radius", 1, 1, r, &n, NULL) || !n) return false;
        if (mor_xml_numbers(e, "length", 1, 1, l, &n, NULL) || !n) return false;
        out->geometry = strcmp(e->name, "cylinder") == 0 ? mor_geometry_cylinder(r[0], l[0], 0, NULL)
                                                         : mor_geometry_capsule(r[0], l[0], NULL);
    }
    return out->geometry != NULL;
}

mor_code mor_urdf_visuals(const char* path, mor_arena* arena, mor_urdf_visual_sink sink, void* user, mor_error* error)
{
    const mor_xml* robot = mor_xml_read(arena, path, error);
    if (!robot) return mor_failed(error, MOR_BAD_INPUT);
    mor_code code = MOR_OK;
    for (const mor_xml* l = mor_xml_child(robot, "link"); l && !code; l = mor_xml_sibling(l))
        for (const mor_xml* v = mor_xml_child(l, "visual"); v && !code; v = mor_xml_sibling(v)) {
            const mor_xml* geometry = mor_xml_child(v, "geometry");
            mor_urdf_visual out = { .link = mor_xml_get(l, "name"),
                                    .pose = pose_of(mor_xml_child(v, "origin")),
                                    .scale = { 1, 1, 1 },
                                    .color = { 0.75, 0.77, 0.8, 1 } };
            if (!out.link || !geometry || !shape_of(geometry, &out)) continue;
            out.has_color = find_color(robot, v, out.color);
            code = sink(user, &out);
            mor_geometry_release(out.geometry);
        }
    return code;
}
