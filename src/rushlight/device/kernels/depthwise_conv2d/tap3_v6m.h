/* The tiles of 3 x 3 taps for Armv6-M. Weights: int32 [9]. Inputs are x + 128, as LDRB has an
 * immediate offset and LDRSB has none; the bias makes up for it. */
#ifndef RUSHLIGHT_KERNELS_DEPTHWISE_CONV2D_TAP3_V6M_H
#define RUSHLIGHT_KERNELS_DEPTHWISE_CONV2D_TAP3_V6M_H

#include "depthwise_conv2d/tap3.h"

/* Sums may wrap on the way, as 128 * weight is added and taken away. */
static inline void rl_dw_one3(rl_dw_at *at, const rl_dw_pass *k) {
    const int32_t *w = k->weights.words;
    const uint8_t *x = (const uint8_t *)at->x;
    uint32_t acc = (uint32_t)k->bias;
    for (const int32_t *end = w + 9; w < end; w += 3, x += k->pitch) {
        acc += (uint32_t)(x[0] * w[0]) + (uint32_t)(x[1] * w[1]) + (uint32_t)(x[2] * w[2]);
    }
    rl_dw_store(at, k, rl_multiply_high_v6m((int32_t)acc, k->multiplier));
}

/* Without optimisation there are no registers to spare. */
#if defined(__thumb__) && !defined(__thumb2__) && defined(__OPTIMIZE__) && \
    !defined(__OPTIMIZE_SIZE__)

#define RL_DW_W(row)                                                       \
    "ldr %[w0], [%[k], #24+12*" #row "]\n\tldr %[w1], [%[k], #28+12*" #row \
    "]\n\t"                                                                \
    "ldr %[w2], [%[k], #32+12*" #row "]\n\t"
#define RL_DW_X(at) "ldrb %[v], [%[x], #" #at "]\n\t"
#define RL_DW_M(pixel, tap) \
    "mov %[t], %[v]\n\tmuls %[t], %[w" #tap "], %[t]\n\tadd %[s" #pixel "], %[t]\n\t"
#define RL_DW_L(pixel, tap) "muls %[v], %[w" #tap "], %[v]\n\tadd %[s" #pixel "], %[v]\n\t"
#define RL_DW_NEXT "ldr %[t], [%[k], #4]\n\tadd %[x], %[t]\n\t"
#define RL_DW_ROWS(ROW)                                                                 \
    RL_DW_W(0)                                                                          \
    ROW(RL_DW_X, RL_DW_L, RL_DW_M, RL_DW_L)                                             \
    RL_DW_NEXT RL_DW_W(1) ROW(RL_DW_X, RL_DW_L, RL_DW_M, RL_DW_L) RL_DW_NEXT RL_DW_W(2) \
        ROW(RL_DW_X, RL_DW_L, RL_DW_M,                                                  \
            RL_DW_L) "ldr %[t], [%[k], #4]\n\tlsls %[t], %[t], #1\n\tsubs %[x], %[x], %[t]\n\t"
/* x and y change places, as stores need a low register; then w0 = multiplier, w1 = addend, w2 =
 * right. */
#define RL_DW_SWAP "mov %[t], %[x]\n\tmov %[x], %[y]\n\tmov %[y], %[t]\n\t"
#define RL_DW_SCALE "ldr %[w0], [%[k], #8]\n\tldr %[w1], [%[k], #12]\n\tldr %[w2], [%[k], #16]\n\t"
/* Two multiplies (rl_multiply_high_v6m), then 127 or -128 by the sign of what is beyond. */
#define RL_DW_PUT(pixel)                                                \
    "mov %[v], %[s" #pixel                                              \
    "]\n\tasrs %[t], %[v], #16\n\tuxth %[v], %[v]\n\t"                  \
    "muls %[v], %[w0], %[v]\n\tlsrs %[v], %[v], #16\n\t"                \
    "muls %[t], %[w0], %[t]\n\tadds %[v], %[v], %[t]\n\t"               \
    "adds %[v], %[v], %[w1]\n\tasrs %[v], %[w2]\n\tsxtb %[t], %[v]\n\t" \
    "cmp %[t], %[v]\n\tbeq 1f\n\tasrs %[v], %[v], #31\n\t"              \
    "movs %[t], #127\n\teors %[v], %[v], %[t]\n"                        \
    "1:\n\tstrb %[v], [%[x]]\n\tldr %[t], [%[k], #20]\n\tadd %[x], %[t]\n\t"
#define RL_DW_START_2 \
    ".syntax unified\n\tldr %[t], [%[k]]\n\tmov %[s0], %[t]\n\tmov %[s1], %[t]\n\t"
#define RL_DW_TILE_2(ROW, step)                                                           \
    RL_DW_START_2 RL_DW_ROWS(ROW) "adds %[x], #2*" #step                                  \
                                  "\n\t" RL_DW_SWAP RL_DW_SCALE RL_DW_PUT(0) RL_DW_PUT(1) \
                                      RL_DW_SWAP
#define RL_DW_TILE_4(ROW, step)                                                             \
    RL_DW_START_2 "mov %[s2], %[t]\n\tmov %[s3], %[t]\n\t" RL_DW_ROWS(                      \
        ROW) "adds %[x], #4*" #step "\n\t" RL_DW_SWAP RL_DW_SCALE RL_DW_PUT(0) RL_DW_PUT(1) \
        RL_DW_PUT(2) RL_DW_PUT(3) RL_DW_SWAP

static inline void rl_dw_four_1(rl_dw_at *at, const rl_dw_pass *k) {
    const int8_t *x = at->x;
    int8_t *y = at->y;
    int32_t s0, s1, s2, s3;
    int32_t v, t, w0, w1, w2;
    __asm__(
        RL_DW_TILE_4(RL_DW_ROW_1_4, 1)
        : [x] "+l"(x), [y] "+h"(y), [s0] "=&h"(s0), [s1] "=&h"(s1), [s2] "=&h"(s2), [s3] "=&h"(s3),
          [v] "=&l"(v), [t] "=&l"(t), [w0] "=&l"(w0), [w1] "=&l"(w1), [w2] "=&l"(w2)
        : [k] "l"(k)
        : "cc", "memory");
    at->x = x;
    at->y = y;
}

static inline void rl_dw_two_1(rl_dw_at *at, const rl_dw_pass *k) {
    const int8_t *x = at->x;
    int8_t *y = at->y;
    int32_t s0, s1;
    int32_t v, t, w0, w1, w2;
    __asm__(RL_DW_TILE_2(RL_DW_ROW_1_2, 1)
            : [x] "+l"(x), [y] "+h"(y), [s0] "=&h"(s0), [s1] "=&h"(s1), [v] "=&l"(v), [t] "=&l"(t),
              [w0] "=&l"(w0), [w1] "=&l"(w1), [w2] "=&l"(w2)
            : [k] "l"(k)
            : "cc", "memory");
    at->x = x;
    at->y = y;
}

static inline void rl_dw_four_2(rl_dw_at *at, const rl_dw_pass *k) {
    const int8_t *x = at->x;
    int8_t *y = at->y;
    int32_t s0, s1, s2, s3;
    int32_t v, t, w0, w1, w2;
    __asm__(
        RL_DW_TILE_4(RL_DW_ROW_2_4, 2)
        : [x] "+l"(x), [y] "+h"(y), [s0] "=&h"(s0), [s1] "=&h"(s1), [s2] "=&h"(s2), [s3] "=&h"(s3),
          [v] "=&l"(v), [t] "=&l"(t), [w0] "=&l"(w0), [w1] "=&l"(w1), [w2] "=&l"(w2)
        : [k] "l"(k)
        : "cc", "memory");
    at->x = x;
    at->y = y;
}

static inline void rl_dw_two_2(rl_dw_at *at, const rl_dw_pass *k) {
    const int8_t *x = at->x;
    int8_t *y = at->y;
    int32_t s0, s1;
    int32_t v, t, w0, w1, w2;
    __asm__(RL_DW_TILE_2(RL_DW_ROW_2_2, 2)
            : [x] "+l"(x), [y] "+h"(y), [s0] "=&h"(s0), [s1] "=&h"(s1), [v] "=&l"(v), [t] "=&l"(t),
              [w0] "=&l"(w0), [w1] "=&l"(w1), [w2] "=&l"(w2)
            : [k] "l"(k)
            : "cc", "memory");
    at->x = x;
    at->y = y;
}

#else

static inline void rl_dw_four_1(rl_dw_at *at, const rl_dw_pass *k) {
    rl_dw_tile_plain(at, k, 4, 1, rl_dw_one3);
}

static inline void rl_dw_two_1(rl_dw_at *at, const rl_dw_pass *k) {
    rl_dw_tile_plain(at, k, 2, 1, rl_dw_one3);
}

static inline void rl_dw_four_2(rl_dw_at *at, const rl_dw_pass *k) {
    rl_dw_tile_plain(at, k, 4, 2, rl_dw_one3);
}

static inline void rl_dw_two_2(rl_dw_at *at, const rl_dw_pass *k) {
    rl_dw_tile_plain(at, k, 2, 2, rl_dw_one3);
}

#endif

static inline void rl_dw_channel3(const rl_depthwise_conv2d_params *p, const rl_dw_band *band,
                                  const rl_channel *channel, rl_dw_tile *four, rl_dw_tile *two) {
    rl_dw_pass k;
    rl_dw_prepare(p, channel, 0, &k);
    for (int32_t i = 0; i < 9; i++) {
        k.weights.words[i] = band->weights[i];
    }
    rl_dw_rows(p, band, &k, four, two, rl_dw_one3);
}

#endif
