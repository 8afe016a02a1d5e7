/* Which task has which values, see plan.h; plan_read.c reads plans. */
#include "lab/plan.h"

#include "base/elementary.h"
#include "base/number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void mor_plan_destroy(mor_plan* plan)
{
    if (plan) mor_arena_destroy(plan->document.arena);
}

long mor_plan_tasks(const mor_plan* p) { return p->scene_count * p->combinations * p->points; }
int mor_plan_scene(const mor_plan* p, long task) { return (int)(task / (p->combinations * p->points)); }

/* Which of its values a listed parameter has. */
static int choice(const mor_plan* p, long task, int parameter)
{
    long left = task / p->points % p->combinations;
    for (int i = p->parameter_count - 1; i > parameter; i--)
        if (p->parameters[i].axis < 0) left /= p->parameters[i].count;
    return (int)(left % p->parameters[parameter].count);
}

double mor_plan_number(const mor_plan* p, long task, int parameter)
{
    const mor_parameter* x = &p->parameters[parameter];
    if (x->axis < 0) return x->numeric ? mor_strtod(x->texts[choice(p, task, parameter)], NULL) : NAN;
    double u = p->cube[task % p->points * p->dimension + x->axis];
    if (x->kind == MOR_PARAMETER_UNIFORM) return x->low + (x->high - x->low) * u;
    if (x->kind == MOR_PARAMETER_NORMAL) /* the ends of the grid of morris: three standard deviations */
        return x->low + x->high * mor_normal_quantile(u <= 0.0 ? 1e-3 : u >= 1.0 ? 0.999 : u);
    double low = mor_log(x->low), high = mor_log(x->high);
    return mor_min(mor_max(mor_exp(low + (high - low) * u), x->low), x->high);
}

void mor_plan_text(const mor_plan* p, long task, int parameter, char* text, size_t size)
{
    const mor_parameter* x = &p->parameters[parameter];
    if (x->axis < 0) snprintf(text, size, "%s", x->texts[choice(p, task, parameter)]);
    else mor_short_number(text, size, mor_plan_number(p, task, parameter));
}

void mor_plan_settings(const mor_plan* p, long task, const char** list, mor_plan_setting* room)
{
    int n = 0;
    for (int i = 0; i < p->set_count; i++) list[n++] = p->set[i];
    for (int i = 0; i < p->parameter_count; i++) {
        char text[MOR_PLAN_TEXT];
        mor_plan_text(p, task, i, text, sizeof text);
        snprintf(room[i], sizeof room[i], "%s=%s", p->parameters[i].path, text);
        list[n++] = room[i];
    }
    list[n] = NULL;
}

char* mor_short_number(char* text, size_t size, double value)
{
    if (!isfinite(value)) {
        snprintf(text, size, "%s", isnan(value) ? "nan" : value > 0.0 ? "inf" : "-inf");
        return text;
    }
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, size, "%.*g", digits, value);
        for (char* c = text; *c; c++)
            if (*c == ',') *c = '.'; /* the decimal point of another locale */
        if (mor_strtod(text, NULL) == value) break;
    }
    return text;
}

static bool put(char** at, const char* end, const char* text)
{
    size_t n = strlen(text);
    if (n + 1 > (size_t)(end - *at)) return false;
    memcpy(*at, text, n + 1);
    *at += n;
    return true;
}

static bool flow(const mor_node* n, char** at, const char* end)
{
    if (n->kind == MOR_NODE_SCALAR) {
        bool quote = n->quoted || !*n->text;
        if (quote && !put(at, end, "\"")) return false;
        for (const char* c = n->text; *c; c++) {
            char one[3] = { *c, 0, 0 };
            if (quote && (*c == '"' || *c == '\\')) one[0] = '\\', one[1] = *c;
            if (!put(at, end, one)) return false;
        }
        return !quote || put(at, end, "\"");
    }
    bool map = n->kind == MOR_NODE_MAP;
    if (!put(at, end, map ? "{" : "[")) return false;
    for (const mor_node* c = n->first; c; c = c->next) {
        if (c != n->first && !put(at, end, ", ")) return false;
        if (map && !(put(at, end, c->key) && put(at, end, ": "))) return false;
        if (!flow(c, at, end)) return false;
    }
    return put(at, end, map ? "}" : "]");
}

const char* mor_node_flow(const mor_node* node, char* text, size_t size)
{
    char* at = text;
    return flow(node, &at, text + size) ? text : NULL;
}
