/* Copies of elements with new names: what <replicate> and <attach> share. */
#ifndef MOREAU_IO_MJCF_COPIES_H
#define MOREAU_IO_MJCF_COPIES_H

#include "io/mjcf/mjcf.h"

typedef struct mor_mjcf_names {
    const char** names; /* kind, name, kind, name ... */
    int count, room;
} mor_mjcf_names;

typedef struct mor_mjcf_copier {
    mor_mjcf* m;
    mor_xml* root;
    mor_mjcf_names names;        /* what is renamed */
    const char *prefix, *suffix; /* how; one of them is "" */
    int elements, depth;
} mor_mjcf_copier;

/* Sections whose elements speak of parts of bodies; ends with NULL. */
extern const char* const mor_mjcf_sections[];

/* Remembers a name, all names in an element; false: out of memory. `section`: the one it stands in, NULL: a body. */
bool mor_mjcf_remember(mor_mjcf_copier* c, const char* kind, const char* name);
bool mor_mjcf_remember_all(mor_mjcf_copier* c, const mor_xml* e, const char* section);
/* Whether an element or one inside speaks of a name of the list; `all`: of none that is not there. */
bool mor_mjcf_speaks(const mor_mjcf_copier* c, const mor_xml* e, bool all);
/* A deep copy with new names. NULL: out of memory, or too many elements (mor_mjcf_too_many says which). */
mor_xml* mor_mjcf_copy(mor_mjcf_copier* c, const mor_xml* e, mor_xml* parent);
mor_code mor_mjcf_too_many(mor_mjcf_copier* c, const mor_xml* at);
/* Puts `list` (linked by next, ending with `last`) in the place of e, which comes after `before`. */
void mor_mjcf_replace(mor_xml* parent, mor_xml* before, mor_xml* e, mor_xml* list, mor_xml* last);
/* Makes e the last child. */
void mor_mjcf_append(mor_xml* parent, mor_xml* e);
/* An empty element where `like` stands, with room for attributes; attribute k of it. */
mor_xml* mor_mjcf_element(mor_mjcf_copier* c, const mor_xml* like, const char* name, mor_xml* parent, int attributes);
bool mor_mjcf_set(mor_mjcf_copier* c, mor_xml* e, int k, const char* name, const char* value);
/* Puts the model that <attach> names in its place; `last`: what stands there then. */
mor_code mor_mjcf_attach(mor_mjcf_copier* c, mor_xml* parent, mor_xml* before, mor_xml* e, mor_xml** last);

#endif
