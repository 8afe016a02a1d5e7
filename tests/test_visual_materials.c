/* Colours of mesh files (.mtl, COLLADA, pictures), visuals of SDF, search paths. Expected: the numbers written into the
 * files by the test; extents by kinematics by hand. */
#include "common/command.h"
#include "common/worlds.h"
#include "io/recording/recording.h"
#include "io/scene/scene_visual.h"
#include "moreau/lab.h"
#include "serve/frame.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static void put_bytes(const char* name, const void* bytes, size_t size)
{
    FILE* f = fopen(command_at(name), "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, size, f), size);
    assert_int_equal(fclose(f), 0);
}

static void put(const char* name, const char* text) { put_bytes(name, text, strlen(text)); }

/* ------------------------------------------------------------------------------- a picture, by hand */

static size_t chunk(unsigned char* out, const char* name, const unsigned char* data, size_t n)
{
    for (int i = 0; i < 4; i++) out[i] = (unsigned char)(n >> (24 - 8 * i));
    memcpy(out + 4, name, 4);
    if (n) memcpy(out + 8, data, n);
    uint32_t c = 0xffffffffu;
    for (size_t i = 4; i < n + 8; i++) {
        c ^= out[i];
        for (int bit = 0; bit < 8; bit++) c = c & 1u ? c >> 1 ^ 0xedb88320u : c >> 1;
    }
    for (int i = 0; i < 4; i++) out[n + 8 + (size_t)i] = (unsigned char)(~c >> (24 - 8 * i));
    return n + 12;
}

/* Two pixels beside each other, red 100 and 200, green 50, blue 0. */
static void put_picture(const char* name)
{
    static const unsigned char head[13] = { 0, 0, 0, 2, 0, 0, 0, 1, 8, 2, 0, 0, 0 },
                               row[7] = { 0, 100, 50, 0, 200, 50, 0 };
    unsigned char packed[32] = { 0x78, 1, 1, 7, 0, 0xf8, 0xff }, file[128] = { 0x89, 'P', 'N', 'G', 13, 10, 26, 10 };
    uint32_t a = 1, b = 0;
    memcpy(packed + 7, row, 7);
    for (int i = 0; i < 7; i++) a = (a + row[i]) % 65521, b = (b + a) % 65521;
    const unsigned char sum[4] = { (unsigned char)(b >> 8), (unsigned char)b, (unsigned char)(a >> 8),
                                   (unsigned char)a };
    memcpy(packed + 14, sum, 4);
    size_t n = 8;
    n += chunk(file + n, "IHDR", head, sizeof head);
    n += chunk(file + n, "IDAT", packed, 18);
    n += chunk(file + n, "IEND", NULL, 0);
    put_bytes(name, file, n);
}

/* ----------------------------------------------------------------------------------------- scenes */

typedef struct sight {
    mor_scene* scene;
    mor_world* world;
    mor_visuals* visuals;
} sight;

static sight see(const char* robot)
{
    char text[1000];
    snprintf(text, sizeof text, "moreau: 1\ntime: { step: 0.001, end: 1 }\nrobots:\n  - { %s }\n", robot);
    sight s;
    s.world = test_scene_text(text, &s.scene);
    s.visuals = mor_visuals_read(s.scene);
    assert_non_null(s.visuals);
    return s;
}

static void done(sight* s)
{
    mor_visuals_free(s->visuals);
    mor_world_destroy(s->world);
    mor_scene_destroy(s->scene);
}

static void is_color(const mor_visual* v, double r, double g, double b, double a)
{
    const double want[4] = { r, g, b, a };
    for (int k = 0; k < 4; k++) test_near(v->color[k], want[k], 1e-12, "colour");
}

static void extent(const mor_world* w, const mor_visual* v, mor_vec3 low, mor_vec3 high, double tol)
{
    mor_pose pose = v->pose;
    if (*v->body) {
        mor_body_id id = mor_world_find_body(w, v->body);
        if (!id.index1) fail_msg("no body '%s'", v->body);
        mor_pose body = test_state(w, id).pose;
        pose = mor_pose_mul(&body, &v->pose);
    }
    mor_vec3 a = mor_v3(INFINITY, INFINITY, INFINITY), b = mor_neg(a);
    for (int i = 0; i < 3 * v->triangle_count; i++) {
        mor_vec3 p = mor_pose_point(&pose, v->points[v->triangles[i]]);
        a = mor_min3(a, p), b = mor_max3(b, p);
    }
    for (int k = 0; k < 3; k++) {
        test_near(mor_axis(a, k), mor_axis(low, k), tol, "lower end");
        test_near(mor_axis(b, k), mor_axis(high, k), tol, "upper end");
    }
}

static const char OBJ[] = "mtllib looks.mtl\n"
                          "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 2\nv 5 5 5\n"
                          "usemtl red\nf 1 2 3\n"
                          "usemtl glass\nf 1 2 4\n"
                          "usemtl wood\nf 1 3 4\nf 1 4 3\n"
                          "usemtl nowhere\nf 2 3 4\n";
static const char MTL[] = "# looks\nnewmtl red\nKa 1 1 1\nKd 1 0.25 0\nNs 10\n\n"
                          "newmtl glass\nKd 0 0 1\nTr 0.75\n"
                          "newmtl wood\nKd 1 1 1\nmap_Kd -s 1 1 1 wood.png\n";

static void robot_with(const char* mesh, const char* material)
{
    char text[800];
    snprintf(text, sizeof text,
             "<robot name='r'><link name='base'><visual><geometry><mesh filename='%s'/></geometry>%s</visual></link>"
             "</robot>\n",
             mesh, material);
    put("r.urdf", text);
}

static const char* urdf(void)
{
    static char text[300];
    snprintf(text, sizeof text, "urdf: %s, name: r", command_at("r.urdf"));
    return text;
}

static void faces_of_an_obj_file_have_the_colours_of_its_mtl_file(void** state)
{
    (void)state;
    put("m.obj", OBJ);
    put("looks.mtl", MTL);
    put_picture("wood.png");
    robot_with("m.obj", "");
    sight s = see(urdf());
    assert_int_equal(s.visuals->count, 4);
    is_color(&s.visuals->items[0], 1, 0.25, 0, 1);
    is_color(&s.visuals->items[1], 0, 0, 1, 0.25);
    is_color(&s.visuals->items[2], 150 / 255.0, 50 / 255.0, 0, 1); /* the mean of the picture */
    is_color(&s.visuals->items[3], 0.75, 0.77, 0.8, 1);            /* said nowhere */
    assert_int_equal(s.visuals->items[2].triangle_count, 2);
    assert_int_equal(s.visuals->items[0].point_count, 3);
    extent(s.world, &s.visuals->items[0], mor_v3(0, 0, 0), mor_v3(1, 1, 0), 1e-12);
    extent(s.world, &s.visuals->items[1], mor_v3(0, 0, 0), mor_v3(1, 0, 2), 1e-12);
    done(&s);
    /* the material of the URDF counts before those of the file */
    robot_with("m.obj", "<material name='x'><color rgba='0 1 0 1'/></material>");
    s = see(urdf());
    assert_int_equal(s.visuals->count, 1);
    is_color(&s.visuals->items[0], 0, 1, 0, 1);
    assert_int_equal(s.visuals->items[0].triangle_count, 5);
    done(&s);
}

static void damaged_or_missing_material_files_leave_the_shape(void** state)
{
    (void)state;
    put("m.obj", OBJ);
    put("looks.mtl", "newmtl\nKd\nnewmtl red\nKd a b c\nd\nmap_Kd\nnewmtl wood\nmap_Kd gone.png\n\xff\xfe");
    robot_with("m.obj", "");
    sight s = see(urdf());
    assert_int_equal(s.visuals->count, 4);
    assert_non_null(strstr(s.visuals->notes, "gone.png"));
    done(&s);
    remove(command_at("looks.mtl"));
    s = see(urdf());
    assert_int_equal(s.visuals->count, 4);
    is_color(&s.visuals->items[0], 0.75, 0.77, 0.8, 1);
    done(&s);
}

static const char DAE[] =
    "<?xml version='1.0'?><COLLADA xmlns='http://www.collada.org/2005/11/COLLADASchema' version='1.4.1'>"
    "<asset><unit meter='1'/><up_axis>Z_UP</up_axis></asset>"
    "<library_images><image id='img'><init_from>wood.png</init_from></image></library_images>"
    "<library_effects>"
    "<effect id='e1'><profile_COMMON><technique sid='c'><phong><diffuse><color>0.1 0.2 0.3 1</color></diffuse></phong>"
    "</technique></profile_COMMON></effect>"
    "<effect id='e2'><profile_COMMON><newparam sid='surf'><surface "
    "type='2D'><init_from>img</init_from></surface></newparam>"
    "<newparam sid='samp'><sampler2D><source>surf</source></sampler2D></newparam>"
    "<technique sid='c'><lambert><diffuse><texture texture='samp' texcoord='UV'/></diffuse></lambert></technique>"
    "</profile_COMMON></effect></library_effects>"
    "<library_materials><material id='m1'><instance_effect url='#e1'/></material>"
    "<material id='m2'><instance_effect url='#e2'/></material></library_materials>"
    "<library_geometries><geometry id='g'><mesh>"
    "<source id='p'><float_array id='pa' count='12'>0 0 0 1 0 0 0 1 0 0 0 2</float_array><technique_common>"
    "<accessor source='#pa' count='4' stride='3'/></technique_common></source>"
    "<vertices id='v'><input semantic='POSITION' source='#p'/></vertices>"
    "<triangles count='1' material='one'><input semantic='VERTEX' source='#v' offset='0'/><p>0 1 2</p></triangles>"
    "<triangles count='1' material='two'><input semantic='VERTEX' source='#v' offset='0'/><p>0 1 3</p></triangles>"
    "</mesh></geometry></library_geometries>"
    "<library_visual_scenes><visual_scene id='s'><node><instance_geometry url='#g'><bind_material><technique_common>"
    "<instance_material symbol='one' target='#m1'/><instance_material symbol='two' target='#m2'/>"
    "</technique_common></bind_material></instance_geometry></node></visual_scene></library_visual_scenes>"
    "<scene><instance_visual_scene url='#s'/></scene></COLLADA>\n";

static void faces_of_a_collada_file_have_the_colours_of_its_effects(void** state)
{
    (void)state;
    put("m.dae", DAE);
    put_picture("wood.png");
    robot_with("m.dae", "");
    sight s = see(urdf());
    assert_int_equal(s.visuals->count, 2);
    is_color(&s.visuals->items[0], 0.1, 0.2, 0.3, 1);
    is_color(&s.visuals->items[1], 150 / 255.0, 50 / 255.0, 0, 1);
    done(&s);
}

static void a_material_of_mjcf_has_the_colour_of_its_texture(void** state)
{
    (void)state;
    put_picture("wood.png");
    put("t.xml", "<mujoco><asset><texture name='w' type='2d' file='wood.png'/><texture name='c' builtin='checker' "
                 "rgb1='0.5 0 1' rgb2='0 0 0' width='4' height='4'/><material name='a' texture='w' rgba='0.5 1 1 1'/>"
                 "<material name='b' texture='c'/></asset><worldbody><body><freejoint/><geom size='0.1' material='a'/>"
                 "<geom size='0.2' material='b' pos='1 0 0'/></body></worldbody></mujoco>\n");
    char text[300];
    snprintf(text, sizeof text, "mjcf: %s, name: t", command_at("t.xml"));
    sight s = see(text);
    assert_int_equal(s.visuals->count, 2);
    is_color(&s.visuals->items[0], 75 / 255.0, 50 / 255.0, 0, 1);
    is_color(&s.visuals->items[1], 0.5, 0, 1, 1);
    done(&s);
}

static const char SDF[] =
    "<?xml version='1.0'?><sdf version='1.8'><model name='arm'>"
    "<link name='base'><pose>0 0 1 0 0 0</pose>"
    "<visual name='v'><pose>0.5 0 0 0 0 0</pose><geometry><box><size>1 0.2 0.4</size></box></geometry>"
    "<material><diffuse>1 0.5 0 1</diffuse></material><transparency>0.5</transparency></visual>"
    "<collision name='c'><geometry><sphere><radius>0.3</radius></sphere></geometry></collision></link>"
    "<link name='tip'><pose>0 0 2 0 0 1.5707963267948966</pose>"
    "<visual name='v'><geometry><mesh><uri>model://kit/meshes/m.obj</uri><scale>2 1 "
    "1</scale></mesh></geometry></visual>"
    "<collision name='c'><geometry><box><size>0.1 0.1 0.1</size></box></geometry></collision></link>"
    "<link name='bare'><pose>3 0 0 0 0 0</pose><visual name='v'><geometry><mesh><uri>model://kit/gone.obj</uri></mesh>"
    "</geometry></visual><collision name='c'><geometry><box><size>2 2 2</size></box></geometry></collision></link>"
    "<joint name='a' type='fixed'><parent>world</parent><child>base</child></joint>"
    "<joint name='b' type='revolute'><parent>base</parent><child>tip</child><axis><xyz>0 0 1</xyz></axis></joint>"
    "<joint name='d' type='fixed'><parent>base</parent><child>bare</child></joint>"
    "</model></sdf>\n";

static void visuals_of_sdf_are_where_kinematics_says_and_found_by_search_paths(void** state)
{
    (void)state;
    put("arm.sdf", SDF);
    command_expect("mkdir -p models/kit/meshes", 0, NULL);
    put("models/kit/meshes/m.obj", OBJ);
    put("models/kit/meshes/looks.mtl", MTL);
    setenv("GZ_SIM_RESOURCE_PATH", command_at("models"), 1);
    char text[300];
    snprintf(text, sizeof text, "sdf: %s, name: arm", command_at("arm.sdf"));
    sight s = see(text);
    unsetenv("GZ_SIM_RESOURCE_PATH");
    /* the box, the box that has no visual, four materials of the mesh */
    assert_int_equal(s.visuals->count, 6);
    int boxes = 0, glass = 0;
    for (int i = 0; i < s.visuals->count; i++) {
        const mor_visual* v = &s.visuals->items[i];
        if (fabs(v->color[3] - 0.5) < 1e-12) {
            is_color(v, 1, 0.5, 0, 0.5);
            extent(s.world, v, mor_v3(0, -0.1, 0.8), mor_v3(1, 0.1, 1.2), 1e-12);
        } else if (v->triangle_count == 12) {
            boxes++;
            extent(s.world, v, mor_v3(2, -1, -1), mor_v3(4, 1, 1), 1e-12);
        } else if (fabs(v->color[3] - 0.25) < 1e-12) { /* x from 0 to 2, z from 0 to 2, turned by 90 degrees */
            glass++;
            extent(s.world, v, mor_v3(0, 0, 2), mor_v3(0, 2, 4), 1e-12);
        }
    }
    assert_int_equal(boxes, 1);
    assert_int_equal(glass, 1);
    assert_non_null(strstr(mor_scene_notes(s.scene), "gone.obj"));
    done(&s);
}

static char* description(const mor_world* w, const mor_scene* scene, const mor_recording* r)
{
    char* text = NULL;
    size_t length;
    mor_error error = { 0 };
    FILE* memory = open_memstream(&text, &length);
    if (r) assert_int_equal(mor_view_describe_recording(memory, r, &error), MOR_OK);
    else assert_true(mor_view_describe_world(memory, w, scene));
    fclose(memory);
    char* from = strstr(text, "\"visuals\"");
    assert_non_null(from);
    memmove(text, from, strlen(from) + 1);
    return text;
}

static int times(const char* text, const char* word)
{
    int n = 0;
    for (; (text = strstr(text, word)); text += strlen(word)) n++;
    return n;
}

/* The page gets a picture once, as the bytes of its file, however often it is used; a recording the same. */
static void the_page_gets_a_picture_once(void** state)
{
    (void)state;
    put("m.obj", "mtllib looks.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 0 1\nusemtl wood\nf 1/1 2/2 3/3\n");
    put("looks.mtl", MTL);
    put_picture("wood.png");
    put("r.urdf", "<robot name='r'><link name='base'>"
                  "<visual><geometry><mesh filename='m.obj'/></geometry></visual>"
                  "<visual><origin xyz='0 0 3'/><geometry><mesh filename='m.obj'/></geometry></visual>"
                  "</link></robot>\n");
    sight s = see(urdf());
    assert_int_equal(s.visuals->picture_count, 1);
    char* live = description(s.world, s.scene, NULL);
    assert_int_equal(times(live, "\"spots\""), 2);
    assert_int_equal(times(live, "\"picture\": 0"), 2);
    assert_int_equal(times(live, "\"data:image/png;base64,iVBORw0KGgo"), 1); /* the first eight bytes of a PNG */
    mor_error error = { 0 };
    mor_recorder* recorder = mor_recorder_open(command_at("run.h5"), s.world, s.scene, &error);
    if (!recorder) fail_msg("%s", error.text);
    assert_int_equal(mor_recorder_close(recorder, &error), MOR_OK);
    mor_recording* r = mor_recording_open(command_at("run.h5"), &error);
    if (!r) fail_msg("%s", error.text);
    char* stored = description(NULL, NULL, r);
    char *a = strstr(live, "\"visuals\""), *b = strstr(stored, "\"visuals\"");
    for (char** end = (char*[]){ strstr(a, "\"pictures\""), strstr(b, "\"pictures\""), NULL }; *end; end++)
        *strchr(*end, ']') = '\0';
    assert_string_equal(a, b);
    free(live);
    free(stored);
    mor_recording_close(r);
    done(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(faces_of_an_obj_file_have_the_colours_of_its_mtl_file),
        cmocka_unit_test(damaged_or_missing_material_files_leave_the_shape),
        cmocka_unit_test(faces_of_a_collada_file_have_the_colours_of_its_effects),
        cmocka_unit_test(a_material_of_mjcf_has_the_colour_of_its_texture),
        cmocka_unit_test(the_page_gets_a_picture_once),
        cmocka_unit_test(visuals_of_sdf_are_where_kinematics_says_and_found_by_search_paths),
    };
    return cmocka_run_group_tests(tests, command_open, command_close);
}
