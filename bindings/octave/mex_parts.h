/* What the parts of moreau_mex share: arguments, errors, and the tables of commands of robots and links. */
#ifndef MOREAU_MEX_PARTS_H
#define MOREAU_MEX_PARTS_H
#include "moreau/moreau.h"

#include <mex.h>

typedef struct mor_mex_command {
    const char* name;
    int least, most; /* arguments after the command */
    void (*run)(int nout, mxArray* out[], int n, const mxArray* in[]);
} mor_mex_command;

extern const mor_mex_command mor_mex_robots[], mor_mex_links[]; /* each ends with a name of NULL */

/* Frees what is left when the host ends. */
void mor_mex_end_robots(void);
void mor_mex_end_links(void);

/* These end the call with an error of the host. */
void mor_mex_stop(const mor_error* error);
void mor_mex_wrong(const char* text);

/* `count` real numbers of the host (0: any number), or an error that names `what`. */
const double* mor_mex_numbers(const mxArray* a, const char* what, size_t count);
double mor_mex_scalar(const mxArray* a, const char* what);
/* A text of the host, freed when the call ends. */
char* mor_mex_text(const mxArray* a);
/* rows x cols row-major numbers as a matrix. */
mxArray* mor_mex_matrix(const double* x, int rows, int cols);
#endif
