/* What a run writes beside its JSON: the table of --csv and lines of text. */
#ifndef MOREAU_CLI_RUN_OUTPUTS_H
#define MOREAU_CLI_RUN_OUTPUTS_H

#include "moreau/run.h"
#include "moreau/scene.h"

typedef struct mor_cli_table mor_cli_table;

/* A table of bodies, contact totals and energy (CSV), one line every `every` steps, by io/text/output.h. The path
 * is borrowed. NULL and a sentence when it cannot be written. */
mor_cli_table* mor_cli_table_open(const char* path, int every, const mor_world* world, mor_error* error);
/* The line of a step, if it is one of those. MOR_SYSTEM and a sentence as soon as something is lost. */
mor_code mor_cli_table_add(mor_cli_table* table, const mor_world* world, const mor_step_report* report,
                           mor_error* error);
/* Gives it its name if `keep`, else removes it. NULL is allowed. */
mor_code mor_cli_table_close(mor_cli_table* table, bool keep, mor_error* error);

/* Contacts that stay deep, on standard error; nothing if there are none. */
void mor_cli_tell_deep(const mor_run_deep* deep);
/* Writes about the run itself: lines of text. */
void mor_cli_print_run(const mor_world* world, const mor_scene* scene, const mor_run_summary* summary);

/* On stderr: how many pairs of links self_collision leaves out, a line for each robot. */
void mor_cli_print_left_out(const mor_world* world);

#endif
