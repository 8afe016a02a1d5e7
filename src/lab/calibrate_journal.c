/* The journal of a calibration: one line per evaluation, written at once.
 *
 *     moreau-calibrate 3 HASH
 *     E split method horizon test time_s  x ...  | error position rotation last ...
 *
 * HASH is that of plan, scene and data: a journal of other ones is refused. Evaluations are functions of their values,
 * so a calibration that goes on asks for the same points again and finds them here. A line cut by a crash is ignored.
 * Numbers are hexadecimal, which read back exactly. */
#include "lab/calibrate.h"
#include "io/text/output.h"
#include "io/text/text_file.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct mor_cal_journal {
    FILE* file;
    char path[1100];
    double synced;
};

mor_cal_point* mor_cal_keep(mor_calibration* c, int method, const double* x, bool test)
{
    if (c->point_count == c->point_capacity) {
        int capacity = c->point_capacity ? 2 * c->point_capacity : 256;
        mor_cal_point** points = realloc(c->points, (size_t)capacity * sizeof *points);
        if (!points) return NULL;
        c->points = points, c->point_capacity = capacity;
    }
    mor_cal_point* p = calloc(1, sizeof *p);
    mor_cal_score* scores = calloc((size_t)c->run_count, sizeof *scores);
    if (!p || !scores) {
        free(p), free(scores);
        return NULL;
    }
    *p = (mor_cal_point){
        .split = c->split, .method = method, .horizon = c->after_contact, .test = test, .scores = scores
    };
    memcpy(p->x, x, (size_t)c->methods[method].parameter_count * sizeof *x);
    return c->points[c->point_count++] = p;
}

static bool take_number(char** at, double* value)
{
    char* end;
    *value = strtod(*at, &end);
    if (end == *at) return false;
    *at = end;
    return true;
}

/* A line that is not whole is left out. False: out of memory. */
static bool read_line(mor_calibration* c, char* line)
{
    double number[5], x[MOR_CAL_PARAMETERS];
    char* at = line + 1;
    for (int i = 0; i < 5; i++)
        if (!take_number(&at, &number[i])) return true;
    if (!(number[0] >= 0.0 && number[0] < c->split_count && number[1] >= 0.0 && number[1] < c->method_count &&
          fabs(number[2]) < 1e9))
        return true;
    int split = (int)number[0], method = (int)number[1];
    for (int i = 0; i < c->methods[method].parameter_count; i++)
        if (!take_number(&at, &x[i])) return true;
    mor_cal_point* p = mor_cal_keep(c, method, x, number[3] != 0.0);
    if (!p) return false;
    p->split = split, p->horizon = (int)number[2], p->time_s = number[4];
    bool whole = true;
    for (int i = 0; i < c->run_count && whole; i++) {
        mor_cal_score* s = &p->scores[i];
        whole = take_number(&at, &s->error) && take_number(&at, &s->position) && take_number(&at, &s->rotation) &&
                take_number(&at, &s->last);
    }
    if (!whole || *at != ';') {
        free(p->scores), free(p);
        c->point_count--;
    }
    return true;
}

static mor_code read_back(mor_calibration* c, const char* path, bool* there, mor_error* error)
{
    char* line = NULL;
    size_t room = 0;
    unsigned long long hash = 0;
    FILE* file = mor_file_stream(path);
    *there = file != NULL;
    if (!file)
        return errno == ENOENT ? MOR_OK
                               : mor_fail(error, errno == ETIMEDOUT ? MOR_BAD_INPUT : MOR_SYSTEM, "%s: %s", path,
                                          mor_file_reason(errno));
    mor_code code = MOR_OK;
    if (getline(&line, &room, file) < 0) *there = false; /* nothing was written yet */
    else if (sscanf(line, "moreau-calibrate 3 %llx", &hash) != 1 || hash != c->condition)
        code = mor_fail(error, MOR_BAD_INPUT,
                        "%s: this journal is of another plan, scene or data; remove it or leave out --resume", path);
    while (*there && !code && getline(&line, &room, file) > 0)
        if (*line == 'E' && !read_line(c, line)) code = mor_fail(error, MOR_SYSTEM, "%s: out of memory", path);
    free(line);
    fclose(file);
    return code;
}

mor_code mor_cal_journal_take(mor_calibration* c, const char* path, mor_error* error)
{
    bool there = false;
    mor_code code = read_back(c, path, &there, error);
    return code || there ? code : mor_fail(error, MOR_BAD_INPUT, "%s: there is no such journal, or it is empty", path);
}

mor_cal_journal* mor_cal_journal_open(mor_calibration* c, const char* path, bool resume, mor_error* error)
{
    bool there = false;
    char target[4096]; /* what goes to a pipe or a device cannot be resumed */
    if (mor_output_target(path, target, sizeof target, error)) return NULL;
    if (resume && read_back(c, path, &there, error)) return NULL;
    mor_cal_journal* j = calloc(1, sizeof *j);
    if (!j) mor_fail(error, MOR_SYSTEM, "out of memory");
    else j->file = mor_output_claim(target, !there, error);
    if (!j || !j->file) {
        free(j);
        return NULL;
    }
    snprintf(j->path, sizeof j->path, "%.1099s", path);
    fprintf(j->file, there ? "\n" : "moreau-calibrate 3 %llx\n", (unsigned long long)c->condition);
    return j;
}

mor_code mor_cal_journal_add(mor_cal_journal* j, const mor_calibration* c, const mor_cal_point* p, mor_error* error)
{
    fprintf(j->file, "E %d %d %d %d %a ", p->split, p->method, p->horizon, p->test, p->time_s);
    for (int i = 0; i < c->methods[p->method].parameter_count; i++) fprintf(j->file, " %a", p->x[i]);
    for (int i = 0; i < c->run_count; i++)
        fprintf(j->file, "  %a %a %a %a", p->scores[i].error, p->scores[i].position, p->scores[i].rotation,
                p->scores[i].last);
    fputs(";\n", j->file);
    bool ok = fflush(j->file) == 0;
    if (ok && mor_clock() - j->synced > 1.0) {
        ok = fsync(fileno(j->file)) == 0 || errno == EINVAL || errno == EROFS;
        j->synced = mor_clock();
    }
    return ok ? MOR_OK : mor_fail(error, MOR_SYSTEM, "%s: cannot be written: %s", j->path, strerror(errno));
}

mor_code mor_cal_journal_close(mor_cal_journal* j, mor_error* error)
{
    if (!j) return MOR_OK;
    bool ok = !ferror(j->file);
    ok = fclose(j->file) == 0 && ok;
    mor_code code = ok ? MOR_OK : mor_fail(error, MOR_SYSTEM, "%s: cannot be written", j->path);
    free(j);
    return code;
}
