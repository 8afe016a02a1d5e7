/* Visuals in the description of a recording or a world for the viewer's page.
 */
#ifndef MOREAU_SERVE_VISUALS_H
#define MOREAU_SERVE_VISUALS_H

#include "io/json/json.h"
#include "io/recording/recording.h"
#include "moreau/scene.h"

/* "visuals": [...] of a recording, nothing when it has none. */
mor_code mor_view_recorded_visuals(mor_json* json, const mor_recording* recording, mor_error* error);
/* The same of a world that runs. */
mor_code mor_view_scene_visuals(mor_json* json, const mor_world* world, const mor_scene* scene, mor_error* error);
/* "color": [red, green, blue, opacity] of a body; null in it: as the viewer
 * likes. */
void mor_view_color(mor_json* json, const double color[4]);

#endif
