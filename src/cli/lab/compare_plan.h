/* What `moreau compare` says before and while it works: files, the plan, progress. All of it goes to standard error. */
#ifndef MOREAU_CLI_LAB_COMPARE_PLAN_H
#define MOREAU_CLI_LAB_COMPARE_PLAN_H

#include "lab/compare.h"

typedef struct mor_cli_meter {
    bool quiet, bar; /* say nothing; draw a bar, on terminals */
    double begin, last, pause;
    int first; /* runs that were there at `begin`; -1: not begun */
    bool told; /* the files of a folder */
} mor_cli_meter;

mor_cli_meter mor_cli_meter_begin(bool quiet);
/* Ends what stands on the line. */
void mor_cli_meter_end(mor_cli_meter* meter);

/* mor_lab_reading, with a mor_cli_meter. After a second: what is read, and how far it is. */
bool mor_cli_meter_reading(void* meter, const mor_lab_look* at);
/* mor_lab_progress, with a mor_cli_meter. */
bool mor_cli_meter_progress(void* meter, const mor_lab* lab, int done, int planned);
/* Problems x methods and the longest time they may take: always on terminals, else above five minutes. */
void mor_cli_tell_plan(const mor_lab* lab, mor_cli_meter* meter);

#endif
