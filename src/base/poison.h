/* Memory that must not be touched, told to AddressSanitizer; nothing in other builds.
 *
 * Scratch memory is handed out from one block, so the sanitizer sees neither an index beyond a piece nor the use of a
 * piece that was given back, unless it is told where pieces end. Then MOR_GUARD bytes lie between two pieces. */
#ifndef MOREAU_BASE_POISON_H
#define MOREAU_BASE_POISON_H

#if defined(__has_feature)
#if __has_feature(address_sanitizer) && !defined(__SANITIZE_ADDRESS__)
#define __SANITIZE_ADDRESS__ 1
#endif
#endif

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
enum { MOR_GUARD = 64 };
#define MOR_POISON(from, size) ASAN_POISON_MEMORY_REGION(from, size)
#define MOR_UNPOISON(from, size) ASAN_UNPOISON_MEMORY_REGION(from, size)
#else
enum { MOR_GUARD = 0 };
#define MOR_POISON(from, size) ((void)(from), (void)(size))
#define MOR_UNPOISON(from, size) ((void)(from), (void)(size))
#endif

#endif
