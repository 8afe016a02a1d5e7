/* Four doubles at a time, and functions compiled for plain machines and for AVX2.
 *
 * A mor_four is two or four registers' worth without AVX; what is computed is the same: nothing fuses multiply and add,
 * and sums run over k mod 4 apart, then over pairs. So every build gives the same bits on every machine.
 *
 * MOR_WIDE(scope, type, name, parameters, arguments) makes the function `name` (static or extern) of an always-inlined
 * `name_body`, MOR_WIDE_VOID one without result; which body runs is asked of the processor at each call (a load and a
 * test). With MOREAU_PLAIN defined (make test-bits) there is only the plain one. */
#ifndef MOR_LINALG_WIDE_H
#define MOR_LINALG_WIDE_H

#include "base/inline.h"

#include <stdbool.h>

typedef double mor_four __attribute__((vector_size(32), aligned(8), may_alias));
typedef double mor_two __attribute__((vector_size(16), aligned(8), may_alias));

typedef long long mor_four_bits __attribute__((vector_size(32), aligned(8), may_alias));
typedef long long mor_two_bits __attribute__((vector_size(16), aligned(8), may_alias));

#define MOR_FOUR_BITS_AT(x) (*(const mor_four_bits*)(x))
#define MOR_FOUR_AT(x) (*(const mor_four*)(x))
#define MOR_TWO_AT(x) (*(const mor_two*)(x))
#define MOR_FOUR_TO(x) (*(mor_four*)(x))
#define MOR_TWO_TO(x) (*(mor_two*)(x))
/* { a + c, b + d } of { a, b, c, d } */
#define MOR_FOLD(q) (__builtin_shufflevector(q, q, 0, 1) + __builtin_shufflevector(q, q, 2, 3))

MOR_ALWAYS_INLINE void mor_four_max(mor_four* x, const mor_four* least)
{
    mor_four_bits keep = *x > *least;
    *x = (mor_four)((keep & (mor_four_bits)*x) | (~keep & (mor_four_bits)*least));
}

MOR_ALWAYS_INLINE void mor_four_min(mor_four* x, const mor_four* most)
{
    mor_four_bits keep = *x < *most;
    *x = (mor_four)((keep & (mor_four_bits)*x) | (~keep & (mor_four_bits)*most));
}

/* x where the mask is set, else y */
#define MOR_FOUR_SELECT(mask, x, y) ((mor_four)(((mask) & (mor_four_bits)(x)) | (~(mask) & (mor_four_bits)(y))))

MOR_ALWAYS_INLINE bool mor_four_any(const mor_four* x)
{
    mor_four_bits bits = *x != (mor_four){ 0, 0, 0, 0 };
    return (bits[0] | bits[1] | bits[2] | bits[3]) != 0;
}

#if defined(__x86_64__) && !defined(MOREAU_PLAIN)
#define MOR_WIDE_CHOICE(name) (__builtin_cpu_supports("avx2") ? name##_avx2 : name##_plain)
#define MOR_WIDE(scope, type, name, parameters, arguments)                                                             \
    static type name##_plain parameters { return name##_body arguments; }                                              \
    __attribute__((target("avx2"))) static type name##_avx2 parameters { return name##_body arguments; }               \
    scope type name parameters { return MOR_WIDE_CHOICE(name) arguments; }
#define MOR_WIDE_VOID(scope, name, parameters, arguments)                                                              \
    static void name##_plain parameters { name##_body arguments; }                                                     \
    __attribute__((target("avx2"))) static void name##_avx2 parameters { name##_body arguments; }                      \
    scope void name parameters { MOR_WIDE_CHOICE(name) arguments; }
#else
#define MOR_WIDE(scope, type, name, parameters, arguments)                                                             \
    scope type name parameters { return name##_body arguments; }
#define MOR_WIDE_VOID(scope, name, parameters, arguments)                                                              \
    scope void name parameters { name##_body arguments; }
#endif

#endif
