/* The innermost loops of the Armv6-M matrix tile. Assembly, as both compilers spill here: of the
 * low registers, which alone can load and multiply, the loop leaves one free. Sums are added to in
 * high registers. The plain-C twins have the same names and results. */
#ifndef RUSHLIGHT_KERNELS_COMMON_DOT_V6M_H
#define RUSHLIGHT_KERNELS_COMMON_DOT_V6M_H

#include <stdint.h>

/* Without optimisation there are no registers to spare, and GCC's -Os keeps off the high ones. */
#if defined(__thumb__) && defined(__OPTIMIZE__) && !defined(__OPTIMIZE_SIZE__)

/* sums += {x0.w0, x0.w1, x1.w0, x1.w1}; depth >= 1. 16 instructions for 4 products. */
static inline void rl_dot_2x2(const int8_t *x0, const int8_t *x1, const int8_t *w0,
                              const int8_t *w1, int32_t depth, int32_t sums[4]) {
    int32_t s00 = sums[0], s01 = sums[1], s10 = sums[2], s11 = sums[3];
    int32_t k = -depth, x, w, keep; /* one index from the ends up to 0 serves all four */
    __asm__(
        ".syntax unified\n"
        "1:\n\t"
        "ldrsb %[x], [%[x0], %[k]]\n\t"
        "ldrsb %[w], [%[w0], %[k]]\n\t"
        "mov %[keep], %[w]\n\t"
        "muls %[w], %[x], %[w]\n\t"
        "add %[s00], %[w]\n\t"
        "ldrsb %[w], [%[w1], %[k]]\n\t"
        "muls %[x], %[w], %[x]\n\t"
        "add %[s01], %[x]\n\t"
        "ldrsb %[x], [%[x1], %[k]]\n\t"
        "muls %[w], %[x], %[w]\n\t"
        "add %[s11], %[w]\n\t"
        "mov %[w], %[keep]\n\t"
        "muls %[w], %[x], %[w]\n\t"
        "add %[s10], %[w]\n\t"
        "adds %[k], #1\n\t"
        "bne 1b"
        : [k] "+l"(k), [s00] "+h"(s00), [s01] "+h"(s01), [s10] "+h"(s10), [s11] "+h"(s11),
          [x] "=&l"(x), [w] "=&l"(w), [keep] "=&h"(keep)
        : [x0] "l"(x0 + depth), [x1] "l"(x1 + depth), [w0] "l"(w0 + depth), [w1] "l"(w1 + depth)
        : "cc", "memory");
    sums[0] = s00;
    sums[1] = s01;
    sums[2] = s10;
    sums[3] = s11;
}

/* sums += {x.w0, x.w1}; depth >= 1. 9 instructions for 2 products. */
static inline void rl_dot_1x2(const int8_t *x, const int8_t *w0, const int8_t *w1, int32_t depth,
                              int32_t sums[2]) {
    int32_t s0 = sums[0], s1 = sums[1];
    int32_t k = -depth, value, product;
    __asm__(
        ".syntax unified\n"
        "1:\n\t"
        "ldrsb %[value], [%[x], %[k]]\n\t"
        "ldrsb %[product], [%[w0], %[k]]\n\t"
        "muls %[product], %[value], %[product]\n\t"
        "add %[s0], %[product]\n\t"
        "ldrsb %[product], [%[w1], %[k]]\n\t"
        "muls %[product], %[value], %[product]\n\t"
        "add %[s1], %[product]\n\t"
        "adds %[k], #1\n\t"
        "bne 1b"
        : [k] "+l"(k), [s0] "+h"(s0), [s1] "+h"(s1), [value] "=&l"(value), [product] "=&l"(product)
        : [x] "l"(x + depth), [w0] "l"(w0 + depth), [w1] "l"(w1 + depth)
        : "cc", "memory");
    sums[0] = s0;
    sums[1] = s1;
}

#else
#include "common/dot_twin.h"
#endif

#endif
