/* For bodies compiled once per constant argument (a contact's dimension, an instruction set): trip counts the compiler
 * knows are worth a factor of two in the innermost loops. */
#ifndef MOR_BASE_INLINE_H
#define MOR_BASE_INLINE_H

#if defined(__GNUC__)
#define MOR_ALWAYS_INLINE static inline __attribute__((always_inline))
#define MOR_NEVER_INLINE __attribute__((noinline)) /* rare ways: their registers are not saved on the others */
#else
#define MOR_ALWAYS_INLINE static inline
#define MOR_NEVER_INLINE
#endif

#endif
