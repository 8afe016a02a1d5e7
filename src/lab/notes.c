/* What the reader found in the files, see notes.h. */
#include "lab/notes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 200 };

/* The note without the name of the frame: "x.h5:/frame1/bodies/ids: ..." gives "x.h5://bodies/ids: ...". */
static char* key_of(const char* line, size_t length, const char* frame)
{
    char* key = malloc(length + 1);
    if (!key) return NULL;
    memcpy(key, line, length);
    key[length] = '\0';
    char part[80];
    snprintf(part, sizeof part, "/%.70s/", frame ? frame : "");
    char* at = frame && *frame ? strstr(key, part) : NULL;
    if (at) memmove(at + 1, at + strlen(part) - 1, strlen(at + strlen(part) - 1) + 1);
    return key;
}

static void add_line(mor_lab_notes* n, const char* line, size_t length, const char* frame)
{
    char* key = key_of(line, length, frame);
    if (!key) return;
    for (int i = 0; i < n->count; i++)
        if (strcmp(n->list[i].key, key) == 0) {
            n->list[i].more++;
            free(key);
            return;
        }
    char* text = n->count < MOST ? malloc(length + 1) : NULL;
    mor_lab_note* grown = text ? realloc(n->list, ((size_t)n->count + 1) * sizeof *grown) : NULL;
    if (!grown) {
        n->left_out++;
        free(key);
        free(text);
        return;
    }
    memcpy(text, line, length);
    text[length] = '\0';
    n->list = grown;
    n->list[n->count++] = (mor_lab_note){ text, key, 0 };
}

void mor_lab_notes_add(mor_lab_notes* notes, const char* lines, const char* frame)
{
    while (*lines) {
        size_t length = strcspn(lines, "\n");
        add_line(notes, lines, length, frame);
        lines += length + (lines[length] == '\n');
    }
}

void mor_lab_notes_text(const mor_lab_notes* notes, int i, char* text, size_t size)
{
    if (i >= notes->count) {
        snprintf(text, size, "%d more deviations are not listed", notes->left_out);
        return;
    }
    const mor_lab_note* n = &notes->list[i];
    if (n->more) snprintf(text, size, "%s (the same in %d more frame%s)", n->text, n->more, n->more > 1 ? "s" : "");
    else snprintf(text, size, "%s", n->text);
}

int mor_lab_notes_count(const mor_lab_notes* notes) { return notes->count + (notes->left_out > 0); }

void mor_lab_notes_free(mor_lab_notes* notes)
{
    for (int i = 0; i < notes->count; i++) {
        free(notes->list[i].text);
        free(notes->list[i].key);
    }
    free(notes->list);
    *notes = (mor_lab_notes){ .list = NULL };
}
