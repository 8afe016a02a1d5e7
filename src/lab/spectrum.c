/* Eigenvalues of W. */
#include "lab/spectrum.h"

#include <stdlib.h>

#include "linalg/eigenvalues.h"

bool mor_lab_eigenvalues(const mor_system* s, double* values)
{
    size_t n = (size_t)s->row_count;
    double *W = calloc(n * n + 1, sizeof *W), *work = malloc((2 * n + 1) * sizeof *work);
    bool good = W && work;
    /* tree by tree: all pairs of blocks that act on it */
    for (int a = 0; good && a < s->block_count; a++)
        for (int e = s->blocks[a].entry; e < s->blocks[a].entry + s->blocks[a].entry_count; e++)
            for (int b = 0; b <= a; b++)
                for (int f = s->blocks[b].entry; f < s->blocks[b].entry + s->blocks[b].entry_count; f++) {
                    if (s->entries[e].tree != s->entries[f].tree) continue;
                    int dof = s->trees[s->entries[e].tree].dof;
                    const double *Y = s->response + s->entries[e].start, *J = s->jacobian + s->entries[f].start;
                    for (int i = 0; i < s->blocks[a].dim; i++)
                        for (int j = 0; j < s->blocks[b].dim; j++) {
                            double sum = 0.0;
                            for (int m = 0; m < dof; m++) sum += Y[i * dof + m] * J[j * dof + m];
                            W[(size_t)(s->blocks[a].row + i) + n * (size_t)(s->blocks[b].row + j)] += sum;
                        }
                }
    if (good) good = mor_symmetric_eigenvalues((int)n, W, values, work);
    free(W);
    free(work);
    return good;
}

bool mor_lab_spectrum(const mor_system* s, int* rank, double* condition)
{
    size_t n = (size_t)s->row_count;
    double* values = malloc((n + 1) * sizeof *values);
    *rank = 0;
    *condition = 1.0;
    bool good = values && mor_lab_eigenvalues(s, values);
    for (size_t i = 0; good && i < n; i++)
        if (values[i] > 1e-10 * values[n - 1]) {
            if (*rank == 0) *condition = values[n - 1] / values[i];
            ++*rank;
        }
    free(values);
    return good;
}
