/* Words for writing tables of keys. */
#ifndef MOR_IO_SCENE_KEYS_H
#define MOR_IO_SCENE_KEYS_H

#include "io/scene/scene_fields.h"

#define KEY(T, field, kind) .name = #field, .type = kind, .offset = offsetof(T, field)
#define NUMBER(T, field) KEY(T, field, MOR_KEY_NUMBER)
#define VECTOR(T, field) KEY(T, field, MOR_KEY_VECTOR)
#define SPIN(T, field) KEY(T, field, MOR_KEY_SPIN)
#define TEXT(T, field) KEY(T, field, MOR_KEY_TEXT)
#define NODE(T, field) KEY(T, field, MOR_KEY_NODE)
#define LATER(T, field) KEY(T, field, MOR_KEY_LATER)
#define POSITIVE .min = MOR_POSITIVE, .max = MOR_HUGE
#define NOT_NEGATIVE .min = 0.0, .max = MOR_HUGE
#define TABLE(T) .size = sizeof(T)

#endif
