/* Changes of a running scene by hand: commands of docs/viewer.md that change what the world is made of. */
#ifndef MOREAU_SERVE_EDITS_H
#define MOREAU_SERVE_EDITS_H

#include "moreau/world.h"

typedef enum mor_edit_effect {
    MOR_EDIT_NONE,   /* not a command of this file */
    MOR_EDIT_STATE,  /* moved something: not repeated after a reset */
    MOR_EDIT_METHOD, /* step or method */
    MOR_EDIT_BODY,   /* a number of a body */
    MOR_EDIT_BODIES, /* there are other bodies now */
} mor_edit_effect;

/* What the command changes if it is carried out, by its first word. */
mor_edit_effect mor_edit_kind(const char* command);
/* Carries out a command. Bad input with a sentence for whoever sits at the page; the world is then as before. Names of
 * bodies and joints that are given must fit their numbers: another browser may have removed a body meanwhile. */
mor_code mor_edit_apply(mor_world* world, const char* command, mor_error* error);
/* Whether the second command makes the first needless: both set the same number. */
bool mor_edit_replaces(const char* earlier, const char* later);

/* The friction coefficient of a body's first shape, as `mor_edit_apply` set it or of its material; NaN: no shape. */
double mor_edit_friction(const mor_world* world, int body);

#endif
