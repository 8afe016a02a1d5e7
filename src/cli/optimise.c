/* moreau optimise: initial states and constant forces that bring a scene to a goal. */
#include "moreau/optimise.h"
#include "cli/cli.h"
#include "cli/options.h"
#include "cli/signals.h"
#include "cli/words.h"
#include "io/json/json.h"
#include "moreau/state.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 32 };

typedef struct arguments {
    const char* scene;
    mor_cli_sets sets;
    const char *vary[MOST], *goal[MOST]; /* as the user wrote them */
    int vary_count, goal_count;
    double end, spread, tolerance, time_limit;
    int starts, seed, most, search;
    bool json;
} arguments;

static int take_scene(void* user, char* word)
{
    return mor_cli_one_scene("optimise", &((arguments*)user)->scene, word);
}

static int take_vary(void* user, char* word)
{
    arguments* a = user;
    if (a->vary_count == MOST) return mor_cli_usage("optimise", "more than %d unknowns", MOST);
    a->vary[a->vary_count++] = word;
    return 0;
}

static int take_goal(void* user, char* word)
{
    arguments* a = user;
    if (a->goal_count == MOST) return mor_cli_usage("optimise", "more than %d goals", MOST);
    a->goal[a->goal_count++] = word;
    return 0;
}

#define AT(member) .offset = offsetof(arguments, member)
static const mor_cli_option options[] = {
    { "--vary", "KIND:NAME",
      "an unknown: velocity:BODY.x, spin:BODY.x, position:BODY.x, joint:ROBOT.JOINT and speed:ROBOT.JOINT at the "
      "start; "
      "force:BODY.x, torque:BODY.x, effort:ROBOT.JOINT, gravity:x throughout; may be repeated",
      MOR_CLI_CALL, .take = take_vary },
    { "--goal", "KIND:NAME=VALUE",
      "what the end shall be: position:BODY.x, velocity:BODY.x, spin:BODY.x, joint:ROBOT.JOINT, speed:ROBOT.JOINT; may "
      "be repeated",
      MOR_CLI_CALL, .take = take_goal },
    { "--end", "T", "when that is, in seconds (the end of the scene)", MOR_CLI_NUMBER, AT(end), .max = 1e9,
      .expected = "seconds" },
    { "--search", "NAME", "by the derivative through contact, or by values alone to compare with (gradient)",
      MOR_CLI_CHOICE, AT(search), .expected = "gradient|nelder-mead" },
    { "--starts", "N", "from the scene's own values and N - 1 random ones around them (1)", MOR_CLI_WHOLE, AT(starts),
      .min = 1, .max = 10000, .expected = "a whole number from 1" },
    { "--spread", "S", "how far the random ones are, in each unknown (1)", MOR_CLI_NUMBER, AT(spread), .max = 1e9,
      .expected = "a number from 0" },
    { "--seed", "N", "of the random ones (1)", MOR_CLI_WHOLE, AT(seed), .max = 1e9, .expected = "a whole number" },
    { "--tol", "R", "of the root of the sum of squares of the goals (1e-6)", MOR_CLI_NUMBER, AT(tolerance), .max = 1e9,
      .expected = "a number from 0" },
    { "--simulations", "N", "at most so many for each start (1000)", MOR_CLI_WHOLE, AT(most), .min = 1, .max = 1e9,
      .expected = "a whole number from 1" },
    { "--set", "KEY=VALUE", "any value of the scene, as in moreau run", MOR_CLI_SET, AT(sets) },
    { "--step", "H", "time step in seconds", MOR_CLI_SET, AT(sets), .key = "time.step" },
    MOR_CLI_TIME_LIMIT(AT(time_limit)),
    { "--json", NULL, "one JSON document on standard output", MOR_CLI_FLAG, AT(json) },
    { .name = NULL },
};
#undef AT

static const mor_cli_command command = {
    .name = "optimise",
    .usage = "SCENE --vary KIND:NAME --goal KIND:NAME=VALUE [options]",
    .about =
        "Initial states and constant forces that bring a scene to a goal: least squares with the derivative of every\n"
        "step through contact and friction (Levenberg and Marquardt), or a simplex of values to compare with. Says\n"
        "how many simulations it took, and when no unknown moves any goal (docs/methods/derivatives.md).\n",
    .options = options,
    .more = "Example: moreau optimise puck --vary velocity:puck.x --vary velocity:puck.y --goal position:puck.x=2 \\\n"
            "                         --goal position:puck.y=0.5\n"
            "Exit status: 0 the goal is reached from every start, 1 it is not, 2 bad usage or input, 3 the system "
            "failed.\n",
    .operand = take_scene,
};

/* ----------------------------------------------------------------------------------------- answers */

typedef struct task {
    mor_unknown unknowns[MOST];
    mor_goal goals[MOST];
    double first[MOST]; /* of the scene */
    int steps;
} task;

static void print_start(const arguments* a, int start, const double* x, const mor_optimum* best, mor_json* json)
{
    if (a->json) {
        mor_json_object(json, NULL);
        mor_json_bool(json, "reached", best->reached);
        mor_json_bool(json, "stalled", best->stalled);
        mor_json_number(json, "miss", best->miss);
        mor_json_number(json, "simulations", best->simulations);
        mor_json_number(json, "derivatives", best->derivatives);
        mor_json_number(json, "rough", best->rough);
        mor_json_list(json, "values");
        for (int i = 0; i < a->vary_count; i++) mor_json_number(json, NULL, x[i]);
        mor_json_end(json);
        mor_json_end(json);
        return;
    }
    printf("start %d: %s, misses by %.3g after %d simulations, %d of them with derivatives\n", start + 1,
           best->reached   ? "reached"
           : best->stalled ? "stalled"
                           : "not reached",
           best->miss, best->simulations, best->derivatives);
    for (int i = 0; i < a->vary_count; i++) printf("  %-28s %.9g\n", a->vary[i], x[i]);
    if (best->stalled) puts("  no unknown moves any goal here: everything sticks, or the goal is out of touch");
    else if (best->rough)
        printf("  %d step(s) of the last run have no derivative: a contact on an edge\n", best->rough);
}

static int search(const arguments* a, mor_world* w, const task* t)
{
    mor_optimise_options o = mor_optimise_options_default();
    mor_rng rng = { (uint64_t)a->seed };
    mor_error error = { 0 };
    mor_json json = { 0 };
    o.search = a->search ? MOR_SEARCH_NELDER_MEAD : MOR_SEARCH_GRADIENT;
    o.tolerance = a->tolerance, o.most_simulations = a->most;
    int reached = 0, simulations = 0;
    if (a->json) {
        json = mor_json_begin(stdout);
        mor_json_object(&json, NULL);
        mor_json_list(&json, "unknowns");
        for (int i = 0; i < a->vary_count; i++) mor_json_text(&json, NULL, a->vary[i]);
        mor_json_end(&json);
        mor_json_list(&json, "starts");
    }
    for (int s = 0; s < a->starts; s++) {
        double x[MOST];
        mor_optimum best;
        for (int i = 0; i < a->vary_count; i++)
            x[i] = t->first[i] + (s ? a->spread * (2.0 * mor_rng_uniform(&rng) - 1.0) : 0.0);
        mor_code code =
            mor_world_optimise(w, t->steps, t->unknowns, a->vary_count, t->goals, a->goal_count, &o, x, &best, &error);
        if (code) return mor_cli_fail(&error);
        print_start(a, s, x, &best, &json);
        reached += best.reached, simulations += best.simulations;
    }
    if (a->json) {
        mor_json_end(&json);
        mor_json_number(&json, "reached", reached);
        mor_json_number(&json, "simulations", simulations);
        mor_json_end(&json);
        mor_json_finish(&json);
    } else if (a->starts > 1) {
        printf("%d of %d starts reach the goal, %.1f simulations each\n", reached, a->starts,
               (double)simulations / a->starts);
    }
    return reached == a->starts ? 0 : 1;
}

static int optimise(const arguments* a, const mor_scene* scene, mor_world* w)
{
    task t = { .steps = 0 };
    mor_error error = { 0 };
    int status = 0;
    for (int i = 0; i < a->vary_count && !status; i++)
        status = mor_cli_read_unknown("optimise", w, a->vary[i], &t.unknowns[i]);
    for (int i = 0; i < a->goal_count && !status; i++)
        status = mor_cli_read_goal("optimise", w, a->goal[i], &t.goals[i]);
    if (status) return status;
    double end = a->end > 0.0 ? a->end : mor_scene_end(scene), steps = floor(end / mor_world_get_step(w) + 0.5);
    if (!(steps >= 1.0 && steps <= 1e6))
        return mor_cli_usage("optimise", "--end %g: %g steps; give an end within 1 to 1e6 steps", end, steps);
    t.steps = (int)steps;
    if (mor_world_unknowns(w, t.unknowns, a->vary_count, t.first, &error)) return mor_cli_fail(&error);
    return search(a, w, &t);
}

int mor_cli_optimise(int argc, char** argv)
{
    arguments a = { .starts = 1, .seed = 1, .spread = 1.0, .tolerance = 1e-6, .most = 1000 };
    int status = mor_cli_parse(&command, argc, argv, &a);
    if (status) return status;
    if (!a.scene) return mor_cli_usage("optimise", "which scene?");
    if (!a.vary_count || !a.goal_count) return mor_cli_usage("optimise", "give at least one --vary and one --goal");
    mor_cli_end_after("optimise", a.time_limit);
    mor_error error = { 0 };
    char path[4096];
    mor_scene* scene =
        mor_scene_load(mor_cli_scene_path(a.scene, path, sizeof path), a.sets.items, mor_cli_library(), &error);
    if (!scene) return mor_cli_no_scene(a.scene, &error);
    mor_world* w = mor_scene_build(scene, 1, &error);
    status = w ? optimise(&a, scene, w) : mor_cli_fail(&error);
    mor_world_destroy(w);
    mor_scene_destroy(scene);
    return status;
}
