/* Axes, see axis.h.
 *
 * Ticks of a linear axis are multiples of s = {1, 2, 5} 10^k, the smallest s with at most `wanted`
 * intervals. Their labels have as many decimals as s needs. When all numbers on the axis are small or
 * large they are shown in units of 10^(3k), which the caller joins with the unit as an SI prefix. */
#include "plot/axis.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Numbers beyond these are drawn at them: ticks and spans stay finite. */
#define LARGEST 1e290
#define SMALLEST 1e-290
/* A range may exceed its last tick by this part of an interval, less than a pixel: rounding below zero
 * must not open a whole interval of negative numbers. */
#define SLACK 0.005

static double round_step(double span, int wanted)
{
    double raw = span / wanted, power = pow(10.0, floor(log10(raw))), f = raw / power;
    return power * (f <= 1.0 + 1e-9 ? 1.0 : f <= 2.0 + 1e-9 ? 2.0 : f <= 5.0 + 1e-9 ? 5.0 : 10.0);
}

/* Zero and everything from 0.1 to 9999 stays as it is. */
static int common_exponent(double largest)
{
    if (!(largest > 0.0) || (largest >= 0.0999 && largest < 1e4)) return 0;
    int e = 3 * (int)floor(log10(largest * 1.0000001) / 3.0);
    return e < -15 ? -15 : e > 9 ? 9 : e;
}

static void linear_ticks(mor_plot_axis* a, bool fit, bool scaled, int wanted)
{
    double step = round_step(a->high - a->low, wanted);
    if (!fit) {
        a->low = step * floor(a->low / step + SLACK);
        a->high = step * ceil(a->high / step - SLACK);
    }
    a->exponent = scaled ? common_exponent(fmax(fabs(a->low), fabs(a->high))) : 0;
    double unit = pow(10.0, a->exponent);
    int decimals = (int)fmax(0.0, -floor(log10(step / unit) + 1e-9));
    if (decimals > 9) decimals = 9;
    double first = ceil(a->low / step - 1e-9);
    for (int i = 0; a->tick_count < MOR_AXIS_TICKS; i++) {
        double t = step * (first + i);
        if (t > a->high + 1e-9 * step) break;
        if (fabs(t) < 1e-9 * step) t = 0.0;
        a->tick[a->tick_count] = t;
        char* label = a->label[a->tick_count++];
        snprintf(label, sizeof a->label[0], "%.*f", decimals, t / unit);
        if (label[0] == '-') { /* a true minus sign is as wide as a digit */
            char rest[sizeof a->label[0]];
            snprintf(rest, sizeof rest, "%s", label + 1);
            snprintf(label, sizeof a->label[0], "\xe2\x88\x92%.12s", rest);
        }
    }
}

static void log_ticks(mor_plot_axis* a, int wanted)
{
    int first = (int)floor(log10(a->low) + 1e-9), last = (int)ceil(log10(a->high) - 1e-9);
    if (last <= first) last = first + 1;
    a->low = pow(10.0, first);
    a->high = pow(10.0, last);
    int stride = 1;
    while ((last - first) / stride > wanted) stride++;
    for (int k = first; k <= last && a->tick_count < MOR_AXIS_TICKS; k += stride) {
        a->tick[a->tick_count] = pow(10.0, k);
        snprintf(a->label[a->tick_count++], sizeof a->label[0], k < 0 ? "\xe2\x88\x92%d" : "%d", k < 0 ? -k : k);
    }
}

mor_plot_axis mor_plot_axis_make(double low, double high, bool log, bool fit, bool scaled, int wanted)
{
    mor_plot_axis a = { .log = log };
    if (!isfinite(low) || !isfinite(high) || low > high) {
        low = log ? 0.1 : 0.0;
        high = 1.0;
    }
    low = fmax(-LARGEST, fmin(LARGEST, low));
    high = fmax(-LARGEST, fmin(LARGEST, high));
    if (fabs(low) < SMALLEST) low = 0.0;
    if (fabs(high) < SMALLEST) high = 0.0;
    if (log) {
        a.low = fmax(low, SMALLEST);
        a.high = fmax(high, a.low);
        log_ticks(&a, wanted);
        return a;
    }
    double size = fmax(fabs(low), fabs(high));
    if (!(high - low > 1e-12 * size)) { /* constant: show it in the middle, never as magnified rounding */
        double room = size > 0.0 ? 0.1 * size : 1.0;
        low = low >= 0.0 && size == 0.0 ? 0.0 : low - room;
        high += room;
    }
    a.low = low;
    a.high = high;
    linear_ticks(&a, fit, scaled, wanted);
    return a;
}

double mor_plot_axis_place(const mor_plot_axis* a, double value)
{
    if (!a->log) return (value - a->low) / (a->high - a->low);
    if (!(value > 0.0)) return NAN;
    return (log10(value) - log10(a->low)) / (log10(a->high) - log10(a->low));
}

static void superscript(int value, char* text, size_t size)
{
    static const char* const digit[] = {
        "\xe2\x81\xb0", "\xc2\xb9",     "\xc2\xb2",     "\xc2\xb3",     "\xe2\x81\xb4",
        "\xe2\x81\xb5", "\xe2\x81\xb6", "\xe2\x81\xb7", "\xe2\x81\xb8", "\xe2\x81\xb9"
    };
    char plain[16];
    snprintf(plain, sizeof plain, "%d", value);
    size_t used = 0;
    text[0] = '\0';
    for (const char* c = plain; *c && used + 4 < size; c++)
        used += (size_t)snprintf(text + used, size - used, "%s", *c == '-' ? "\xe2\x81\xbb" : digit[*c - '0']);
}

void mor_plot_axis_unit(const char* unit, int exponent, char* text, size_t size)
{
    static const char* const prefix[] = { "f", "p", "n", "\xc2\xb5", "m", "", "k", "M", "G" };
    if (unit[0]) {
        snprintf(text, size, "[%s%s]", prefix[exponent / 3 + 5], unit);
    } else if (exponent) {
        char power[32];
        superscript(exponent, power, sizeof power);
        snprintf(text, size, "[\xc3\x97 10%s]", power);
    } else {
        text[0] = '\0';
    }
}
