/* The scene that the tests of the viewer show: a ball that lies, a stone that falls for half a second. */
#ifndef MOREAU_TESTS_SHOWN_H
#define MOREAU_TESTS_SHOWN_H

#include "moreau/lab.h"

enum { SHOWN_FRAMES = 51 };

extern const char shown_text[];
/* A scene; fails the test where it cannot be read. */
mor_scene* shown_parse(const char* text);
/* All its frames in a recording; false: it cannot be written. */
bool shown_record(mor_scene* scene, const char* path);

#endif
