/* The innermost loops of the Armv7-M matrix tile. Assembly, as compilers spill here; loads move the
 * pointers on. The plain-C twins have the same names and results. */
#ifndef RUSHLIGHT_KERNELS_COMMON_DOT_V7M_H
#define RUSHLIGHT_KERNELS_COMMON_DOT_V7M_H

#include <stdint.h>

/* Without optimisation there are no registers to spare. */
#if defined(__thumb2__) && defined(__OPTIMIZE__)

/* One tap of 2 rows and 2 channels: 8 instructions for 4 products. */
#define RL_TAP_2X2                       \
    "ldrsb %[a], [%[x0]], #1\n\t"        \
    "ldrsb %[w], [%[w0]], #1\n\t"        \
    "mla %[s00], %[a], %[w], %[s00]\n\t" \
    "ldrsb %[b], [%[x1]], #1\n\t"        \
    "mla %[s10], %[b], %[w], %[s10]\n\t" \
    "ldrsb %[w], [%[w1]], #1\n\t"        \
    "mla %[s01], %[a], %[w], %[s01]\n\t" \
    "mla %[s11], %[b], %[w], %[s11]\n\t"

/* sums += {x0.w0, x0.w1, x1.w0, x1.w1}; depth >= 1. */
static inline void rl_dot_2x2(const int8_t *x0, const int8_t *x1, const int8_t *w0,
                              const int8_t *w1, int32_t depth, int32_t sums[4]) {
    int32_t s00 = sums[0], s01 = sums[1], s10 = sums[2], s11 = sums[3];
    int32_t left = depth, a, b, w;
    __asm__(
        "subs %[left], #4\n\t"
        "blt 2f\n"
        "1:\n\t" RL_TAP_2X2 RL_TAP_2X2 RL_TAP_2X2 RL_TAP_2X2
        "subs %[left], #4\n\t"
        "bge 1b\n"
        "2:\n\t"
        "adds %[left], #4\n\t"
        "beq 4f\n"
        "3:\n\t" RL_TAP_2X2
        "subs %[left], #1\n\t"
        "bne 3b\n"
        "4:"
        : [x0] "+r"(x0), [x1] "+r"(x1), [w0] "+r"(w0), [w1] "+r"(w1), [left] "+r"(left),
          [s00] "+r"(s00), [s01] "+r"(s01), [s10] "+r"(s10), [s11] "+r"(s11), [a] "=&r"(a),
          [b] "=&r"(b), [w] "=&r"(w)
        :
        : "cc", "memory");
    sums[0] = s00;
    sums[1] = s01;
    sums[2] = s10;
    sums[3] = s11;
}

#undef RL_TAP_2X2

/* One tap of 1 row and 4 channels: 9 instructions for 4 products. */
#define RL_TAP_1X4                     \
    "ldrsb %[a], [%[x]], #1\n\t"       \
    "ldrsb %[w], [%[w0]], #1\n\t"      \
    "mla %[s0], %[a], %[w], %[s0]\n\t" \
    "ldrsb %[w], [%[w1]], #1\n\t"      \
    "mla %[s1], %[a], %[w], %[s1]\n\t" \
    "ldrsb %[w], [%[w2]], #1\n\t"      \
    "mla %[s2], %[a], %[w], %[s2]\n\t" \
    "ldrsb %[w], [%[w3]], #1\n\t"      \
    "mla %[s3], %[a], %[w], %[s3]\n\t"

/* sums += {x.w0, x.w1, x.w2, x.w3}; depth >= 1. */
static inline void rl_dot_1x4(const int8_t *x, const int8_t *w0, const int8_t *w1, const int8_t *w2,
                              const int8_t *w3, int32_t depth, int32_t sums[4]) {
    int32_t s0 = sums[0], s1 = sums[1], s2 = sums[2], s3 = sums[3];
    int32_t left = depth, a, w;
    /* Armv8.1-M: keeps GCC from a low-overhead loop around, which would take LR from the operands. */
    __asm__ volatile("" ::: "lr");
    __asm__(
        "subs %[left], #4\n\t"
        "blt 2f\n"
        "1:\n\t" RL_TAP_1X4 RL_TAP_1X4 RL_TAP_1X4 RL_TAP_1X4
        "subs %[left], #4\n\t"
        "bge 1b\n"
        "2:\n\t"
        "adds %[left], #4\n\t"
        "beq 4f\n"
        "3:\n\t" RL_TAP_1X4
        "subs %[left], #1\n\t"
        "bne 3b\n"
        "4:"
        : [x] "+r"(x), [w0] "+r"(w0), [w1] "+r"(w1), [w2] "+r"(w2), [w3] "+r"(w3),
          [left] "+r"(left), [s0] "+r"(s0), [s1] "+r"(s1), [s2] "+r"(s2), [s3] "+r"(s3),
          [a] "=&r"(a), [w] "=&r"(w)
        :
        : "cc", "memory");
    sums[0] = s0;
    sums[1] = s1;
    sums[2] = s2;
    sums[3] = s3;
}

#undef RL_TAP_1X4

/* sums += {x.w0, x.w1}; depth >= 1. 7 instructions for 2 products. */
static inline void rl_dot_1x2(const int8_t *x, const int8_t *w0, const int8_t *w1, int32_t depth,
                              int32_t sums[2]) {
    int32_t s0 = sums[0], s1 = sums[1];
    int32_t left = depth, a, w;
    __asm__(
        "1:\n\t"
        "ldrsb %[a], [%[x]], #1\n\t"
        "ldrsb %[w], [%[w0]], #1\n\t"
        "mla %[s0], %[a], %[w], %[s0]\n\t"
        "ldrsb %[w], [%[w1]], #1\n\t"
        "mla %[s1], %[a], %[w], %[s1]\n\t"
        "subs %[left], #1\n\t"
        "bne 1b"
        : [x] "+r"(x), [w0] "+r"(w0), [w1] "+r"(w1), [left] "+r"(left), [s0] "+r"(s0),
          [s1] "+r"(s1), [a] "=&r"(a), [w] "=&r"(w)
        :
        : "cc", "memory");
    sums[0] = s0;
    sums[1] = s1;
}

#else
#include "common/dot_twin.h"
#endif

#endif
