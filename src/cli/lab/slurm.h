/* A sweep as jobs of Slurm. */
#ifndef MOREAU_CLI_LAB_SLURM_H
#define MOREAU_CLI_LAB_SLURM_H

#include <stdbool.h>

typedef struct mor_cli_slurm_job {
    const char *plan, *out, *csv, *html; /* csv, html: NULL: not asked for */
    const char* sbatch;                  /* more options; NULL: none */
    int shards, jobs;                    /* jobs: processes of a shard */
    bool submit;
} mor_cli_slurm_job;

/* Writes OUT.slurm, an array job with one shard each, and OUT.slurm-merge, which runs when all of them have ended well;
 * submits both. 0 or the exit status. */
int mor_cli_slurm(const mor_cli_slurm_job* job);

#endif
