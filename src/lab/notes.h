/* What is told about the problems of a comparison: where files deviate from their format, which solvers are left out.
 * Notes of several frames of a file that say the same are one. */
#ifndef MOR_LAB_NOTES_H
#define MOR_LAB_NOTES_H

#include "moreau/base.h"

typedef struct mor_lab_note {
    char *text, *key; /* key: the text without the name of its frame */
    int more;         /* frames that say the same */
} mor_lab_note;

typedef struct mor_lab_notes {
    mor_lab_note* list;
    int count, left_out; /* 200 are kept */
} mor_lab_notes;

/* One note per line. `frame` (may be NULL): the frame that they are about. */
void mor_lab_notes_add(mor_lab_notes* notes, const char* lines, const char* frame);
/* How many lines there are to print, and one of them. */
MOR_API int mor_lab_notes_count(const mor_lab_notes* notes);
MOR_API void mor_lab_notes_text(const mor_lab_notes* notes, int i, char* text, size_t size);
void mor_lab_notes_free(mor_lab_notes* notes);

#endif
