/* The innermost loops of the MVE matrix tile: sums of products of rows of bytes, at any alignment
 * and of any length. Assembly, as GCC makes no tail-predicated loops (DLSTP/LETP); VMLADAVA's sum
 * sits in an even register (constraint Te). Loads and multiplies alternate, so that they overlap.
 * The plain-C twins (dot_twin.h) have the same names and results. */
#ifndef RUSHLIGHT_KERNELS_COMMON_DOT_MVE_H
#define RUSHLIGHT_KERNELS_COMMON_DOT_MVE_H

#include <stdint.h>

/* Without optimisation there are no registers to spare. */
#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 1) && defined(__OPTIMIZE__)

/* 2 rows and 2 channels, 16 taps a turn: 9 instructions for 64 products. */
#define RL_LOOP_2X2                  \
    "dlstp.8 lr, %[depth]\n"         \
    "1:\n\t"                         \
    "vldrb.8 q0, [%[x0]], #16\n\t"   \
    "vldrb.8 q1, [%[w0]], #16\n\t"   \
    "vmladava.s8 %[s00], q0, q1\n\t" \
    "vldrb.8 q2, [%[x1]], #16\n\t"   \
    "vmladava.s8 %[s10], q2, q1\n\t" \
    "vldrb.8 q3, [%[w1]], #16\n\t"   \
    "vmladava.s8 %[s01], q0, q3\n\t" \
    "vmladava.s8 %[s11], q2, q3\n\t" \
    "letp lr, 1b\n\t"

/* sums += {x0.w0, x0.w1, x1.w0, x1.w1}; depth >= 1. */
static inline void rl_dot_2x2(const int8_t *x0, const int8_t *x1, const int8_t *w0,
                              const int8_t *w1, int32_t depth, int32_t sums[4]) {
    int32_t s00 = sums[0], s01 = sums[1], s10 = sums[2], s11 = sums[3];
    __asm__(RL_LOOP_2X2
            : [x0] "+r"(x0), [x1] "+r"(x1), [w0] "+r"(w0), [w1] "+r"(w1), [s00] "+Te"(s00),
              [s01] "+Te"(s01), [s10] "+Te"(s10), [s11] "+Te"(s11)
            : [depth] "r"(depth)
            : "q0", "q1", "q2", "q3", "lr", "memory");
    sums[0] = s00;
    sums[1] = s01;
    sums[2] = s10;
    sums[3] = s11;
}

/* Both rows with four channels whose weights w lie one after another, depth bytes each:
 * sums[row][channel] = bias[channel] + x.w; depth >= 1. Between the two loops the pointers, which
 * have moved on by whole vectors, are set to the next two channels. */
static inline void rl_dot_2x4(const int8_t *x0, const int8_t *x1, const int8_t *w, int32_t depth,
                              const int32_t bias[4], int32_t sums[2][4]) {
    const int8_t *w0 = w, *w1 = w + depth;
    const int32_t moved = (depth + 15) & ~15;
    int32_t s00, s01, s10, s11;
    __asm__ volatile(/* its results are in memory alone */

                     "ldrd %[s00], %[s01], [%[bias]]\n\t"
                     "mov %[s10], %[s00]\n\t"
                     "mov %[s11], %[s01]\n\t" RL_LOOP_2X2
                     "strd %[s00], %[s01], [%[sums]]\n\t"
                     "strd %[s10], %[s11], [%[sums], #16]\n\t"
                     "sub %[x0], %[moved]\n\t"
                     "sub %[x1], %[moved]\n\t"
                     "sub %[w0], %[w1], %[moved]\n\t"
                     "add %[w0], %[depth]\n\t"
                     "add %[w1], %[w0], %[depth]\n\t"
                     "ldrd %[s00], %[s01], [%[bias], #8]\n\t"
                     "mov %[s10], %[s00]\n\t"
                     "mov %[s11], %[s01]\n\t" RL_LOOP_2X2
                     "strd %[s00], %[s01], [%[sums], #8]\n\t"
                     "strd %[s10], %[s11], [%[sums], #24]"
                     : [x0] "+r"(x0), [x1] "+r"(x1), [w0] "+r"(w0), [w1] "+r"(w1),
                       [s00] "=&Te"(s00), [s01] "=&Te"(s01), [s10] "=&Te"(s10), [s11] "=&Te"(s11)
                     : [depth] "r"(depth), [moved] "r"(moved), [bias] "r"(bias), [sums] "r"(sums)
                     : "q0", "q1", "q2", "q3", "lr", "memory");
}

#undef RL_LOOP_2X2

/* sums += {x.w0, x.w1, x.w2, x.w3}; depth >= 1. */
static inline void rl_dot_1x4(const int8_t *x, const int8_t *w0, const int8_t *w1, const int8_t *w2,
                              const int8_t *w3, int32_t depth, int32_t sums[4]) {
    int32_t s0 = sums[0], s1 = sums[1], s2 = sums[2], s3 = sums[3];
    __asm__(
        "dlstp.8 lr, %[depth]\n"
        "1:\n\t"
        "vldrb.8 q0, [%[x]], #16\n\t"
        "vldrb.8 q1, [%[w0]], #16\n\t"
        "vmladava.s8 %[s0], q0, q1\n\t"
        "vldrb.8 q2, [%[w1]], #16\n\t"
        "vmladava.s8 %[s1], q0, q2\n\t"
        "vldrb.8 q1, [%[w2]], #16\n\t"
        "vmladava.s8 %[s2], q0, q1\n\t"
        "vldrb.8 q2, [%[w3]], #16\n\t"
        "vmladava.s8 %[s3], q0, q2\n\t"
        "letp lr, 1b"
        : [x] "+r"(x), [w0] "+r"(w0), [w1] "+r"(w1), [w2] "+r"(w2), [w3] "+r"(w3), [s0] "+Te"(s0),
          [s1] "+Te"(s1), [s2] "+Te"(s2), [s3] "+Te"(s3)
        : [depth] "r"(depth)
        : "q0", "q1", "q2", "lr", "memory");
    sums[0] = s0;
    sums[1] = s1;
    sums[2] = s2;
    sums[3] = s3;
}

#else
#include "common/dot_twin.h"

static inline void rl_dot_2x4(const int8_t *x0, const int8_t *x1, const int8_t *w, int32_t depth,
                              const int32_t bias[4], int32_t sums[2][4]) {
    for (int32_t i = 0; i < 4; i++) {
        sums[0][i] = bias[i] + rl_dot(x0, w + i * depth, depth);
        sums[1][i] = bias[i] + rl_dot(x1, w + i * depth, depth);
    }
}
#endif

#endif
