/* Contacts of the same two bodies that all stick: one block of six equations (patch.c). */
#ifndef MOREAU_DERIVATIVE_PATCH_H
#define MOREAU_DERIVATIVE_PATCH_H

#include "derivative/law.h"
#include "derivative/look.h"

typedef struct mor_patch {
    int first, last;     /* kept blocks */
    mor_vec3 at, normal; /* middle of its points; normal of the first */
    double length;       /* of its arms */
    double* T;           /* 3 m x 6, column-major: u = T t */
    double L[36];        /* factor of T'T */
    double* project;     /* room for mor_patch_projector */
    bool projects;       /* it is filled */
    bool still;          /* nothing moves in it: du_0 of the state is known as t, in `columns` */
    int count;           /* columns that change it */
    int* columns;
    double* du; /* 6 for each of them */
} mor_patch;

/* The end of the kept blocks from `first` that stick between the same two bodies. */
int mor_patch_end(const mor_derivation* d, const mor_law* laws, int first, int last);
/* The patch of kept blocks first .. last; false: its rank is below six, or out of memory. */
bool mor_patch_make(mor_derivation* d, int first, int last, mor_patch* patch);
/* All patches of the step: d->patches, d->patch_of. */
mor_code mor_patches_find(mor_derivation* d, const mor_law* laws);
/* u (6) := what `from`, du of its 3 m rows, is as a motion of one body against the other. What it cannot follow tears
 * it. */
void mor_patch_project(mor_patch* patch, const double* from, double* u, bool* torn);
/* (T'T)^-1 T', 6 x 3 m, column-major; made when it is first asked for. */
const double* mor_patch_projector(mor_patch* patch);
/* Is the kept block in a patch whose du_0 is known? */
static inline bool mor_patch_is_still(const mor_derivation* d, int kept)
{
    return d->patches && d->patch_of[kept] >= 0 && d->patches[d->patch_of[kept]].still;
}

#endif
