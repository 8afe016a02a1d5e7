/* Shards as jobs of Slurm, see slurm.h. A shard goes on from its journal (--resume), so that a task of the array that
 * is queued again, or is submitted again by hand, loses nothing. */
#include "cli/lab/slurm.h"

#include "cli/cli.h"
#include "io/text/output.h"
#include "lab/plan.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* In single quotes for the shell. */
void mor_cli_slurm_quote(FILE* out, const char* text)
{
    fputc('\'', out);
    for (; *text; text++) {
        if (*text == '\'') fputs("'\\''", out);
        else fputc(*text, out);
    }
    fputc('\'', out);
}

static void word(FILE* out, const char* before, const char* text)
{
    fputs(before, out);
    mor_cli_slurm_quote(out, text);
}

/* Options of one job. */
static void head(FILE* out, const char* sbatch, const char* name, int cpus)
{
    fprintf(out,
            "#!/bin/sh\n#SBATCH --job-name=%s\n#SBATCH --ntasks=1\n#SBATCH --cpus-per-task=%d\n#SBATCH --requeue\n",
            name, cpus);
    if (sbatch) fprintf(out, "#SBATCH %s\n", sbatch);
}

static mor_code write_array(const mor_cli_slurm_job* job, const char* program, const char* path, mor_error* error)
{
    FILE* out = mor_output_open(path, error);
    if (!out) return error->code;
    head(out, job->sbatch, "moreau-sweep", job->jobs);
    fprintf(out, "#SBATCH --array=1-%d\n#SBATCH --output=%s.%%a.log\n#SBATCH --open-mode=append\n", job->shards, path);
    word(out, "exec ", program);
    word(out, " sweep ", job->plan);
    fprintf(out, " --shard \"$SLURM_ARRAY_TASK_ID/%d\" --jobs %d --resume --quiet -o ", job->shards, job->jobs);
    mor_cli_slurm_quote(out, job->out);
    fputs(".shard-\"$SLURM_ARRAY_TASK_ID\".h5\n", out);
    return mor_output_close(out, path, true, error);
}

static mor_code write_merge(const mor_cli_slurm_job* job, const char* program, const char* path, mor_error* error)
{
    FILE* out = mor_output_open(path, error);
    if (!out) return error->code;
    head(out, job->sbatch, "moreau-merge", 1);
    fprintf(out, "#SBATCH --output=%s.log\nset -e\nset --\ni=1\nwhile [ $i -le %d ]; do set -- \"$@\" ", path,
            job->shards);
    mor_cli_slurm_quote(out, job->out);
    fputs(".shard-$i.h5; i=$((i + 1)); done\n", out);
    mor_cli_slurm_quote(out, program);
    word(out, " sweep ", job->plan);
    fputs(" --merge \"$@\" --quiet -o ", out);
    mor_cli_slurm_quote(out, job->out);
    if (job->csv) word(out, " --csv ", job->csv);
    if (job->html) word(out, " --html ", job->html);
    fputs("\nrm -f \"$@\"\n", out);
    return mor_output_close(out, path, true, error);
}

/* Runs sbatch; the number of the job, or "" after a sentence. `dependency`: NULL or a number. */
static void submit(const char* file, const char* dependency, char number[64])
{
    char option[128] = "--parsable";
    int ends[2];
    number[0] = '\0';
    if (dependency) snprintf(option, sizeof option, "--dependency=afterok:%s", dependency);
    if (pipe(ends) != 0) return;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        dup2(ends[1], 1);
        close(ends[0]), close(ends[1]);
        char* words[] = { "sbatch", "--parsable", option, (char*)file, NULL };
        execvp(words[0], words);
        fprintf(stderr, "moreau: sbatch cannot be started: %s; --no-submit only writes the job files\n",
                strerror(errno));
        _exit(127);
    }
    close(ends[1]);
    ssize_t n = pid > 0 ? read(ends[0], number, 63) : 0;
    close(ends[0]);
    int status = 1;
    if (pid > 0) waitpid(pid, &status, 0);
    number[n > 0 && status == 0 ? n : 0] = '\0';
    number[strcspn(number, ";\n")] = '\0';
}

static mor_code submit_both(const char* array, const char* merge, char first[64], char second[64], mor_error* error)
{
    second[0] = '\0';
    submit(array, NULL, first);
    if (first[0]) submit(merge, first, second);
    if (first[0] && second[0]) return MOR_OK;
    return mor_fail(error, MOR_SYSTEM, "sbatch did not take %s", first[0] ? merge : array);
}

int mor_cli_slurm(const mor_cli_slurm_job* job)
{
    mor_error error = { 0 };
    char array[4096], merge[4096], program[PATH_MAX] = "moreau-lab";
    mor_plan* plan = mor_plan_load(job->plan, &error); /* a plan that is wrong is not submitted */
    if (!plan) return mor_cli_fail(&error);
    long tasks = mor_plan_tasks(plan);
    mor_plan_destroy(plan);
    ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
    if (n > 0) program[n] = '\0';
    snprintf(array, sizeof array, "%.4000s.slurm", job->out);
    snprintf(merge, sizeof merge, "%.4000s.slurm-merge", job->out);
    if (write_array(job, program, array, &error) || write_merge(job, program, merge, &error))
        return mor_cli_fail(&error);
    if (!job->submit) {
        printf("%s and %s: %ld tasks in %d shards\n", array, merge, tasks, job->shards);
        return 0;
    }
    char first[64], second[64];
    if (submit_both(array, merge, first, second, &error)) return mor_cli_fail(&error);
    printf("job %s: %ld tasks in %d shards; job %s puts them together into %s\n", first, tasks, job->shards, second,
           job->out);
    return 0;
}

/* One job file of shards or of their merge. */
static mor_code write_part(const mor_cli_slurm_parts* job, const char* program, const char* path, bool array,
                           mor_error* error)
{
    FILE* out = mor_output_open(path, error);
    if (!out) return error->code;
    head(out, job->sbatch, array ? "moreau-shard" : "moreau-merge", array ? job->cpus : 1);
    if (array) fprintf(out, "#SBATCH --array=1-%d\n#SBATCH --open-mode=append\n", job->shards);
    fprintf(out, "#SBATCH --output=%s%s.log\n", path, array ? ".%a" : "");
    word(out, "exec ", program);
    fprintf(out, " %s %s\n", job->command, array ? job->shard : job->merge);
    return mor_output_close(out, path, true, error);
}

int mor_cli_slurm_parts_submit(const mor_cli_slurm_parts* job)
{
    mor_error error = { 0 };
    char array[4096], merge[4096], program[PATH_MAX] = "moreau-lab", first[64], second[64];
    ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
    if (n > 0) program[n] = '\0';
    snprintf(array, sizeof array, "%.4000s.slurm", job->base);
    snprintf(merge, sizeof merge, "%.4000s.slurm-merge", job->base);
    if (write_part(job, program, array, true, &error) || write_part(job, program, merge, false, &error))
        return mor_cli_fail(&error);
    if (!job->submit) {
        printf("%s and %s: %d shards\n", array, merge, job->shards);
        return 0;
    }
    if (submit_both(array, merge, first, second, &error)) return mor_cli_fail(&error);
    printf("job %s: %d shards; job %s puts them together\n", first, job->shards, second);
    return 0;
}
