/* |a - b| <= tolerance, with both numbers in the message; fails on NaN. Include after cmocka.h. */
#ifndef MOR_TESTS_NEAR_H
#define MOR_TESTS_NEAR_H

#include <math.h>

#define assert_near(a, b, tolerance)                                                                                   \
    do {                                                                                                               \
        double near_a = (a), near_b = (b);                                                                             \
        if (!(fabs(near_a - near_b) <= (tolerance)))                                                                   \
            fail_msg("%s = %.17g, expected %.17g (difference %g)", #a, near_a, near_b, near_a - near_b);               \
    } while (0)

#endif
