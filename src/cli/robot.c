/* moreau robot: what a URDF or MJCF file holds, and its dynamics at given states. */
#include "cli/cli.h"
#include "cli/options.h"
#include "cli/robot_checks.h"
#include "io/json/json.h"
#include "io/json/json_read.h"
#include "io/mjcf/mjcf.h"
#include "io/sdf/sdf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LIST_MAX = 4096, NOTES = 1 << 16 };

typedef struct arguments {
    const char *urdf, *state, *frames, *joints, *base, *tree;
    bool json;
    const char* loops[MOR_CLI_LOOPS];
    int loop_count;
    mor_cli_loop loop[MOR_CLI_LOOPS]; /* what they mean in the model */
} arguments;

/* Splits a,b,c in place; returns the number of words. */
static int split(char* text, const char** words)
{
    int count = 0;
    for (char* word = strtok(text, ","); word && count < LIST_MAX; word = strtok(NULL, ",")) words[count++] = word;
    return count;
}

static char* copy_text(const char* text)
{
    size_t n = strlen(text) + 1;
    char* copy = malloc(n);
    if (copy) memcpy(copy, text, n);
    return copy;
}

/* ------------------------------------------------------------------------------------- summary */

static void print_tree(const mor_robot_model* m)
{
    int links = mor_robot_link_count(m), *depth = calloc((size_t)links, sizeof *depth),
        *merged = calloc((size_t)links, sizeof *merged);
    if (!depth || !merged) goto done;
    for (int i = 0; i < mor_robot_frame_count(m); i++) merged[mor_robot_frame(m, i)->link]++;
    printf("\n  %-44s %-26s %-10s %12s  %s\n", "link", "joint", "type", "mass [kg]", "limits");
    for (int i = 0; i < links; i++) {
        const mor_link_def* l = mor_robot_link(m, i);
        if (i) depth[i] = depth[l->parent] + 1;
        int indent = depth[i] < 14 ? 2 * depth[i] : 28;
        char limits[64] = "", more[32] = "";
        bool limited = isfinite(l->lower) || isfinite(l->upper);
        if (i && limited)
            snprintf(limits, sizeof limits, "%.4g .. %.4g %s", l->lower, l->upper,
                     l->type == MOR_PRISMATIC ? "m" : "rad");
        if (merged[i] > 1) snprintf(more, sizeof more, "  (%d links merged)", merged[i]);
        printf("  %*s%-*s %-26s %-10s %12.6g  %s%s\n", indent, "", 44 - indent, l->name, i ? l->joint_name : "-",
               !i                         ? (mor_robot_floating(m) ? "floating" : "fixed")
               : l->type == MOR_PRISMATIC ? "prismatic"
               : l->type == MOR_BALL      ? "ball"
               : limited                  ? "revolute"
                                          : "continuous",
               l->mass.mass, limits, more);
    }
done:
    free(depth);
    free(merged);
}

static void print_summary(const mor_robot_model* m, const char* path)
{
    printf(
        "%s\n  %d links in %d moving parts, %d joints, %s base: %d degrees of freedom, %.6g kg, %d collision shapes\n",
        path, mor_robot_frame_count(m), mor_robot_link_count(m), mor_robot_joint_count(m),
        mor_robot_floating(m) ? "floating" : "fixed", mor_robot_dof(m), mor_robot_mass(m), mor_robot_shape_count(m));
    print_tree(m);
}

/* --------------------------------------------------------------------------------------- states */

/* One state of the file, checked. */
typedef struct robot_state {
    mor_pose base;
    double *s, *nu, *tau; /* tau: N, the base part zero */
} robot_state;

static mor_code read_state(const mor_json_document* d, const mor_json_value* v, const mor_robot_model* m,
                           robot_state* out, mor_error* error)
{
    int n = mor_robot_joint_count(m), offset = mor_robot_dof(m) - n;
    if (v->kind != MOR_JSON_OBJECT)
        return mor_json_fail(d, v, error, "a state is an object with s, s_dot, tau, base_pos ...");
    double position[3] = { 0 }, quaternion[4] = { 1, 0, 0, 0 }, linear[3] = { 0 }, angular[3] = { 0 };
    memset(out->s, 0, (size_t)n * sizeof(double));
    memset(out->nu, 0, (size_t)(n + offset) * sizeof(double));
    memset(out->tau, 0, (size_t)(n + offset) * sizeof(double));
    const struct {
        const char* key;
        int count;
        double* to;
    } fields[] = { { "base_pos", 3, position },
                   { "base_quat_wxyz", 4, quaternion },
                   { "base_lin_vel_world", 3, linear },
                   { "base_ang_vel_world", 3, angular },
                   { "s", n, out->s },
                   { "s_dot", n, out->nu + offset },
                   { "tau", n, out->tau + offset } };
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        const mor_json_value* list = mor_json_get(v, fields[i].key);
        if (!list) continue;
        mor_code code = mor_json_numbers_of(d, list, fields[i].key, fields[i].count, fields[i].to, error);
        if (code != MOR_OK) return code;
    }
    double size = 0.0;
    for (int i = 0; i < 4; i++) size += quaternion[i] * quaternion[i];
    if (!(size > 1e-12))
        return mor_json_fail(d, mor_json_get(v, "base_quat_wxyz"), error,
                             "the quaternion is zero; [1, 0, 0, 0] means not turned");
    out->base =
        (mor_pose){ mor_v3(position[0], position[1], position[2]),
                    mor_quat_normalize((mor_quat){ quaternion[0], quaternion[1], quaternion[2], quaternion[3] }) };
    if (offset) {
        memcpy(out->nu, linear, sizeof linear);
        memcpy(out->nu + 3, angular, sizeof angular);
    }
    return MOR_OK;
}

static void write_matrix(mor_json* json, const char* key, const double* values, int rows, int columns)
{
    mor_json_list(json, key);
    for (int i = 0; i < rows; i++) mor_json_numbers(json, NULL, values + i * columns, columns);
    mor_json_end(json);
}

static void write_frame(mor_json* json, const mor_robot_model* m, const mor_robot_work* work, int frame, double* J)
{
    double H[16], bias[6];
    mor_robot_frame_matrix(m, work, frame, H);
    mor_robot_frame_jacobian(m, work, frame, J);
    mor_robot_frame_bias(m, work, frame, bias);
    mor_json_object(json, mor_robot_frame(m, frame)->name);
    write_matrix(json, "H", H, 4, 4);
    write_matrix(json, "J", J, 6, mor_robot_dof(m));
    mor_json_numbers(json, "Jdot_nu", bias, 6);
    mor_json_end(json);
}

/* Room for one state's results. */
typedef struct results {
    double *M, *h, *g, *nudot, *J;
    bool regular; /* nudot is there */
} results;

static void find_dynamics(mor_robot_model* m, mor_robot_work* work, const robot_state* x, mor_vec3 gravity, results* r)
{
    mor_robot_update(m, work, &x->base, x->s, NULL);
    mor_robot_inverse_dynamics(m, work, gravity, NULL, NULL, r->g);
    mor_robot_update(m, work, &x->base, x->s, x->nu);
    mor_robot_inverse_dynamics(m, work, gravity, NULL, NULL, r->h);
    mor_robot_mass_matrix(m, work, r->M);
    r->regular = mor_robot_forward_dynamics(m, work, gravity, x->tau, NULL, r->nudot);
}

/* One line of text for a state. */
static void print_state(const mor_robot_model* m, const mor_robot_work* work, const results* r, int number)
{
    int N = mor_robot_dof(m), joints = mor_robot_joint_count(m);
    double held = 0.0, fast = 0.0;
    for (int i = N - joints; i < N; i++) held = fmax(held, fabs(r->g[i]));
    for (int i = 0; i < N; i++) fast = fmax(fast, fabs(r->nudot[i]));
    mor_vec3 com = mor_robot_com(m, work);
    if (number == 0) printf("\nstates (--json has all numbers):\n");
    printf("  %d: centre of mass at (%.6g, %.6g, %.6g) m", number, com.x, com.y, com.z);
    if (joints) printf(", weight on a joint at most %.6g N m or N", held);
    if (r->regular) printf(", acceleration at most %.6g\n", fast);
    else printf(", no acceleration: the mass matrix is singular\n");
}

static mor_code write_state(mor_json* json, const arguments* a, mor_robot_model* m, mor_robot_work* work,
                            const robot_state* x, const int* frames, int frame_count, const results* r,
                            mor_error* error)
{
    int N = mor_robot_dof(m);
    mor_vec3 com = mor_robot_com(m, work);
    mor_json_object(json, NULL);
    write_matrix(json, "M", r->M, N, N);
    mor_json_numbers(json, "h", r->h, N);
    mor_json_numbers(json, "g", r->g, N);
    if (r->regular) mor_json_numbers(json, "nudot", r->nudot, N);
    else mor_json_null(json, "nudot");
    mor_json_numbers(json, "com_world", (double[3]){ com.x, com.y, com.z }, 3);
    mor_json_object(json, "frames");
    for (int i = 0; i < frame_count; i++) write_frame(json, m, work, frames[i], r->J);
    mor_json_end(json);
    mor_code code = MOR_OK;
    if (a->loop_count) {
        mor_cli_closure c;
        code = mor_cli_close_loops(m, &x->base, x->s, a->loop, a->loop_count, &c, error);
        if (code == MOR_OK) mor_cli_write_loops(json, m, a->loop, a->loop_count, &c);
    }
    mor_json_end(json);
    return code;
}

/* The states of a document: "states", a list, or the document itself. */
static const mor_json_value* states_of(const mor_json_value* root)
{
    const mor_json_value* states = mor_json_get(root, "states");
    return states ? states : root;
}

/* All states as JSON; without `json` a line of text for each, and the loops at the first one. */
static mor_code write_states(mor_json* json, const arguments* a, mor_robot_model* m, const mor_json_document* d,
                             const int* frames, int frame_count, mor_error* error)
{
    int n = mor_robot_joint_count(m), N = mor_robot_dof(m), number = 0;
    size_t room = 3 * (size_t)N + 2 * (size_t)n + 3 * (size_t)N + (size_t)N * (size_t)N + 6 * (size_t)N + 8;
    double* memory = calloc(room, sizeof *memory);
    mor_robot_work* work = mor_robot_work_create(m);
    if (!memory || !work) {
        free(memory);
        mor_robot_work_destroy(work);
        return mor_fail(error, MOR_SYSTEM, "out of memory");
    }
    robot_state x = { .nu = memory, .tau = memory + N, .s = memory + 2 * N };
    double *first_s = memory + 2 * N + n, *rest = first_s + n;
    results r = { .h = rest, .g = rest + N, .nudot = rest + 2 * N, .J = rest + 3 * N, .M = rest + 9 * N };
    mor_vec3 gravity = { 0, 0, -9.81 };
    mor_code code = MOR_OK;
    const mor_json_value* root = d ? mor_json_root(d) : NULL;
    const mor_json_value* given = root ? mor_json_get(root, "gravity") : NULL;
    double g[3];
    if (given && (code = mor_json_numbers_of(d, given, "gravity", 3, g, error)) == MOR_OK)
        gravity = mor_v3(g[0], g[1], g[2]);
    const mor_json_value* states = root ? states_of(root) : NULL;
    const mor_json_value* v = states && states->kind == MOR_JSON_LIST ? states->first : states;
    mor_pose first_base = x.base = mor_pose_identity();
    if (!d && json) {
        find_dynamics(m, work, &x, gravity, &r);
        code = write_state(json, a, m, work, &x, frames, frame_count, &r, error);
    }
    for (; v && code == MOR_OK; v = states->kind == MOR_JSON_LIST ? v->next : NULL, number++) {
        code = read_state(d, v, m, &x, error);
        if (code) break;
        find_dynamics(m, work, &x, gravity, &r);
        if (number == 0) first_base = x.base, memcpy(first_s, x.s, (size_t)n * sizeof *first_s);
        if (json) code = write_state(json, a, m, work, &x, frames, frame_count, &r, error);
        else print_state(m, work, &r, number);
    }
    if (!json && a->loop_count && code == MOR_OK) {
        mor_cli_closure c;
        code = mor_cli_close_loops(m, &first_base, first_s, a->loop, a->loop_count, &c, error);
        if (code == MOR_OK) mor_cli_print_loops(m, a->loop, a->loop_count, &c);
    }
    free(memory);
    mor_robot_work_destroy(work);
    return code;
}

/* -------------------------------------------------------------------------------------- command */

static int take_urdf(void* user, char* word)
{
    arguments* a = user;
    if (a->urdf) return mor_cli_usage("robot", "one file at a time, not also '%s'", word);
    a->urdf = mor_cli_file(word);
    return 0;
}

static int take_loop(void* user, char* value)
{
    arguments* a = user;
    if (a->loop_count == MOR_CLI_LOOPS) return mor_cli_usage("robot", "at most %d loops", MOR_CLI_LOOPS);
    a->loops[a->loop_count++] = value;
    return 0;
}

static int take_base(void* user, char* value)
{
    if (strcmp(value, "fixed") != 0 && strcmp(value, "floating") != 0)
        return mor_cli_usage("robot", "--base is fixed or floating, not '%s'", value);
    ((arguments*)user)->base = value;
    return 0;
}

#define AT(member) .offset = offsetof(arguments, member)
static const mor_cli_option options[] = {
    { "--state", "FILE.json",
      "states: base_pos, base_quat_wxyz, base_lin_vel_world, base_ang_vel_world, s, s_dot, tau (one object, a list, or "
      "an object with \"states\"); M, h, g, nudot, frames are computed for each and written by --json, a line for each "
      "without",
      MOR_CLI_TEXT, AT(state) },
    { "--frames", "a,b", "only these frames (default: all links)", MOR_CLI_TEXT, AT(frames) },
    { "--joints", "a,b", "keep these joints in this order, lock the others at 0 and merge their links", MOR_CLI_TEXT,
      AT(joints) },
    { "--base", "fixed|floating",
      "default: \"mode\" of the state file; else floating, or fixed if the root link is called world or has no mass",
      MOR_CLI_CALL, .take = take_base },
    { "--tree", "BODY", "of an MJCF file: the tree of bodies whose root this is (default: the first)", MOR_CLI_TEXT,
      AT(tree) },
    { "--loop", "a,b[,weld]",
      "the origins of two links meet (a,b,weld: their frames do); may be repeated. Tells how far they are apart at "
      "each "
      "state, how many equations this makes, their rank, and the degrees of freedom that are left",
      MOR_CLI_CALL, .take = take_loop },
    { "--json", NULL, "one JSON document on standard output", MOR_CLI_FLAG, AT(json) },
    { .name = NULL },
};
#undef AT

static const mor_cli_command command = {
    .name = "robot",
    .usage = "FILE.urdf|FILE.xml [options]",
    .about =
        "What a robot's file holds: its tree, masses and limits, what looks wrong, and its dynamics at given states.\n",
    .options = options,
    .more =
        "nu = [base linear velocity; base angular velocity; joint velocities], world axes; M nudot + h = [0; tau].\n"
        "Damping, friction, springs, limits and mimic are not applied. Ball joints: s is the rotation vector, s_dot "
        "the\n"
        "angular velocity in the axes of what the joint carries. Meshes: package:// is looked for above the file and\n"
        "in ROS_PACKAGE_PATH.\n",
    .operand = take_urdf,
};

/* Floating or fixed: said, by the state file, or by the name and the mass of the root. */
static mor_code choose_base(const arguments* a, const mor_json_document* state, const mor_link_def* root,
                            bool* floating, mor_error* error)
{
    const char* word = a->base;
    const mor_json_value* mode = state ? mor_json_get(mor_json_root(state), "mode") : NULL;
    if (!word && mode && mode->kind == MOR_JSON_TEXT) {
        if (strcmp(mode->text, "fixed") != 0 && strcmp(mode->text, "floating") != 0)
            return mor_json_fail(state, mode, error, "'mode' is fixed or floating, not '%.40s'", mode->text);
        word = mode->text;
    }
    *floating = word ? strcmp(word, "floating") == 0 : strcmp(root->name, "world") != 0 && root->mass.mass > 0.0;
    return MOR_OK;
}

static int report(const arguments* a, mor_robot_model* m, const mor_json_document* state, const int* frames,
                  int frame_count, const char* notes)
{
    if (!a->json) {
        mor_error failed = { 0 };
        print_summary(m, a->urdf);
        mor_code code = write_states(NULL, a, m, state, frames, frame_count, &failed);
        mor_cli_print_checks(m);
        if (*notes) printf("\nnotes:\n%s", notes);
        return code == MOR_OK ? 0 : mor_cli_fail(&failed);
    }
    if (*notes) fputs(notes, stderr);
    /* written to memory first: a bad state must not leave half a document on stdout */
    char* text = NULL;
    size_t length = 0;
    FILE* out = open_memstream(&text, &length);
    mor_error error = { 0 };
    if (!out) return mor_fail(&error, MOR_SYSTEM, "out of memory"), mor_cli_fail(&error);
    mor_json json = mor_json_begin(out);
    mor_json_object(&json, NULL);
    mor_json_list(&json, "joint_order");
    for (int i = 0; i < mor_robot_joint_count(m); i++)
        mor_json_text(&json, NULL, mor_robot_link(m, mor_robot_link_of_joint(m, i))->joint_name);
    mor_json_end(&json);
    mor_json_integer(&json, "N", mor_robot_dof(m));
    mor_json_text(&json, "base_link", mor_robot_link(m, 0)->name);
    mor_json_text(&json, "mode", mor_robot_floating(m) ? "floating" : "fixed");
    mor_json_number(&json, "total_mass", mor_robot_mass(m));
    mor_json_list(&json, "states");
    mor_code code = write_states(&json, a, m, state, frames, frame_count, &error);
    if (code == MOR_OK) {
        mor_json_end(&json);
        mor_json_end(&json);
        if (!mor_json_finish(&json)) code = mor_fail(&error, MOR_SYSTEM, "out of memory");
    }
    fclose(out);
    if (code == MOR_OK && (fwrite(text, 1, length, stdout) != length || fflush(stdout) != 0))
        code = mor_fail(&error, MOR_SYSTEM, "cannot write to stdout");
    free(text);
    return code == MOR_OK ? 0 : mor_cli_fail(&error);
}

int mor_cli_robot(int argc, char** argv)
{
    arguments a = { 0 };
    int bad = mor_cli_parse(&command, argc, argv, &a);
    if (bad) return bad;
    if (!a.urdf) return mor_cli_usage("robot", "which URDF or MJCF file?");
    int status = MOR_SYSTEM;
    mor_error error = { .code = MOR_SYSTEM, .text = "out of memory" };
    mor_json_document* state = NULL;
    mor_robot_model* model = NULL;
    const char** words = malloc(LIST_MAX * sizeof *words);
    int* frames = NULL;
    char *joints = copy_text(a.joints ? a.joints : ""), *names = copy_text(a.frames ? a.frames : ""),
         *notes = calloc(1, NOTES);
    if (!words || !joints || !names || !notes) goto fail;
    if (a.state && !(state = mor_json_read_file(a.state, &error))) goto fail;

    mor_urdf_options o = mor_urdf_options_default();
    o.packages = getenv("ROS_PACKAGE_PATH");
    o.shapes = !a.json;
    if (a.joints) {
        o.joint_count = split(joints, words);
        o.joints = words;
    }
    bool mjcf = mor_mjcf_is(a.urdf) || mor_sdf_is(a.urdf);
    if (mjcf && (a.joints || a.base))
        return free(words), free(joints), free(names), free(notes), mor_json_free(state),
               mor_cli_usage("robot", "--joints and --base are for URDF files");
    model = mjcf ? mor_cli_mjcf_tree(a.urdf, a.tree, o.shapes, notes, NOTES, &error)
                 : mor_urdf_read(a.urdf, &o, notes, NOTES, &error);
    if (mjcf) o.floating = model && mor_robot_floating(model);
    if (!model || (!mjcf && choose_base(&a, state, mor_robot_link(model, 0), &o.floating, &error) != MOR_OK)) goto fail;
    if (!mjcf && !o.floating) { /* the name of the root was needed first */
        mor_robot_destroy(model);
        if (!(model = mor_urdf_read(a.urdf, &o, notes, NOTES, &error))) goto fail;
    }
    for (int i = 0; i < a.loop_count; i++)
        if (mor_cli_read_loop(model, a.loops[i], &a.loop[i], &error) != MOR_OK) goto fail;
    int count = mor_robot_frame_count(model);
    frames = malloc(((size_t)count + LIST_MAX) * sizeof *frames);
    if (!frames) goto fail;
    for (int i = 0; i < count; i++) frames[i] = i;
    if (a.frames) {
        count = split(names, words);
        for (int i = 0; i < count; i++)
            if ((frames[i] = mor_robot_find_frame(model, words[i])) < 0) {
                mor_fail(&error, MOR_BAD_INPUT, "%s: there is no link '%s'", a.urdf, words[i]);
                goto fail;
            }
    }
    status = report(&a, model, state, frames, count, notes);
    goto done;

fail:
    status = mor_cli_fail(&error);
done:
    free(words);
    free(frames);
    free(joints);
    free(names);
    free(notes);
    mor_robot_destroy(model);
    mor_json_free(state);
    return status;
}
