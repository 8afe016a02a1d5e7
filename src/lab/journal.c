/* The journal of a comparison: one line per result, written at once, so that an interrupted comparison can go on.
 *
 * Lines are keyed by names, not numbers: a resumed comparison may have more problems or methods. The first line holds
 * the conditions (tolerances, limits, start); results under other conditions are not mixed in. A line cut by a crash is
 * ignored. Lines reach the system at once (a killed comparison loses none) and the disk once a second. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/text/output.h"
#include "io/text/text_file.h"
#include "lab/compare.h"

struct mor_lab_journal {
    FILE* file;
    double synced; /* when, mor_clock() */
    char path[1024];
};

enum { SYNC_SECONDS = 1 }; /* a power cut loses at most the lines of this time */

static bool grow(void** data, int count, int* capacity, size_t size)
{
    if (count < *capacity) return true;
    int wanted = *capacity ? 2 * *capacity : 256;
    void* grown = realloc(*data, (size_t)wanted * size);
    if (!grown) return false;
    *data = grown;
    *capacity = wanted;
    return true;
}

/* The place of a run that was not tried and now is, or NULL. */
static mor_lab_run* assumed_before(mor_lab* lab, const mor_lab_run* run)
{
    for (int i = 0; i < lab->run_count && !run->assumed; i++) {
        mor_lab_run* r = &lab->runs[i];
        if (r->assumed && r->problem == run->problem && r->formulation == run->formulation &&
            r->solver == run->solver && r->tol == run->tol)
            return r;
    }
    return NULL;
}

void mor_lab_keep(mor_lab* lab, const mor_lab_message* m)
{
    mor_lab_run* again = m->kind == 'R' ? assumed_before(lab, &m->as.run) : NULL;
    if (again) *again = m->as.run;
    else if (m->kind == 'R' && grow((void**)&lab->runs, lab->run_count, &lab->run_capacity, sizeof *lab->runs))
        lab->runs[lab->run_count++] = m->as.run;
    if (m->kind == 'T' && grow((void**)&lab->traces, lab->trace_count, &lab->trace_capacity, sizeof *lab->traces))
        lab->traces[lab->trace_count++] = m->as.trace;
    if (m->kind == 'S' &&
        grow((void**)&lab->scene_runs, lab->scene_run_count, &lab->scene_run_capacity, sizeof *lab->scene_runs))
        lab->scene_runs[lab->scene_run_count++] = m->as.scene;
    if (m->kind == 'W') lab->wall_s += m->as.time[0], lab->cpu_s += m->as.time[1];
    if (m->kind == 'P')
        for (int i = 0; i < lab->problem_count; i++)
            if (strcmp(lab->problems[i].name, m->as.problem.name) == 0 &&
                strcmp(lab->problems[i].path, m->as.problem.path) == 0)
                lab->problems[i] = m->as.problem;
}

static void conditions(const mor_lab* lab, char* text, size_t size)
{
    const mor_lab_options* o = &lab->options;
    int n = snprintf(
        text, size, "moreau-compare 4 %s limit=%.17g memory=%.17g start=%s coordinates=%s assume=%d scenes=%.17g tols=",
        MOR_VERSION_STRING, o->time_limit, o->memory_gb, o->warm ? "warm" : "cold", o->maximal ? "maximal" : "minimal",
        o->assume, o->scene_limit);
    for (int i = 0; i < o->tol_count && n > 0 && n < (int)size; i++)
        n += snprintf(text + n, size - (size_t)n, "%s%.17g", i ? "," : "", o->tols[i]);
}

static int index_of(const mor_lab* lab, char what, const char* name)
{
    if (strcmp(name, "-") == 0) return -1;
    int count = what == 'p' ? lab->problem_count : what == 'f' ? lab->formulation_count : lab->solver_count;
    for (int i = 0; i < count; i++) {
        const char* one = what == 'p'   ? lab->problems[i].name
                          : what == 'f' ? lab->formulations[i]->name
                                        : lab->solvers[i]->name;
        if (strcmp(one, name) == 0) return i;
    }
    return -2;
}

/* Cuts the next tab-separated field off *line. */
static const char* field(char** line)
{
    char* start = *line;
    if (!start) return "";
    char* tab = strchr(start, '\t');
    if (tab) *tab = '\0';
    *line = tab ? tab + 1 : NULL;
    return start;
}

static double value(char** line) { return strtod(field(line), NULL); }

static bool read_keys(const mor_lab* lab, char** line, int* problem, int* formulation, int* solver)
{
    *problem = index_of(lab, 'p', field(line));
    *formulation = index_of(lab, 'f', field(line));
    *solver = index_of(lab, 's', field(line));
    return *problem >= 0 && *formulation > -2 && *solver > -2;
}

static void read_line(mor_lab* lab, char* line)
{
    char kind = line[0];
    line += 2;
    if (kind == 'R') {
        mor_lab_message m = { .kind = 'R' };
        mor_lab_run* r = &m.as.run;
        if (!read_keys(lab, &line, &r->problem, &r->formulation, &r->solver)) return;
        double tol = value(&line);
        r->tol = -1;
        for (int i = 0; i < lab->options.tol_count; i++)
            if (lab->options.tols[i] == tol) r->tol = i;
        r->status = (int)value(&line);
        r->iterations = (int)value(&line);
        r->time_s = value(&line);
        r->total_s = value(&line);
        r->error = value(&line);
        r->coulomb = value(&line);
        r->user_error = value(&line);
        double* x = &r->residual.relative;
        for (size_t i = 0; i < sizeof r->residual / sizeof(double); i++) x[i] = value(&line);
        r->sticking = (int)value(&line);
        r->sliding = (int)value(&line);
        r->open = (int)value(&line);
        snprintf(r->detail, sizeof r->detail, "%.110s", field(&line));
        r->assumed = strncmp(r->detail, "not tried", 9) == 0;
        if (r->tol >= 0 && mor_lab_slot(lab, r->problem, r->formulation, r->solver, r->tol) >= 0) mor_lab_keep(lab, &m);
    } else if (kind == 'T') {
        mor_lab_message m = { .kind = 'T' };
        mor_lab_trace* t = &m.as.trace;
        if (!read_keys(lab, &line, &t->problem, &t->formulation, &t->solver)) return;
        while (line && t->count < MOR_LAB_TRACE) {
            t->iteration[t->count] = value(&line);
            t->time_s[t->count] = value(&line);
            t->error[t->count] = value(&line);
            t->natural[t->count++] = value(&line);
        }
        mor_lab_keep(lab, &m);
    } else if (kind == 'S') {
        mor_lab_message m = { .kind = 'S' };
        mor_lab_scene* r = &m.as.scene;
        const char* name = field(&line);
        r->scene = -1;
        for (int i = 0; i < lab->scene_count; i++)
            if (strcmp(lab->scene_names[i], name) == 0) r->scene = i;
        r->formulation = index_of(lab, 'f', field(&line));
        r->solver = index_of(lab, 's', field(&line));
        int* whole[] = { &r->level, &r->status, &r->steps, &r->done, &r->failures };
        for (int i = 0; i < 5; i++) *whole[i] = (int)value(&line);
        r->reference = value(&line) != 0.0;
        r->last = value(&line) != 0.0;
        double* real[] = { &r->step,        &r->error,       &r->energy_start, &r->energy_end,
                           &r->energy_gain, &r->penetration, &r->cpu_s };
        for (int i = 0; i < 7; i++) *real[i] = value(&line);
        snprintf(r->detail, sizeof r->detail, "%.110s", field(&line));
        if (r->scene >= 0 && r->formulation >= 0 && r->solver > -2) mor_lab_keep(lab, &m);
    } else if (kind == 'W') {
        mor_lab_message m = { .kind = 'W' };
        for (int i = 0; i < 2; i++) m.as.time[i] = value(&line);
        mor_lab_keep(lab, &m);
    } else if (kind == 'P') {
        int i = index_of(lab, 'p', field(&line));
        if (i < 0) return;
        mor_lab_problem* p = &lab->problems[i];
        p->bodies = (int)value(&line);
        p->contacts = (int)value(&line);
        p->rows = (int)value(&line);
        p->dof = (int)value(&line);
        p->islands = (int)value(&line);
        p->mass_ratio = value(&line);
        p->deficiency = (int)value(&line);
        p->condition = value(&line);
        p->stored_error = value(&line);
        snprintf(p->stored_by, sizeof p->stored_by, "%.63s", field(&line));
        p->measured = true;
    }
}

/* A scene whose last run is not there was cut off: it is run again. */
static void drop_partial_scene(mor_lab* lab)
{
    while (lab->scene_run_count && !lab->scene_runs[lab->scene_run_count - 1].last) lab->scene_run_count--;
}

/* Reads complete lines; the end of the last complete one is where writing goes on. *fresh: there are none. */
static mor_code read_back(mor_lab* lab, const char* path, FILE* file, const char* expected, const char* kinds,
                          bool* fresh, mor_error* error)
{
    char* line = NULL;
    size_t room = 0;
    long good = 0;
    mor_code code = MOR_OK;
    rewind(file);
    for (int number = 0; !code; number++) {
        ssize_t n = getline(&line, &room, file);
        if (n <= 0 || line[n - 1] != '\n') break;
        line[n - 1] = '\0';
        if (number == 0 && strcmp(line, expected) != 0)
            code =
                mor_fail(error, MOR_BAD_INPUT,
                         "%s: made under other conditions (%.160s); these are %.160s: give the same, or another --out",
                         path, line, expected);
        else if (number > 0 && n > 3 && strchr(kinds, line[0])) read_line(lab, line);
        good = ftell(file);
    }
    free(line);
    drop_partial_scene(lab);
    *fresh = good == 0;
    if (!code && ftruncate(fileno(file), good) != 0 && errno != EINVAL)
        code = mor_fail(error, MOR_SYSTEM, "%s: %s", path, strerror(errno));
    return code;
}

mor_lab_journal* mor_lab_journal_open(const char* path, mor_lab* lab, bool resume, const char* kinds, mor_error* error)
{
    char head[400];
    conditions(lab, head, sizeof head);
    mor_lab_journal* j = calloc(1, sizeof *j);
    if (!j) {
        mor_fail(error, MOR_SYSTEM, "out of memory");
        return NULL;
    }
    snprintf(j->path, sizeof j->path, "%s", path);
    j->file = mor_output_claim(path, !resume, error);
    mor_code code = j->file ? MOR_OK : MOR_SYSTEM;
    bool fresh = true;
    if (!code && resume) code = read_back(lab, path, j->file, head, kinds, &fresh, error);
    if (!code && fresh && (fprintf(j->file, "%s\n", head) < 0 || fflush(j->file) != 0))
        code = mor_fail(error, MOR_SYSTEM, "%s: cannot be written: %s", path, strerror(errno));
    if (code) {
        if (j->file) fclose(j->file);
        free(j);
        return NULL;
    }
    return j;
}

static void print_keys(FILE* f, const mor_lab* lab, char kind, int problem, int formulation, int solver)
{
    fprintf(f, "%c\t%s\t%s\t%s", kind, lab->problems[problem].name, mor_lab_formulation_name(lab, formulation),
            mor_lab_solver_name(lab, solver));
}

/* The rest of a line. */
static void print_text(FILE* f, const char* text)
{
    for (; *text; text++) fputc(*text == '\t' || *text == '\n' ? ' ' : *text, f);
    fputc('\n', f);
}

mor_code mor_lab_journal_add(mor_lab_journal* j, const mor_lab* lab, const mor_lab_message* m, mor_error* error)
{
    if (!j) return MOR_OK;
    FILE* f = j->file;
    if (m->kind == 'R') {
        const mor_lab_run* r = &m->as.run;
        print_keys(f, lab, 'R', r->problem, r->formulation, r->solver);
        fprintf(f, "\t%.17g\t%d\t%d\t%.17g\t%.17g\t%.17g\t%.17g\t%.17g", lab->options.tols[r->tol], r->status,
                r->iterations, r->time_s, r->total_s, r->error, r->coulomb, r->user_error);
        const double* x = &r->residual.relative;
        for (size_t i = 0; i < sizeof r->residual / sizeof(double); i++) fprintf(f, "\t%.17g", x[i]);
        fprintf(f, "\t%d\t%d\t%d\t", r->sticking, r->sliding, r->open);
        print_text(f, r->detail);
    } else if (m->kind == 'T') {
        const mor_lab_trace* t = &m->as.trace;
        print_keys(f, lab, 'T', t->problem, t->formulation, t->solver);
        for (int i = 0; i < t->count; i++)
            fprintf(f, "\t%.9g\t%.9g\t%.9g\t%.9g", t->iteration[i], t->time_s[i], t->error[i], t->natural[i]);
        fputc('\n', f);
    } else if (m->kind == 'S') {
        const mor_lab_scene* r = &m->as.scene;
        fprintf(f, "S\t%s\t%s\t%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d", lab->scene_names[r->scene],
                mor_lab_formulation_name(lab, r->formulation), mor_lab_solver_name(lab, r->solver), r->level, r->status,
                r->steps, r->done, r->failures, r->reference, r->last);
        fprintf(f, "\t%.17g\t%.17g\t%.17g\t%.17g\t%.17g\t%.17g\t%.17g\t", r->step, r->error, r->energy_start,
                r->energy_end, r->energy_gain, r->penetration, r->cpu_s);
        print_text(f, r->detail);
    } else if (m->kind == 'W') {
        fprintf(f, "W\t%.3f\t%.3f\n", m->as.time[0], m->as.time[1]);
    } else if (m->kind == 'P') {
        const mor_lab_problem* p = &m->as.problem;
        fprintf(f, "P\t%s\t%d\t%d\t%d\t%d\t%d\t%.17g\t%d\t%.17g\t%.17g\t", p->name, p->bodies, p->contacts, p->rows,
                p->dof, p->islands, p->mass_ratio, p->deficiency, p->condition, p->stored_error);
        print_text(f, p->stored_by);
    }
    bool bad = fflush(f) != 0;
    if (!bad && mor_clock() - j->synced > SYNC_SECONDS) {
        bad = fdatasync(fileno(f)) != 0 && errno != EINVAL;
        j->synced = mor_clock();
    }
    return bad || ferror(f) ? mor_fail(error, MOR_SYSTEM, "%s: cannot be written: %s", j->path, strerror(errno))
                            : MOR_OK;
}

mor_code mor_lab_journal_close(mor_lab_journal* j, mor_error* error)
{
    if (!j) return MOR_OK;
    bool bad = ferror(j->file) != 0;
    bad = fflush(j->file) != 0 || (fdatasync(fileno(j->file)) != 0 && errno != EINVAL) || bad;
    bad = fclose(j->file) != 0 || bad;
    mor_code code = bad ? mor_fail(error, MOR_SYSTEM, "%s: cannot be written", j->path) : MOR_OK;
    free(j);
    return code;
}

/* Adds the lines of one journal; the first one's head is that of all. */
static mor_code join_one(const char* from, FILE* out, char** head, mor_error* error)
{
    FILE* in = mor_file_stream(from);
    if (!in) return mor_fail(error, mor_file_fault(errno), "%s: cannot be opened: %s", from, mor_file_reason(errno));
    char* line = NULL;
    size_t room = 0;
    mor_code code = MOR_OK;
    for (long number = 0; !code; number++) {
        ssize_t n = getline(&line, &room, in);
        if (n <= 0 || line[n - 1] != '\n') {
            if (number == 0) code = mor_fail(error, MOR_BAD_INPUT, "%s: no journal of moreau compare", from);
            break;
        }
        if (number > 0) fputs(line, out);
        else if (strncmp(line, "moreau-compare ", 15) != 0)
            code = mor_fail(error, MOR_BAD_INPUT, "%s: no journal of moreau compare", from);
        else if (!*head) *head = strdup(line), fputs(line, out);
        else if (strcmp(*head, line) != 0)
            code = mor_fail(error, MOR_BAD_INPUT, "%s: made under other conditions than the journals before it", from);
    }
    free(line);
    fclose(in);
    return code;
}

mor_code mor_lab_journal_join(const char* const* files, int count, const char* path, mor_error* error)
{
    FILE* out = mor_output_open(path, error);
    if (!out) return error->code;
    char* head = NULL;
    mor_code code = MOR_OK;
    for (int i = 0; i < count && !code; i++) {
        for (int k = 0; k < i && !code; k++)
            if (strcmp(files[k], files[i]) == 0)
                code = mor_fail(error, MOR_BAD_INPUT, "%s: given twice; every journal once", files[i]);
        if (!code) code = join_one(files[i], out, &head, error);
    }
    free(head);
    mor_code closed = mor_output_close(out, path, code == MOR_OK, code ? NULL : error);
    return code ? code : closed;
}
