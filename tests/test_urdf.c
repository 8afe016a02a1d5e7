/* Reading URDF: what is understood, what is told, what is refused; files broken by hand and by dice. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "common/near.h"
#include "common/scratch.h"
#include "moreau/robot.h"

static mor_robot_model* read_text(const char* text, bool strict, char* notes, size_t size, mor_error* error)
{
    mor_urdf_options o = mor_urdf_options_default();
    o.shapes = true;
    o.strict = strict;
    write_bytes(text, strlen(text));
    return mor_urdf_read(path, &o, notes, size, error);
}

#define INERTIAL "<inertial><mass value='2'/><inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial>"
#define ARM(inside) "<robot name='r'>\n<link name='a'>" INERTIAL "</link>\n" inside "\n</robot>"
#define JOINT(attributes, inside) "<joint " attributes "><parent link='a'/><child link='b'/>" inside "</joint>"

static void fixed_links_are_merged_and_stay_frames(void** state)
{
    (void)state;
    mor_error error;
    char notes[2000];
    mor_robot_model* m = read_text(
        ARM("<link name='b'>" INERTIAL
            "<collision><geometry><box size='1 2 3'/></geometry><origin xyz='0 0 5'/></collision></link>" JOINT(
                "name='j' type='fixed'",
                "<origin xyz='1 0 0' rpy='0 0 1.5707963267948966'/>") "<link name='c'>" INERTIAL
                                                                      "</link><joint name='k' "
                                                                      "type='continuous'><parent link='b'/><child "
                                                                      "link='c'/><origin xyz='1 0 0'/><axis xyz='0 0 "
                                                                      "2'/></joint>"),
        false, notes, sizeof notes, &error);
    if (!m) fail_msg("%s", error.text);
    assert_string_equal(notes, "");
    assert_int_equal(mor_robot_link_count(m), 2);
    assert_int_equal(mor_robot_frame_count(m), 3);
    const mor_link_def* base = mor_robot_link(m, 0);
    assert_near(base->mass.mass, 4.0, 0.0);
    assert_near(base->mass.com.x, 0.5, 1e-15);
    /* two spheres of inertia 1 at +-0.5 m: 2 + 2*2*0.25 across, 2 along */
    assert_near(base->mass.inertia.m[0][0], 2.0, 1e-14);
    assert_near(base->mass.inertia.m[1][1], 3.0, 1e-14);
    const mor_link_def* c = mor_robot_link(m, 1);
    assert_near(c->pose.position.x, 1.0, 1e-15);
    assert_near(c->pose.position.y, 1.0, 1e-15);
    assert_near(c->axis.z, 1.0, 0.0);
    assert_true(isinf(c->upper));
    assert_int_equal(mor_robot_shape_count(m), 1);
    assert_near(mor_robot_shape(m, 0)->pose.position.z, 5.0, 1e-15);
    assert_near(mor_robot_shape(m, 0)->pose.position.x, 1.0, 1e-15);
    mor_robot_destroy(m);
}

static void what_is_odd_is_told_with_its_place(void** state)
{
    (void)state;
    static const struct {
        const char *text, *note;
    } cases[] = {
        { ARM("<link name='b'>" INERTIAL "</link>\n" JOINT("name='j' type='revolute'", "")),
          ":4:1: joint 'j' is revolute but has no limits" },
        { ARM("<link name='b'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='3'/></inertial></link>" JOINT(
              "name='j' type='continuous'", "")),
          "largest exceeds the sum" },
        { ARM("<link name='b'><inertial><mass value='1'/></inertial></link>" JOINT("name='j' type='continuous'", "")),
          "taken as a point" },
        { ARM("<link name='b'><inertial><mass value='0'/><inertia ixx='1' iyy='1' izz='1'/></inertial></link>" JOINT(
              "name='j' type='continuous'", "")),
          "not used" },
        { ARM("<link name='b'/>" JOINT("name='j' type='continuous'", "")), "carries no mass" },
        { ARM("<link name='b'>" INERTIAL
              "<flavour/></link>" JOINT("name='j' type='fixed'", "") "<gazebo><flavour/></gazebo><gazebo/>"),
          "<gazebo> is not used (here and elsewhere)" },
        { ARM("<link name='b'><collision><geometry><mesh "
              "filename='package://nowhere/x.stl'/></geometry></collision></link>" JOINT("name='j' type='fixed'", "")),
          "is not found" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mor_error error;
        char notes[4000];
        mor_robot_model* m = read_text(cases[i].text, false, notes, sizeof notes, &error);
        if (!m) fail_msg("%s", error.text);
        if (!strstr(notes, cases[i].note)) fail_msg("expected a note with \"%s\", got \"%s\"", cases[i].note, notes);
        mor_robot_destroy(m);
    }
}

static void what_is_wrong_is_refused_with_its_place(void** state)
{
    (void)state;
    static const struct {
        const char *text, *part;
    } cases[] = {
        { "", "empty" },
        { "garbage", ":1:1: not well-formed" },
        { "<robot", "not well-formed" },
        { "<robot>", "not well-formed" },
        { "<robot/>", "no <link>" },
        { "<sdf/>", "an SDF file" },
        { "<robot><link/></robot>", ":1:8: <link> has no name" },
        { ARM("<link name='a'/>"), ":3:1: there are two links called 'a'" },
        { ARM("<link name='b'/>"), "a robot has one root" },
        { ARM("<joint type='fixed'/>"), "<joint> has no name" },
        { ARM("<joint name='j'/>"), "has no type" },
        { ARM("<joint name='j' type='revolut'/>"), "did you mean 'revolute'" },
        { ARM("<joint name='j' type='ball'/>"), "unknown type 'ball'" },
        { ARM("<joint name='j' type='floating'/>"), "not supported" },
        { ARM("<joint name='j' type='fixed'/>"), "has no parent" },
        { ARM("<joint name='j' type='fixed'><parent link='a'/></joint>"), "has no child" },
        { ARM(JOINT("name='j' type='fixed'", "")), "names the link 'b', which is not there" },
        { ARM("<link name='base_link'/><joint name='j' type='fixed'><parent link='a'/><child "
              "link='base_lnk'/></joint>"),
          "did you mean 'base_link'" },
        { ARM("<joint name='j' type='fixed'><parent link='a'/><child link='a'/></joint>"), "with itself" },
        { ARM("<link name='b'/>" JOINT("name='j' type='fixed'", "") JOINT("name='k' type='fixed'", "")),
          "close loops in the scene file" },
        { ARM("<link name='b'/><link name='c'/>" JOINT(
              "name='j' type='fixed'", "") "<joint name='j' type='fixed'><parent link='b'/><child link='c'/></joint>"),
          "two joints called 'j'" },
        { "<robot><link name='a'/><link name='b'/>" JOINT(
              "name='j' type='fixed'",
              "") "<joint name='k' type='fixed'><parent link='b'/><child link='a'/></joint></robot>",
          "no link is the root" },
        { ARM("<link name='b'/><link name='c'/><joint name='j' type='fixed'><parent link='b'/><child "
              "link='c'/></joint><joint name='k' type='fixed'><parent link='c'/><child link='b'/></joint>"),
          "part of a loop" },
        { ARM("<link name='b'><inertial><mass value='-1'/></inertial></link>"), "a mass is not negative" },
        { ARM("<link name='b'><inertial><mass value='heavy'/></inertial></link>"), "expected a number" },
        { ARM("<link name='b'><inertial><mass value='nan'/></inertial></link>"), "expected a number" },
        { ARM("<link name='b'><inertial><mass value='1e999'/></inertial></link>"), "expected a number" },
        { ARM("<link name='b'><inertial><mass/></inertial></link>"), "<mass> has no value" },
        { ARM("<link name='b'><inertial><mass value='1'/><inertia ixx='1'/></inertial></link>"),
          "<inertia> has no iyy" },
        { ARM("<link name='b'>" INERTIAL INERTIAL "</link>"), "two <inertial>" },
        { ARM("<link name='b'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='-1'/></inertial></link>" JOINT(
              "name='j' type='fixed'", "")),
          "the inertia of link 'b' is not positive" },
        { ARM("<link name='b'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1' "
              "ixy='5'/></inertial></link>" JOINT("name='j' type='fixed'", "")),
          "not positive" },
        { ARM("<link name='b'/>" JOINT("name='j' type='revolute'", "<axis xyz='0 0 0'/>")), "has no length" },
        { ARM("<link name='b'/>" JOINT("name='j' type='revolute'", "<axis xyz='0 1'/>")),
          "2 numbers where 3 are expected" },
        { ARM("<link name='b'/>" JOINT("name='j' type='revolute'", "<axis xyz='0 1 2 3'/>")), "more than 3 numbers" },
        { ARM("<link name='b'/>" JOINT("name='j' type='revolute'", "<origin xyz='0 x 0'/>")), "expected numbers" },
        { ARM("<link name='b'/>" JOINT("name='j' type='revolute'", "<limit lower='2' upper='1'/>")),
          "above the upper limit" },
        { ARM("<link name='b'/>" JOINT("name='j' type='revolute'", "<dynamics damping='-1'/>")), "negative damping" },
        { ARM("<link name='b'>" INERTIAL "</link>" JOINT("name='j' type='revolute'", "<mimic joint='x'/>")),
          "mimics 'x', which is not there" },
        { ARM("<link name='b'>" INERTIAL "</link>" JOINT("name='j' type='revolute'", "<mimic joint='j'/>")),
          "mimics itself" },
        { ARM("<link name='b'><collision><geometry><sphere radius='-1'/></geometry></collision></link>"),
          "sizes are positive" },
        { ARM("<link name='b'><collision><geometry><box size='1 2'/></geometry></collision></link>"),
          "2 numbers where 3" },
        { ARM("<link name='b'><collision><geometry><cylinder radius='1'/></geometry></collision></link>"),
          "<cylinder> has no length" },
        { ARM("<link name='b'><collision><geometry><mesh/></geometry></collision></link>"), "no filename" },
        { ARM("<link name='b'><collision><geometry><mesh filename='a.stl' scale='0 1 "
              "1'/></geometry></collision></link>"),
          "has a zero" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mor_error error = { 0 };
        mor_robot_model* m = read_text(cases[i].text, false, NULL, 0, &error);
        if (m) fail_msg("accepted: %s", cases[i].text);
        assert_int_equal(error.code, MOR_BAD_INPUT);
        if (!strstr(error.text, cases[i].part)) fail_msg("expected \"%s\", got \"%s\"", cases[i].part, error.text);
        if (!strstr(error.text, path)) fail_msg("no file name in \"%s\"", error.text);
    }
}

static void strict_reading_refuses_what_is_impossible(void** state)
{
    (void)state;
    mor_error error;
    assert_null(read_text(
        ARM("<link name='b'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='3'/></inertial></link>" JOINT(
            "name='j' type='continuous'", "")),
        true, NULL, 0, &error));
    assert_non_null(strstr(error.text, "link 'b' is impossible"));
    assert_null(read_text(
        ARM("<link name='b'><collision><geometry><mesh filename='nowhere.stl'/></geometry></collision></link>" JOINT(
            "name='j' type='fixed'", "")),
        true, NULL, 0, &error));
    assert_non_null(strstr(error.text, "not found"));
}

static void a_list_of_joints_locks_the_others(void** state)
{
    (void)state;
    mor_error error;
    const char* joints[] = { "elbow" };
    double locked[2] = { 0.3, 9.9 };
    mor_urdf_options o = mor_urdf_options_default();
    o.floating = false;
    o.joints = joints;
    o.joint_count = 1;
    o.locked = locked;
    mor_robot_model* m = mor_urdf_read(MOREAU_SOURCE_DIR "/scenes/robots/arm2.urdf", &o, NULL, 0, &error);
    if (!m) fail_msg("%s", error.text);
    assert_int_equal(mor_robot_dof(m), 1);
    mor_robot_work* work = mor_robot_work_create(m);
    double s = 0.4, H[16];
    mor_pose base = mor_pose_identity();
    mor_robot_update(m, work, &base, &s, NULL);
    mor_robot_frame_matrix(m, work, mor_robot_find_frame(m, "tip"), H);
    assert_near(H[3], cos(0.3) + cos(0.7), 1e-14); /* about y: x towards -z */
    assert_near(H[11], 0.05 - sin(0.3) - sin(0.7), 1e-14);
    mor_robot_work_destroy(work);
    mor_robot_destroy(m);
    joints[0] = "elbw";
    assert_null(mor_urdf_read(MOREAU_SOURCE_DIR "/scenes/robots/arm2.urdf", &o, NULL, 0, &error));
    assert_non_null(strstr(error.text, "did you mean 'elbow'"));
    joints[0] = "tip_fixed";
    assert_null(mor_urdf_read(MOREAU_SOURCE_DIR "/scenes/robots/arm2.urdf", &o, NULL, 0, &error));
}

static char* slurp(const char* file, size_t* length)
{
    FILE* f = fopen(file, "rb");
    assert_non_null(f);
    char* text = malloc(1 << 16);
    *length = fread(text, 1, 1 << 16, f);
    fclose(f);
    return text;
}

/* Bytes changed, cut out, doubled; numbers replaced: an answer or a sentence, never a crash. Run under the
 * sanitizers to mean something. */
static void no_broken_file_breaks_the_reader(void** state)
{
    (void)state;
    static const char* const numbers[] = { "1e308", "-1e308", "nan", "inf", "1e-320", "-0", "99999999999999999999",
                                           "1,5",   "0x10",   "" };
    mor_rng rng = { 11 };
    size_t length;
    char* text = slurp(MOREAU_SOURCE_DIR "/scenes/robots/arm6.urdf", &length);
    char* broken = malloc(3 * length);
    int refused = 0, accepted = 0;
    for (int k = 0; k < 400; k++) {
        size_t n = length;
        memcpy(broken, text, n);
        int changes = 1 + k % 4;
        for (int c = 0; c < changes; c++) {
            size_t at = (size_t)(mor_rng_uniform(&rng) * (double)n);
            double kind = mor_rng_uniform(&rng);
            if (kind < 0.2) broken[at] = (char)(256 * mor_rng_uniform(&rng));
            else if (kind < 0.3) n = at + 1;
            else if (kind < 0.5) { /* cut a piece out */ size_t cut = (size_t)(mor_rng_uniform(&rng) * 60.0);
                if (at + cut < n) memmove(broken + at, broken + at + cut, n - at - cut), n -= cut;
            } else if (kind < 0.6) { /* double a piece */
                size_t piece = (size_t)(mor_rng_uniform(&rng) * 200.0);
                if (at + piece < n && n + piece < 2 * length)
                    memmove(broken + at + piece, broken + at, n - at), n += piece;
            } else { /* another number between the next quotes */
                const char* word = numbers[(int)(mor_rng_uniform(&rng) * 10.0)];
                char* from = memchr(broken + at, '"', n - at);
                char* to = from ? memchr(from + 1, '"', n - (size_t)(from + 1 - broken)) : NULL;
                if (!to) continue;
                size_t w = strlen(word), rest = n - (size_t)(to - broken);
                memmove(from + 1 + w, to, rest);
                memcpy(from + 1, word, w);
                n = (size_t)(from + 1 - broken) + w + rest;
            }
        }
        write_bytes(broken, n);
        mor_urdf_options o = mor_urdf_options_default();
        o.shapes = true;
        char notes[3000];
        mor_error error = { 0 };
        mor_robot_model* m = mor_urdf_read(path, &o, notes, sizeof notes, &error);
        if (!m) {
            assert_int_equal(error.code, MOR_BAD_INPUT);
            assert_true(strlen(error.text) > 10);
            refused++;
        } else {
            mor_robot_work* work = mor_robot_work_create(m);
            double s[16] = { 0 }, x[32];
            mor_pose base = mor_pose_identity();
            mor_robot_update(m, work, &base, s, NULL);
            mor_robot_forward_dynamics(m, work, mor_v3(0, 0, -9.81), NULL, NULL, x);
            mor_robot_work_destroy(work);
            mor_robot_destroy(m);
            accepted++;
        }
    }
    assert_true(refused > 100 && accepted > 20); /* the dice do both */
    free(text);
    free(broken);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(fixed_links_are_merged_and_stay_frames, make_file, remove_file),
        cmocka_unit_test_setup_teardown(what_is_odd_is_told_with_its_place, make_file, remove_file),
        cmocka_unit_test_setup_teardown(what_is_wrong_is_refused_with_its_place, make_file, remove_file),
        cmocka_unit_test_setup_teardown(strict_reading_refuses_what_is_impossible, make_file, remove_file),
        cmocka_unit_test(a_list_of_joints_locks_the_others),
        cmocka_unit_test_setup_teardown(no_broken_file_breaks_the_reader, make_file, remove_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
