/* A journal of finished tasks, see task_journal.h. */
#include "lab/task_journal.h"

#include "io/text/output.h"
#include "io/text/text_file.h"
#include "lab/hash.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct mor_task_journal {
    FILE* file;
    double synced; /* when, mor_clock() */
    char path[4096];
};

static const double sync_seconds = 1.0;

/* Cuts "NUMBER KEY TEXT CHECKSUM" apart; false: damaged. */
static bool split(char* line, long* task, uint64_t* key, char** text)
{
    char* last = strrchr(line, '\t');
    if (!last) return false;
    char* end;
    uint64_t sum = strtoull(last + 1, &end, 16);
    if (end == last + 1 || *end || sum != mor_hash_bytes(MOR_HASH_BEGIN, line, (size_t)(last - line))) return false;
    *last = '\0';
    *task = strtol(line, &end, 10);
    if (end == line || *end != '\t') return false;
    char* begin = end + 1;
    *key = strtoull(begin, &end, 16);
    *text = end + 1;
    return end != begin && *end == '\t';
}

mor_code mor_task_journal_read(const char* path, const char* conditions, mor_task_line tell, void* user,
                               mor_error* error)
{
    FILE* file = mor_file_stream(path);
    if (!file)
        return errno == ENOENT ? MOR_OK
                               : mor_fail(error, errno == ETIMEDOUT ? MOR_BAD_INPUT : MOR_SYSTEM,
                                          "%s: cannot be read: %s", path, mor_file_reason(errno));
    char* line = NULL;
    size_t room = 0;
    mor_code code = MOR_OK;
    for (long number = 0; !code; number++) {
        ssize_t n = getline(&line, &room, file);
        if (n <= 0) break;
        if (line[n - 1] == '\n') line[n - 1] = '\0';
        else if (number == 0) break; /* cut off in its first line: nothing is in it */
        long task;
        uint64_t key;
        char* text;
        if (number > 0 && split(line, &task, &key, &text)) tell(user, task, key, text);
        else if (number == 0 && strcmp(line, conditions) != 0)
            code = mor_fail(error, MOR_BAD_INPUT,
                            "%s: the journal of other work (%.160s); this is %.160s: remove it, or write elsewhere",
                            path, line, conditions);
    }
    bool bad = ferror(file) != 0;
    free(line);
    fclose(file);
    return !code && bad ? mor_fail(error, MOR_SYSTEM, "%s: cannot be read", path) : code;
}

/* Whether there is a first line, and whether the file ends with a newline. */
static void look(const char* path, bool* begun, bool* whole)
{
    FILE* file = mor_file_stream(path);
    *begun = *whole = false;
    if (!file) return;
    for (int c; !*begun && (c = fgetc(file)) != EOF;) *begun = c == '\n';
    *whole = *begun && fseek(file, -1, SEEK_END) == 0 && fgetc(file) == '\n';
    fclose(file);
}

static mor_code lost(const mor_task_journal* j, mor_error* error)
{
    return mor_fail(error, MOR_SYSTEM, "%s: cannot be written: %s", j->path, strerror(errno));
}

mor_task_journal* mor_task_journal_open(const char* path, const char* conditions, bool resume, mor_error* error)
{
    mor_task_journal* j = calloc(1, sizeof *j);
    if (!j) {
        mor_fail(error, MOR_SYSTEM, "out of memory");
        return NULL;
    }
    snprintf(j->path, sizeof j->path, "%s", path);
    bool begun = false, whole = false;
    if (resume) look(path, &begun, &whole);
    j->file = mor_output_claim(path, !begun, error);
    mor_code code = j->file ? MOR_OK : MOR_SYSTEM;
    if (!code && !begun) code = fprintf(j->file, "%s\n", conditions) < 0 || fflush(j->file) ? lost(j, error) : MOR_OK;
    if (!code && begun && !whole) code = fputc('\n', j->file) == EOF || fflush(j->file) ? lost(j, error) : MOR_OK;
    if (!code) return j;
    if (j->file) fclose(j->file);
    free(j);
    return NULL;
}

mor_code mor_task_journal_add(mor_task_journal* j, long task, uint64_t key, const char* text, mor_error* error)
{
    char head[64];
    int n = snprintf(head, sizeof head, "%ld\t%016" PRIx64 "\t", task, key);
    uint64_t sum = mor_hash_bytes(mor_hash_bytes(MOR_HASH_BEGIN, head, (size_t)n), text, strlen(text));
    return fprintf(j->file, "%s%s\t%016" PRIx64 "\n", head, text, sum) < 0 ? lost(j, error) : MOR_OK;
}

mor_code mor_task_journal_write(mor_task_journal* j, mor_error* error)
{
    if (fflush(j->file) != 0) return lost(j, error);
    if (mor_clock() - j->synced > sync_seconds) {
        j->synced = mor_clock();
        if (fdatasync(fileno(j->file)) != 0 && errno != EINVAL) return lost(j, error);
    }
    return MOR_OK;
}

mor_code mor_task_journal_close(mor_task_journal* j, mor_error* error)
{
    if (!j) return MOR_OK;
    bool bad = ferror(j->file) || fflush(j->file) != 0 || (fdatasync(fileno(j->file)) != 0 && errno != EINVAL);
    bad = fclose(j->file) != 0 || bad;
    mor_code code = bad ? lost(j, error) : MOR_OK;
    free(j);
    return code;
}
