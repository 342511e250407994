/* The innermost loops of the MVE matrix tile: sums of products of rows of bytes, at any alignment
 * and of any length. Assembly, as GCC makes no tail-predicated loops (DLSTP/LETP); VMLADAVA's sum
 * sits in an even register (constraint Te). Loads and multiplies alternate, so that they overlap.
 * The plain-C twins (dot_twin.h) have the same names and results. */
#ifndef RUSHLIGHT_KERNELS_COMMON_DOT_MVE_H
#define RUSHLIGHT_KERNELS_COMMON_DOT_MVE_H

#include <stdint.h>

#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 1)

/* sums += {x0.w0, x0.w1, x1.w0, x1.w1}; depth >= 1. */
static inline void rl_dot_2x2(const int8_t *x0, const int8_t *x1, const int8_t *w0,
                              const int8_t *w1, int32_t depth, int32_t sums[4]) {
    int32_t s00 = sums[0], s01 = sums[1], s10 = sums[2], s11 = sums[3];
    __asm__(
        "dlstp.8 lr, %[depth]\n"
        "1:\n\t"
        "vldrb.8 q0, [%[x0]], #16\n\t"
        "vldrb.8 q1, [%[w0]], #16\n\t"
        "vmladava.s8 %[s00], q0, q1\n\t"
        "vldrb.8 q2, [%[x1]], #16\n\t"
        "vmladava.s8 %[s10], q2, q1\n\t"
        "vldrb.8 q3, [%[w1]], #16\n\t"
        "vmladava.s8 %[s01], q0, q3\n\t"
        "vmladava.s8 %[s11], q2, q3\n\t"
        "letp lr, 1b"
        : [x0] "+r"(x0), [x1] "+r"(x1), [w0] "+r"(w0), [w1] "+r"(w1), [s00] "+Te"(s00),
          [s01] "+Te"(s01), [s10] "+Te"(s10), [s11] "+Te"(s11)
        : [depth] "r"(depth)
        : "q0", "q1", "q2", "q3", "lr", "memory");
    sums[0] = s00;
    sums[1] = s01;
    sums[2] = s10;
    sums[3] = s11;
}

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
#endif

#endif
