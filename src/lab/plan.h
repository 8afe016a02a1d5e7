/* The plan of a sweep as read: scenes, parameters by path, a design, measures. docs/sweep.md is the reference.
 *
 *     mor_error error = { 0 };
 *     char text[200];
 *     mor_plan* plan = mor_plan_load("friction.yaml", &error);
 *     for (long task = 0; task < mor_plan_tasks(plan); task++)
 *         for (int i = 0; i < plan->parameter_count; i++) mor_plan_text(plan, task, i, text, sizeof text);
 *     mor_plan_destroy(plan);
 *
 * Tasks are numbered from 0: scenes outermost, then the values of listed parameters (the first changes slowest), then
 * the points of the design. What a task is does not depend on the machine. */
#ifndef MOR_LAB_PLAN_H
#define MOR_LAB_PLAN_H

#include "lab/design.h"
#include "lab/measure.h"

typedef enum mor_parameter_kind {
    MOR_PARAMETER_LIST, /* grid, log-grid, range, values */
    MOR_PARAMETER_UNIFORM,
    MOR_PARAMETER_LOG_UNIFORM,
    MOR_PARAMETER_NORMAL
} mor_parameter_kind;

/* A value of the scene that changes: any path of --set. */
typedef struct mor_parameter {
    const char* path;
    mor_parameter_kind kind;
    const char** texts; /* MOR_PARAMETER_LIST: the values as YAML */
    int count;          /* the same: how many */
    bool numeric;       /* all values are numbers */
    double low, high;   /* of the other kinds; normal: mean and standard deviation */
    int axis;           /* of the design; -1: listed */
    const mor_node* node;
} mor_parameter;

typedef struct mor_plan {
    mor_document document; /* owns all of it */
    const char *file, *text;
    size_t length;
    const char** scenes; /* paths, seen from the plan */
    const mor_node** scene_nodes;
    int scene_count;
    const char** set; /* "key=value" for every task */
    const mor_node** set_nodes;
    int set_count;
    mor_parameter* parameters;
    int parameter_count;
    mor_design design;
    long samples, points; /* asked for; of the design */
    uint64_t seed;
    int levels, dimension; /* dimension: parameters that the design samples */
    double* cube;          /* points x dimension */
    long combinations;     /* of listed values */
    double* times;         /* `at`, ascending */
    int time_count;
    const mor_node* at_node; /* NULL: there is none */
    mor_measure* measures;
    int measure_count;
    uint64_t hash; /* of the text and the version of Moreau */
} mor_plan;

enum { MOR_PLAN_TEXT = 256, MOR_PLAN_MOST = 10000000 }; /* bytes of a value as text; tasks */

/* NULL and "file:line:column: what is wrong; what would be right". Scenes are not looked at. */
mor_plan* mor_plan_load(const char* path, mor_error* error);
mor_plan* mor_plan_parse(const char* text, size_t length, const char* name, mor_error* error);
void mor_plan_destroy(mor_plan* plan);

long mor_plan_tasks(const mor_plan* plan);
/* Which of the scenes. */
int mor_plan_scene(const mor_plan* plan, long task);
/* The value of a parameter in a task: as text for --set, and as a number (NAN if it is none). */
void mor_plan_text(const mor_plan* plan, long task, int parameter, char* text, size_t size);
double mor_plan_number(const mor_plan* plan, long task, int parameter);
/* "path=value" of all that the plan sets in a task, NULL at the end. `list` has room for set_count + parameter_count +
 * 1 pointers, `room` for parameter_count texts. */
typedef char mor_plan_setting[MOR_PLAN_TEXT + 256];
void mor_plan_settings(const mor_plan* plan, long task, const char** list, mor_plan_setting* room);

/* The shortest decimal number that reads back as `value`; "nan", "inf", "-inf". Returns text. */
char* mor_short_number(char* text, size_t size, double value);
/* A YAML value on one line, as --set takes it. NULL: it does not fit. */
const char* mor_node_flow(const mor_node* node, char* text, size_t size);

#endif
