/* Shards of a command as jobs of Slurm. */
#ifndef MOREAU_CLI_LAB_SLURM_H
#define MOREAU_CLI_LAB_SLURM_H

#include <stdbool.h>
#include <stdio.h>

typedef struct mor_cli_slurm_job {
    const char *plan, *out, *csv, *html; /* csv, html: NULL: not asked for */
    const char* sbatch;                  /* more options; NULL: none */
    int shards, jobs;                    /* jobs: processes of a shard */
    bool submit;
} mor_cli_slurm_job;

/* Writes OUT.slurm, an array job with one shard each, and OUT.slurm-merge, which runs when all of them have ended well;
 * submits both. 0 or the exit status. */
int mor_cli_slurm(const mor_cli_slurm_job* job);

/* Any other command that has --shard and --merge. */
typedef struct mor_cli_slurm_parts {
    const char* command; /* "calibrate" */
    const char* base;    /* job files are BASE.slurm and BASE.slurm-merge */
    const char* shard;   /* words of the shell after the command; $SLURM_ARRAY_TASK_ID is the shard's number */
    const char* merge;   /* likewise, of the job that puts the shards together */
    const char* sbatch;  /* more options; NULL: none */
    int shards, cpus;    /* cpus: of a shard */
    bool submit;
} mor_cli_slurm_parts;

/* Writes both job files and submits them; the merge runs when all shards have ended well. 0 or the exit status. */
int mor_cli_slurm_parts_submit(const mor_cli_slurm_parts* job);
/* A word for the shell, in single quotes. */
void mor_cli_slurm_quote(FILE* out, const char* word);

#endif
