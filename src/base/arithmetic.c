/* The arithmetic of the processor, see moreau/base.h: the control word of the unit that computes doubles.
 *
 *   x86-64   MXCSR: rounding in bits 13 and 14, flush to zero in 15, denormals are zero in 6, masks of traps in 7 to
 *            12; and the control word of the old unit, which the C library asks for the rounding when it reads numbers
 *   AArch64  FPCR: rounding in bits 22 and 23, flush to zero in 24, traps in 8 to 15
 *   others   rounding only, by the C library */
#include "moreau/base.h"

#if defined(__SSE2__)
#include <xmmintrin.h>

enum { USUAL = 0x1f80, FLAGS = 0x3f, OLD_USUAL = 0x037f }; /* all traps masked, to nearest, subnormal numbers kept */

static uint16_t old_unit(void)
{
    uint16_t word;
    __asm__ volatile("fnstcw %0" : "=m"(word));
    return word;
}

static void set_old_unit(uint16_t word) { __asm__ volatile("fldcw %0" : : "m"(word)); }

mor_arithmetic mor_arithmetic_enter(void)
{
    mor_arithmetic host = { .control = _mm_getcsr() | (uint64_t)old_unit() << 32 };
    host.changed = (host.control & ~(uint64_t)FLAGS) != (USUAL | (uint64_t)OLD_USUAL << 32);
    if (host.changed) {
        _mm_setcsr(USUAL);
        set_old_unit(OLD_USUAL);
    }
    return host;
}

void mor_arithmetic_leave(mor_arithmetic host)
{
    if (!host.changed) return;
    _mm_setcsr((unsigned)host.control);
    set_old_unit((uint16_t)(host.control >> 32));
}

#elif defined(__aarch64__)

mor_arithmetic mor_arithmetic_enter(void)
{
    mor_arithmetic host = { 0 };
    __asm__ volatile("mrs %0, fpcr" : "=r"(host.control));
    host.changed = host.control != 0;
    if (host.changed) __asm__ volatile("msr fpcr, %0" : : "r"((uint64_t)0));
    return host;
}

void mor_arithmetic_leave(mor_arithmetic host)
{
    if (host.changed) __asm__ volatile("msr fpcr, %0" : : "r"(host.control));
}

#else
#include <fenv.h>

mor_arithmetic mor_arithmetic_enter(void)
{
    mor_arithmetic host = { .control = (uint64_t)fegetround() };
    host.changed = host.control != FE_TONEAREST;
    if (host.changed) fesetround(FE_TONEAREST);
    return host;
}

void mor_arithmetic_leave(mor_arithmetic host)
{
    if (host.changed) fesetround((int)host.control);
}

#endif
