/* The innermost loops of the DSP matrix tile. x are rows widened to pairs of int16 in SXTB16's
 * order (bytes 0 and 2, then 1 and 3 of each four), w weights of two channels, four bytes a channel
 * in turn; both aligned to 4 (a row of bytes that was not widened may lie anywhere). Assembly, as compilers spill here. Quads are groups of four taps. */
#ifndef RUSHLIGHT_KERNELS_COMMON_DOT_DSP_H
#define RUSHLIGHT_KERNELS_COMMON_DOT_DSP_H

#include <stdint.h>

#include "common/simd_dsp.h"

#if defined(__ARM_FEATURE_DSP) && __ARM_FEATURE_DSP

/* Four taps of 2 rows and 2 channels: 15 instructions for 16 products. */
#define RL_QUAD_2X2                         \
    "ldrd %[w0], %[w1], [%[w]], #8\n\t"     \
    "ldrd %[x0], %[x1], [%[x]], #8\n\t"     \
    "sxtb16 %[a], %[w0]\n\t"                \
    "sxtb16 %[b], %[w1]\n\t"                \
    "smlad %[s00], %[x0], %[a], %[s00]\n\t" \
    "smlad %[s01], %[x0], %[b], %[s01]\n\t" \
    "smlad %[s10], %[x1], %[a], %[s10]\n\t" \
    "smlad %[s11], %[x1], %[b], %[s11]\n\t" \
    "ldrd %[x0], %[x1], [%[x]], #8\n\t"     \
    "sxtb16 %[a], %[w0], ror #8\n\t"        \
    "sxtb16 %[b], %[w1], ror #8\n\t"        \
    "smlad %[s00], %[x0], %[a], %[s00]\n\t" \
    "smlad %[s01], %[x0], %[b], %[s01]\n\t" \
    "smlad %[s10], %[x1], %[a], %[s10]\n\t" \
    "smlad %[s11], %[x1], %[b], %[s11]\n\t"

/* sums += {x0.w0, x0.w1, x1.w0, x1.w1}, the two rows of x in turn, a word each; quads >= 1. Returns
 * the end of the weights. */
static inline const rl_word *rl_dot_quads_2x2(const rl_word *x, const rl_word *w, int32_t quads,
                                              int32_t sums[4]) {
    int32_t s00 = sums[0], s01 = sums[1], s10 = sums[2], s11 = sums[3];
    uint32_t x0, x1, w0, w1, a, b;
    __asm__(
        "subs %[quads], #2\n\t"
        "blt 2f\n"
        "1:\n\t" RL_QUAD_2X2 RL_QUAD_2X2
        "subs %[quads], #2\n\t"
        "bge 1b\n"
        "2:\n\t"
        "adds %[quads], #2\n\t"
        "beq 3f\n\t" RL_QUAD_2X2 "3:"
        : [x] "+r"(x), [w] "+r"(w), [quads] "+r"(quads), [s00] "+r"(s00), [s01] "+r"(s01),
          [s10] "+r"(s10), [s11] "+r"(s11), [x0] "=&r"(x0), [x1] "=&r"(x1), [w0] "=&r"(w0),
          [w1] "=&r"(w1), [a] "=&r"(a), [b] "=&r"(b)
        :
        : "cc", "memory");
    sums[0] = s00;
    sums[1] = s01;
    sums[2] = s10;
    sums[3] = s11;
    return w;
}

#undef RL_QUAD_2X2

/* Four taps of 1 row and 2 channels: 10 instructions for 8 products. */
#define RL_QUAD_1X2                       \
    "ldrd %[w0], %[w1], [%[w]], #8\n\t"   \
    "ldrd %[x0], %[x1], [%[x]], #8\n\t"   \
    "sxtb16 %[a], %[w0]\n\t"              \
    "sxtb16 %[b], %[w1]\n\t"              \
    "smlad %[s0], %[x0], %[a], %[s0]\n\t" \
    "smlad %[s1], %[x0], %[b], %[s1]\n\t" \
    "sxtb16 %[a], %[w0], ror #8\n\t"      \
    "sxtb16 %[b], %[w1], ror #8\n\t"      \
    "smlad %[s0], %[x1], %[a], %[s0]\n\t" \
    "smlad %[s1], %[x1], %[b], %[s1]\n\t"

/* sums += {x.w0, x.w1}; quads >= 1. Returns the end of the weights. */
static inline const rl_word *rl_dot_quads_1x2(const rl_word *x, const rl_word *w, int32_t quads,
                                              int32_t sums[2]) {
    int32_t s0 = sums[0], s1 = sums[1];
    uint32_t x0, x1, w0, w1, a, b;
    __asm__(
        "subs %[quads], #4\n\t"
        "blt 2f\n"
        "1:\n\t" RL_QUAD_1X2 RL_QUAD_1X2 RL_QUAD_1X2 RL_QUAD_1X2
        "subs %[quads], #4\n\t"
        "bge 1b\n"
        "2:\n\t"
        "adds %[quads], #4\n\t"
        "beq 4f\n"
        "3:\n\t" RL_QUAD_1X2
        "subs %[quads], #1\n\t"
        "bne 3b\n"
        "4:"
        : [x] "+r"(x), [w] "+r"(w), [quads] "+r"(quads), [s0] "+r"(s0), [s1] "+r"(s1),
          [x0] "=&r"(x0), [x1] "=&r"(x1), [w0] "=&r"(w0), [w1] "=&r"(w1), [a] "=&r"(a), [b] "=&r"(b)
        :
        : "cc", "memory");
    sums[0] = s0;
    sums[1] = s1;
    return w;
}

#undef RL_QUAD_1X2

/* Four taps of 1 row of bytes and 2 channels: 12 instructions for 8 products. */
#define RL_QUAD_BYTES_1X2                 \
    "ldr %[x0], [%[x]], #4\n\t"           \
    "ldrd %[w0], %[w1], [%[w]], #8\n\t"   \
    "sxtb16 %[x1], %[x0]\n\t"             \
    "sxtb16 %[a], %[w0]\n\t"              \
    "sxtb16 %[b], %[w1]\n\t"              \
    "smlad %[s0], %[x1], %[a], %[s0]\n\t" \
    "smlad %[s1], %[x1], %[b], %[s1]\n\t" \
    "sxtb16 %[x0], %[x0], ror #8\n\t"     \
    "sxtb16 %[a], %[w0], ror #8\n\t"      \
    "sxtb16 %[b], %[w1], ror #8\n\t"      \
    "smlad %[s0], %[x0], %[a], %[s0]\n\t" \
    "smlad %[s1], %[x0], %[b], %[s1]\n\t"

/* sums += {x.w0, x.w1} of a row as it is, anywhere; quads >= 0. Returns the end of the weights. */
static inline const rl_word *rl_dot_bytes_1x2(const int8_t *x, const rl_word *w, int32_t quads,
                                              int32_t sums[2]) {
    int32_t s0 = sums[0], s1 = sums[1];
    uint32_t x0, x1, w0, w1, a, b;
    __asm__(
        "subs %[quads], #4\n\t"
        "blt 2f\n"
        "1:\n\t" RL_QUAD_BYTES_1X2 RL_QUAD_BYTES_1X2 RL_QUAD_BYTES_1X2 RL_QUAD_BYTES_1X2
        "subs %[quads], #4\n\t"
        "bge 1b\n"
        "2:\n\t"
        "adds %[quads], #4\n\t"
        "beq 4f\n"
        "3:\n\t" RL_QUAD_BYTES_1X2
        "subs %[quads], #1\n\t"
        "bne 3b\n"
        "4:"
        : [x] "+r"(x), [w] "+r"(w), [quads] "+r"(quads), [s0] "+r"(s0), [s1] "+r"(s1),
          [x0] "=&r"(x0), [x1] "=&r"(x1), [w0] "=&r"(w0), [w1] "=&r"(w1), [a] "=&r"(a), [b] "=&r"(b)
        :
        : "cc", "memory");
    sums[0] = s0;
    sums[1] = s1;
    return w;
}

#undef RL_QUAD_BYTES_1X2

#else

static inline const rl_word *rl_dot_quads_1x2(const rl_word *x, const rl_word *w, int32_t quads,
                                              int32_t sums[2]) {
    for (int32_t k = 0; k < quads; k++) {
        sums[0] = rl_smlad(x[0], rl_sxtb16(w[0]), sums[0]);
        sums[1] = rl_smlad(x[0], rl_sxtb16(w[1]), sums[1]);
        sums[0] = rl_smlad(x[1], rl_sxtb16_ror8(w[0]), sums[0]);
        sums[1] = rl_smlad(x[1], rl_sxtb16_ror8(w[1]), sums[1]);
        x += 2;
        w += 2;
    }
    return w;
}

static inline const rl_word *rl_dot_bytes_1x2(const int8_t *x, const rl_word *w, int32_t quads,
                                              int32_t sums[2]) {
    for (int32_t k = 0; k < quads; k++) {
        const uint32_t quad = rl_load4(x + 4 * k);
        const rl_word wide[2] = {rl_sxtb16(quad), rl_sxtb16_ror8(quad)};
        w = rl_dot_quads_1x2(wide, w, 1, sums);
    }
    return w;
}

static inline const rl_word *rl_dot_quads_2x2(const rl_word *x, const rl_word *w, int32_t quads,
                                              int32_t sums[4]) {
    for (int32_t k = 0; k < quads; k++) {
        for (int32_t row = 0; row < 2; row++) {
            const rl_word one_row[2] = {x[row], x[row + 2]};
            rl_dot_quads_1x2(one_row, w, 1, sums + 2 * row);
        }
        x += 4;
        w += 2;
    }
    return w;
}

#endif

#endif
