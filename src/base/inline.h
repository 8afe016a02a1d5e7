/* For bodies compiled once per constant argument (a contact's dimension, an instruction set): trip counts the compiler
 * knows are worth a factor of two in the innermost loops. Builds that count lines (scripts/coverage) compile each body
 * once: a copy per constant is no place of its own in the source. */
#ifndef MOR_BASE_INLINE_H
#define MOR_BASE_INLINE_H

#if defined(__GNUC__) && !defined(MOREAU_COVERAGE)
#define MOR_ALWAYS_INLINE static inline __attribute__((always_inline))
#define MOR_NEVER_INLINE __attribute__((noinline)) /* rare ways: their registers are not saved on the others */
#else
#define MOR_ALWAYS_INLINE static inline
#define MOR_NEVER_INLINE
#endif

#endif
