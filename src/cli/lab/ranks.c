/* Ranks of mpirun, see ranks.h. Messages: a rank asks rank 0 for so many tasks (tag ASK) and gets a part (tag GIVE).
 * MPI is begun only when the environment says that there are several ranks: beginning it costs more than a small
 * sweep. */
#include "cli/lab/ranks.h"

#include <stdlib.h>
#include <string.h>

bool mor_cli_ranks_many(void)
{
    static const char* const sizes[] = { "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE" };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const char* text = getenv(sizes[i]);
        if (text && atoi(text) > 1) return true;
    }
    const char *tasks = getenv("SLURM_NTASKS"), *step = getenv("SLURM_STEP_ID");
    return getenv("PMIX_RANK") && tasks && step && atoi(tasks) > 1;
}

#ifdef MOREAU_MPI

#include <mpi.h>

enum { ASK = 1, GIVE = 2 };

static mor_ranks own;
static int ended; /* rank 0: ranks that were told that there is nothing left, or stopped */

static void meet(void) { MPI_Barrier(MPI_COMM_WORLD); }

static mor_farm_part ask(long wanted)
{
    long part[2] = { 0, 0 };
    MPI_Send(&wanted, 1, MPI_LONG, 0, ASK, MPI_COMM_WORLD);
    if (wanted > 0) MPI_Recv(part, 2, MPI_LONG, 0, GIVE, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return (mor_farm_part){ part[0], part[1] };
}

static int serve(mor_ranks_give give, void* user)
{
    for (int there = 1; there;) {
        MPI_Status status;
        MPI_Iprobe(MPI_ANY_SOURCE, ASK, MPI_COMM_WORLD, &there, &status);
        if (!there) break;
        long wanted = 0;
        MPI_Recv(&wanted, 1, MPI_LONG, status.MPI_SOURCE, ASK, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        mor_farm_part part = wanted > 0 ? give(user, wanted) : (mor_farm_part){ 0, 0 };
        long numbers[2] = { part.first, part.count };
        if (wanted > 0) MPI_Send(numbers, 2, MPI_LONG, status.MPI_SOURCE, GIVE, MPI_COMM_WORLD);
        if (part.count == 0) ended++;
    }
    return ended;
}

static mor_code worst(mor_code code)
{
    int one = (int)code, all = one;
    MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return (mor_code)all;
}

mor_code mor_cli_ranks(const mor_ranks** ranks, mor_error* error)
{
    *ranks = NULL;
    if (!mor_cli_ranks_many()) return MOR_OK;
    if (MPI_Init(NULL, NULL) != MPI_SUCCESS) return mor_fail(error, MOR_SYSTEM, "MPI cannot be started");
    own = (mor_ranks){ .meet = meet, .ask = ask, .serve = serve, .worst = worst };
    MPI_Comm_rank(MPI_COMM_WORLD, &own.own);
    MPI_Comm_size(MPI_COMM_WORLD, &own.count);
    if (own.count > 1) *ranks = &own;
    return MOR_OK;
}

void mor_cli_ranks_end(void) { MPI_Finalize(); }

#else

mor_code mor_cli_ranks(const mor_ranks** ranks, mor_error* error)
{
    *ranks = NULL;
    if (!mor_cli_ranks_many()) return MOR_OK;
    return mor_fail(error, MOR_BAD_INPUT,
                    "started as one of several ranks, but this build has no MPI, and each rank would do all the work: "
                    "build with -DMOREAU_MPI=ON, or give every rank a --shard of its own");
}

void mor_cli_ranks_end(void) {}

#endif
