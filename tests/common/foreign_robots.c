#include "common/foreign_robots.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ROBOTS MOREAU_SOURCE_DIR "/../shared/data/robots/"

const foreign_robot foreign_robots[] = {
    { "allegro", "allegro_hand/allegro_hand_description_right.urdf", NULL },
    { "anymal", "anymal_b/anymal.urdf", NULL },
    { "panda", "panda/panda.urdf", NULL },
    { "h1", "h1/h1.urdf", NULL },
    { "minitaur", "minitaur/minitaur.urdf", "minitaur" },
    { "five-bar", "closed_chain/5bar_linkage_iso3d/robot.urdf", "five-bar" },
    { "delta", "closed_chain/robot_delta/robot.urdf", "delta" },
    { "rrbot", "rrbot/model.urdf", NULL },
    { "panda-round", "panda/panda_collision.urdf", NULL },
    { "cassie", "cassie/cassie_v2.urdf", "cassie" },
    { "atlas", "atlas/atlas_convex_hull.urdf", NULL },
    { "atlas-points", "atlas/atlas_minimal_contact.urdf", NULL },
    { "icub-03", "icub/iCubGenova03/model.urdf", NULL },
    { "icub-gazebo", "icub/iCubGazeboV2_5/model.urdf", NULL },
    { "icub-04", "icub/iCubGenova04/model.urdf", NULL },
    { "digit", "closed_chain/digit_like_2legs/robot.urdf", NULL },
};
const int foreign_robot_count = sizeof foreign_robots / sizeof *foreign_robots;

bool foreign_robot_is_there(const foreign_robot* r)
{
    char path[2000];
    snprintf(path, sizeof path, ROBOTS "%s", r->file);
    return access(path, R_OK) == 0;
}

typedef struct out {
    char* text;
    size_t room, used;
} out;

static void put(out* o, const char* format, const char* a, const char* b)
{
    int n = snprintf(o->text + o->used, o->room - o->used, format, a, b);
    if (n > 0) o->used += (size_t)n < o->room - o->used ? (size_t)n : o->room - o->used - 1;
}

/* The closed position, from closed_configuration.json beside the file: names and numbers in the same order. */
static void put_closed_joints(const foreign_robot* r, out* o)
{
    static char text[20000];
    char path[2000], name[100], number[64];
    snprintf(path, sizeof path, ROBOTS "%s", r->file);
    snprintf(strrchr(path, '/'), 40, "/closed_configuration.json");
    FILE* f = fopen(path, "r");
    if (!f) return;
    size_t n = fread(text, 1, sizeof text - 1, f);
    text[n] = '\0';
    fclose(f);
    const char *names = strstr(text, "joint_order"), *numbers = strstr(text, "q_closed");
    if (!names || !numbers) return;
    names = strchr(names, '['), numbers = strchr(numbers, '[');
    put(o, ", joints: {", "", "");
    for (bool first = true; sscanf(names + 1, " \"%99[^\"]\"", name) == 1; first = false) {
        char* end;
        double q = strtod(numbers + 1, &end);
        snprintf(number, sizeof number, "%.17g", q);
        put(o, first ? " %s: %s" : ", %s: %s", name, number);
        names = strchr(strchr(names + 1, '"') + 1, '"') + 1;
        while (*names != ',' && *names != ']') names++;
        while (*end != ',' && *end != ']') end++;
        numbers = end;
        if (*names == ']') break;
    }
    put(o, " }", "", "");
}

static void put_minitaur(out* o)
{
    static const char* const legs[] = { "front_right", "front_left", "back_right", "back_left" };
    put(o, ", joints: {", "", "");
    for (int i = 0; i < 8; i++)
        put(o,
            i % 2 ? ", motor_%sL_joint: 1.5708, knee_%sL_link: -2.1834"
                  : ", motor_%sR_joint: 1.5708, knee_%sR_link: -2.1834" + (i == 0 ? 2 : 0),
            legs[i / 2], legs[i / 2]);
    put(o, " }, loops: [", "", "");
    for (int i = 0; i < 4; i++)
        put(o, ", { frames: [knee_%sR_link, knee_%sL_link], at: [[0, 0.005, 0.2], [0, 0.01, 0.2]] }" + (i == 0 ? 2 : 0),
            legs[i], legs[i]);
    put(o, " ]", "", "");
}

void foreign_robot_entry(const foreign_robot* r, const char* more, char* text, size_t room)
{
    out o = { text, room, 0 };
    put(&o, "  - { name: r, urdf: '" ROBOTS "%s'%s", r->file, "");
    const char* closed = r->closed ? r->closed : "";
    if (strcmp(closed, "minitaur") == 0) put_minitaur(&o);
    if (strcmp(closed, "five-bar") == 0) {
        put_closed_joints(r, &o);
        put(&o, ", loops: [ { frames: [closedloop3D_1B, closedloop3D_1A] } ]", "", "");
    }
    if (strcmp(closed, "delta") == 0) {
        put_closed_joints(r, &o);
        put(&o,
            ", loops: [ { frames: [closedloop1_A, closedloop1_B], type: weld }, { frames: [closedloop2_B, "
            "closedloop2_A], type: weld }, { frames: [closedloop3_A, closedloop3_B], type: weld } ]",
            "", "");
    }
    if (strcmp(closed, "cassie") == 0)
        put(&o,
            ", loops: [ { frames: [thigh_left, heel_spring_left], at: [[0, 0, 0.045], [0.11877, -0.01, 0]], type: "
            "distance, length: 0.5012 }, { frames: [thigh_right, heel_spring_right], at: [[0, 0, -0.045], [0.11877, "
            "-0.01, 0]], type: distance, length: 0.5012 } ]",
            "", "");
    put(&o, "%s%s }\n", more && *more ? ", " : "", more ? more : "");
}
