/* Models and scenes of one line each (tests/tables/models.txt): what is refused, with its sentence; what is accepted,
 * with what is told; and what moves as another description of the same thing. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/folder.h"
#include "moreau/scene.h"

enum { WORDS = 64, BODIES = 64, TEXT = 1 << 16, STEPS = 20 };

static struct word {
    char name[16], text[1024];
} words[WORDS];
static int word_count;

static int body_count; /* of the last `yes` */
static mor_pose poses[BODIES];

/* $NAME becomes its text, \n a new line. */
static void expand(const char* from, char* to)
{
    size_t n = 0;
    while (*from && n + sizeof words->text < TEXT) {
        const struct word* best = NULL;
        for (int i = 0; *from == '$' && i < word_count; i++)
            if (strncmp(from + 1, words[i].name, strlen(words[i].name)) == 0) best = &words[i];
        if (best) {
            from += 1 + strlen(best->name);
            n += (size_t)sprintf(to + n, "%s", best->text);
        } else if (from[0] == '\\' && from[1] == 'n') {
            to[n++] = '\n';
            from += 2;
        } else {
            to[n++] = *from++;
        }
    }
    to[n] = '\0';
}

static const struct kind {
    const char *name, *file, *before, *after;
} kinds[] = { { "mjcf", "model.xml", "<mujoco>\n", "\n</mujoco>\n" },
              { "sdf", "model.sdf", "<sdf version='1.9'>\n", "\n</sdf>\n" },
              { "urdf", "scene.yaml", "moreau: 1\nrobots:\n  - { name: r, urdf: model.urdf, base: fixed }\n", "" },
              { "xml", "model.xml", "", "\n" },
              { "sdf-xml", "model.sdf", "", "\n" },
              { "yaml", "scene.yaml", "moreau: 1\n", "\n" } };

static void write_text(const char* name, const char* before, const char* text, const char* after)
{
    FILE* f = fopen(path_of(name), "w");
    assert_non_null(f);
    fprintf(f, "%s%s%s", before, text, after);
    fclose(f);
}

/* Steps the scene; `compare`: says how far its bodies are from those of the last one that was kept. */
static mor_code run(const char* name, bool compare, double* off, char* notes, mor_error* error)
{
    *off = 0.0;
    mor_scene* scene = mor_scene_load(path_of(name), NULL, NULL, error);
    mor_world* w = scene ? mor_scene_build(scene, 1, error) : NULL;
    mor_code code = w ? MOR_OK : error->code;
    snprintf(notes, 4096, "%s", scene && mor_scene_notes(scene) ? mor_scene_notes(scene) : "");
    for (int i = 0; i < STEPS && !code; i++) code = mor_world_step(w, NULL, error);
    int count = code ? 0 : mor_world_body_count(w);
    if (!code && compare && count != body_count) *off = INFINITY;
    for (int i = 0; i < count && i < BODIES; i++) {
        mor_pose p = mor_body_get_state(w, mor_world_body(w, i)).pose;
        mor_quat q = p.rotation, o = poses[i].rotation;
        if (compare) {
            *off = fmax(*off, mor_norm(mor_sub(p.position, poses[i].position)));
            *off = fmax(*off, 1.0 - fabs(q.w * o.w + q.x * o.x + q.y * o.y + q.z * o.z));
        } else poses[i] = p;
    }
    if (!compare) body_count = count;
    mor_world_destroy(w);
    mor_scene_destroy(scene);
    return code;
}

/* A line of the table; says what is wrong, or nothing. */
static void try_line(char* line, int number, char* wrong, size_t size)
{
    static char text[TEXT], notes[4096];
    char kind[16] = "", verdict[8] = "";
    int used = 0;
    double off;
    if (sscanf(line, "%15s %7s %n", kind, verdict, &used) < 2) fail_msg("models.txt:%d: not a line", number);
    char* arrow = strstr(line, " =>");
    if (!arrow) fail_msg("models.txt:%d: no =>", number);
    *arrow = '\0';
    const char* says = arrow + 3 + (arrow[3] == ' ');
    const struct kind* k = kinds;
    while (k < kinds + sizeof kinds / sizeof *kinds && strcmp(k->name, kind) != 0) k++;
    if (k == kinds + sizeof kinds / sizeof *kinds) fail_msg("models.txt:%d: kind '%s'", number, kind);
    expand(line + used, text);
    bool urdf = strcmp(kind, "urdf") == 0;
    if (urdf) write_text("model.urdf", "<robot name='r'>\n", text, "\n</robot>\n");
    write_text(k->file, k->before, urdf ? "" : text, k->after);
    mor_error error = { 0 };
    mor_code code = run(k->file, strcmp(verdict, "as") == 0, &off, notes, &error);
    if (strcmp(verdict, "no") == 0) {
        if (code != MOR_BAD_INPUT || !strstr(error.text, says))
            snprintf(wrong, size, "models.txt:%d: expected to be refused with '%s': code %d, '%.2000s'", number, says,
                     (int)code, error.text);
    } else if (code) {
        snprintf(wrong, size, "models.txt:%d: refused: %.2000s", number, error.text);
    } else if (!strstr(notes, says)) {
        snprintf(wrong, size, "models.txt:%d: '%s' is not told: '%.2000s'", number, says, notes);
    } else if (!(off < 1e-9)) {
        snprintf(wrong, size, "models.txt:%d: moves %g m or rad off the line above", number, off);
    }
}

static void every_line_of_the_table_holds(void** state)
{
    (void)state;
    static char line[TEXT], wrong[4096];
    int lines = 0, bad = 0;
    FILE* table = fopen(MOREAU_SOURCE_DIR "/tests/tables/models.txt", "r");
    assert_non_null(table);
    for (int number = 1; fgets(line, sizeof line, table); number++) {
        line[strcspn(line, "\n")] = '\0';
        if (!line[0] || line[0] == '#') continue;
        char* is = strstr(line, " = ");
        if (line[0] == '$' && is) {
            *is = '\0';
            assert_true(word_count < WORDS);
            snprintf(words[word_count].name, sizeof words->name, "%.15s", line + 1);
            snprintf(words[word_count++].text, sizeof words->text, "%.1000s", is + 3);
            continue;
        }
        wrong[0] = '\0';
        try_line(line, number, wrong, sizeof wrong);
        if (wrong[0]) print_error("%s\n", wrong);
        bad += wrong[0] != '\0', lines++;
    }
    fclose(table);
    printf("    %d lines\n", lines);
    assert_int_equal(bad, 0);
    assert_true(lines > 50);
}

/* A height field of MuJoCo: rows, columns, heights. */
static void write_field(const char* name, int rows, int columns, const float* heights, size_t count)
{
    FILE* f = fopen(path_of(name), "wb");
    assert_non_null(f);
    const int32_t head[2] = { rows, columns };
    fwrite(head, sizeof head, 1, f);
    fwrite(heights, sizeof *heights, count, f);
    fclose(f);
}

static int make_files(void** state)
{
    if (make_folder(state)) return -1;
    write_field("field.bin", 2, 2, (float[]){ 0, 0, 1, 1 }, 4);
    write_field("short.bin", 9, 9, (float[]){ 0, 0, 1, 1 }, 4);
    write_field("nan.bin", 2, 2, (float[]){ 0, NAN, 1, 1 }, 4);
    write_text("broken.png", "\x89PNG\r\n\x1a\n", "broken", "");
    write_text("empty.xml", "<mujoco>", "", "</mujoco>");
    write_text("ball.xml", "<mujoco>", "<worldbody><body><freejoint/><geom size='0.1'/></body></worldbody>",
               "</mujoco>");
    write_text("other.xml", "<robot/>", "", "");
    write_text("bad.xml", "<mujoco>", "<worldbody>", "</mujoco>");
    write_text("none.sdf", "<sdf version='1.9'>", "", "</sdf>");
    write_text("ball.sdf", "<sdf version='1.9'>", "<model name='ball'><link name='l'/></model>", "</sdf>");
    write_text("bad.sdf", "<sdf version='1.9'>", "<model>", "</sdf>");
    write_text("ring.xml", "<mujoco>",
               "<asset><model name='r' file='ring.xml'/></asset><worldbody><attach model='r' prefix='p'/></worldbody>",
               "</mujoco>");
    write_text("hinge.xml", "<mujoco model='hinge'>",
               "<worldbody><body name='b' pos='0 0 2'><joint name='j' axis='0 1 0'/><geom size='0.1' pos='0.3 0 0'/>"
               "</body></worldbody><actuator><position name='a' joint='j' kp='9'/></actuator>"
               "<keyframe><key name='up' qpos='1'/></keyframe>",
               "</mujoco>");
    write_text(
        "arm.urdf", "<robot name='arm'>",
        "<link name='base'/><link name='up'><inertial><mass value='1'/><origin xyz='0.5 0 0'/><inertia ixx='0.1' "
        "iyy='0.1' izz='0.1' ixy='0' ixz='0' iyz='0'/></inertial><visual><geometry><cylinder radius='0.1' "
        "length='1'/></geometry><material name='red'/></visual></link><joint name='j' type='revolute'><parent "
        "link='base'/><child link='up'/><axis xyz='0 1 0'/><limit lower='-2' upper='2' effort='9' "
        "velocity='9'/></joint><material name='blue'><color rgba='0 0 1 1'/></material><material name='red'>"
        "<color rgba='1 0 0 1'/></material>",
        "</robot>");
    write_text("tetrahedron.obj", "", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n", "");
    write_text("flat.obj", "", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", "");
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(every_line_of_the_table_holds) };
    return cmocka_run_group_tests(tests, make_files, remove_folder);
}
