/* The document of `moreau run --json` (its names are a contract with the scripts of users): written by the
 * command, and by everything that runs scenes inside one process. */
#ifndef MOREAU_IO_RUN_JSON_H
#define MOREAU_IO_RUN_JSON_H

#include "io/json/json.h"
#include "moreau/run.h"
#include "moreau/scene.h"

/* "bodies": [...] and "robots": [...] as they are now, inside an object. */
void mor_run_json_state(mor_json* json, const mor_world* world);
/* All members but "samples", inside an object. Not const: the forces of the joints are found by solving for them,
 * after the user stage of a step that is not taken. */
void mor_run_json_summary(mor_json* json, mor_world* world, const mor_scene* scene, const mor_run_summary* summary,
                          const mor_start* start);
/* The same without the parts that none of the paths leads into ("energy.final" leads into energy): members that hold
 * others, and the forces of the joints, which cost a step. */
void mor_run_json_asked(mor_json* json, mor_world* world, const mor_scene* scene, const mor_run_summary* summary,
                        const mor_start* start, const char* const* paths, int count);

#endif
