/* The database as pages to browse, and where its files come from. */
#ifndef MOR_LAB_DATASET_PAGE_H
#define MOR_LAB_DATASET_PAGE_H

#include "moreau/base.h"

/* Where problems come from; NULL or "": not told. */
typedef struct mor_provenance {
    const char *author, *licence, *engine, *commit, *command;
} mor_provenance;

/* PROBLEMS.provenance.json beside the file. */
mor_code mor_provenance_write(const char* problems, const mor_provenance* provenance, mor_error* error);
/* TARGET/index.html with all BPMD files of a folder, and TARGET/files with every problem in all forms. Refuses a target
 * that has a page. */
mor_code mor_dataset_page(const char* folder, const char* target, int* problems, mor_error* error);
/* Removes what mor_dataset_page wrote into TARGET, and TARGET if nothing else is in it. */
void mor_dataset_page_remove(const char* target);

#endif
