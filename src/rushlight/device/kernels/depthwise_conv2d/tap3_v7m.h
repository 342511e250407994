/* The tiles of 3 x 3 taps for Armv7-M and Armv8-M mainline. Weights: int8 [9]. */
#ifndef RUSHLIGHT_KERNELS_DEPTHWISE_CONV2D_TAP3_V7M_H
#define RUSHLIGHT_KERNELS_DEPTHWISE_CONV2D_TAP3_V7M_H

#include "depthwise_conv2d/tap3.h"

static inline void rl_dw_one3(rl_dw_at *at, const rl_dw_pass *k) {
    const int8_t *x0 = at->x, *x1 = x0 + k->pitch, *x2 = x1 + k->pitch, *w = k->weights.bytes;
    int32_t acc = k->bias + x0[0] * w[0] + x0[1] * w[1] + x0[2] * w[2];
    acc += x1[0] * w[3] + x1[1] * w[4] + x1[2] * w[5];
    acc += x2[0] * w[6] + x2[1] * w[7] + x2[2] * w[8];
    rl_dw_store(at, k, (int32_t)(((int64_t)acc * k->multiplier) >> 32));
}

/* Without optimisation there are no registers to spare. */
#if defined(__thumb2__) && defined(__OPTIMIZE__)

#define RL_DW_W(row)                                                         \
    "ldrsb %[w0], [%[k], #24+3*" #row "]\n\tldrsb %[w1], [%[k], #25+3*" #row \
    "]\n\t"                                                                  \
    "ldrsb %[w2], [%[k], #26+3*" #row "]\n\t"
#define RL_DW_X(at) "ldrsb %[v], [%[x], #" #at "]\n\t"
#define RL_DW_M(pixel, tap) "mla %[s" #pixel "], %[v], %[w" #tap "], %[s" #pixel "]\n\t"
/* The last sum holds the bias until its first product. */
#define RL_DW_F2(pixel, tap) "mla %[s" #pixel "], %[v], %[w" #tap "], %[s1]\n\t"
#define RL_DW_F4(pixel, tap) "mla %[s" #pixel "], %[v], %[w" #tap "], %[s3]\n\t"
#define RL_DW_ROWS(ROW, F)                                                          \
    RL_DW_W(0)                                                                      \
    ROW(RL_DW_X, F, RL_DW_M, RL_DW_M)                                               \
    "add %[x], %[pitch]\n\t" RL_DW_W(1)                                             \
        ROW(RL_DW_X, RL_DW_M, RL_DW_M, RL_DW_M) "add %[x], %[pitch]\n\t" RL_DW_W(2) \
            ROW(RL_DW_X, RL_DW_M, RL_DW_M, RL_DW_M) "sub %[x], %[x], %[pitch], lsl #1\n\t"
/* w0 = multiplier, w1 = addend, w2 = right. */
#define RL_DW_PUT(pixel)                     \
    "smull %[v], %[s" #pixel "], %[s" #pixel \
    "], %[w0]\n\t"                           \
    "add %[s" #pixel                         \
    "], %[w1]\n\t"                           \
    "asr %[s" #pixel                         \
    "], %[w2]\n\t"                           \
    "ssat %[s" #pixel "], #8, %[s" #pixel "]\n\t"
#define RL_DW_TILE_2(ROW, step) \
    "ldrd %[s1], %[pitch], [%[k]]\n\t" RL_DW_ROWS(                                          \
        ROW,                                                                                \
        RL_DW_F2) "ldrd %[w0], %[w1], [%[k], #8]\n\tldrd %[w2], %[pitch], [%[k], "          \
                  "#16]\n\t" RL_DW_PUT(0)                                                   \
                      RL_DW_PUT(1) "add %[x], #2*" #step                                    \
                                   "\n\t"                                                   \
                                   "strb %[s0], [%[y]]\n\tstrb %[s1], [%[y], %[pitch]]\n\t" \
                                   "add %[y], %[y], %[pitch], lsl #1\n\t"
#define RL_DW_TILE_4(ROW, step) \
    "ldrd %[s3], %[pitch], [%[k]]\n\t" RL_DW_ROWS(                                          \
        ROW,                                                                                \
        RL_DW_F4) "ldrd %[w0], %[w1], [%[k], #8]\n\tldrd %[w2], %[pitch], [%[k], "          \
                  "#16]\n\t" RL_DW_PUT(0) RL_DW_PUT(1) RL_DW_PUT(2)                         \
                      RL_DW_PUT(3) "add %[x], #4*" #step                                    \
                                   "\n\t"                                                   \
                                   "strb %[s0], [%[y]]\n\tstrb %[s1], [%[y], %[pitch]]\n\t" \
                                   "add %[y], %[y], %[pitch], lsl #1\n\t"                   \
                                   "strb %[s2], [%[y]]\n\tstrb %[s3], [%[y], %[pitch]]\n\t" \
                                   "add %[y], %[y], %[pitch], lsl #1\n\t"

static inline void rl_dw_four_1(rl_dw_at *at, const rl_dw_pass *k) {
    const int8_t *x = at->x;
    int8_t *y = at->y;
    int32_t s0, s1, s2, s3;
    int32_t v, w0, w1, w2, pitch;
    __asm__(
        RL_DW_TILE_4(RL_DW_ROW_1_4, 1)
        : [x] "+r"(x), [y] "+r"(y), [s0] "=&r"(s0), [s1] "=&r"(s1), [s2] "=&r"(s2), [s3] "=&r"(s3),
          [v] "=&r"(v), [w0] "=&r"(w0), [w1] "=&r"(w1), [w2] "=&r"(w2), [pitch] "=&r"(pitch)
        : [k] "r"(k)
        : "memory");
    at->x = x;
    at->y = y;
}

static inline void rl_dw_two_1(rl_dw_at *at, const rl_dw_pass *k) {
    const int8_t *x = at->x;
    int8_t *y = at->y;
    int32_t s0, s1;
    int32_t v, w0, w1, w2, pitch;
    __asm__(RL_DW_TILE_2(RL_DW_ROW_1_2, 1)
            : [x] "+r"(x), [y] "+r"(y), [s0] "=&r"(s0), [s1] "=&r"(s1), [v] "=&r"(v),
              [w0] "=&r"(w0), [w1] "=&r"(w1), [w2] "=&r"(w2), [pitch] "=&r"(pitch)
            : [k] "r"(k)
            : "memory");
    at->x = x;
    at->y = y;
}

static inline void rl_dw_four_2(rl_dw_at *at, const rl_dw_pass *k) {
    const int8_t *x = at->x;
    int8_t *y = at->y;
    int32_t s0, s1, s2, s3;
    int32_t v, w0, w1, w2, pitch;
    __asm__(
        RL_DW_TILE_4(RL_DW_ROW_2_4, 2)
        : [x] "+r"(x), [y] "+r"(y), [s0] "=&r"(s0), [s1] "=&r"(s1), [s2] "=&r"(s2), [s3] "=&r"(s3),
          [v] "=&r"(v), [w0] "=&r"(w0), [w1] "=&r"(w1), [w2] "=&r"(w2), [pitch] "=&r"(pitch)
        : [k] "r"(k)
        : "memory");
    at->x = x;
    at->y = y;
}

static inline void rl_dw_two_2(rl_dw_at *at, const rl_dw_pass *k) {
    const int8_t *x = at->x;
    int8_t *y = at->y;
    int32_t s0, s1;
    int32_t v, w0, w1, w2, pitch;
    __asm__(RL_DW_TILE_2(RL_DW_ROW_2_2, 2)
            : [x] "+r"(x), [y] "+r"(y), [s0] "=&r"(s0), [s1] "=&r"(s1), [v] "=&r"(v),
              [w0] "=&r"(w0), [w1] "=&r"(w1), [w2] "=&r"(w2), [pitch] "=&r"(pitch)
            : [k] "r"(k)
            : "memory");
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
    rl_dw_prepare(p, channel, 16, &k);
    __builtin_memcpy(k.weights.bytes, band->weights, 9);
    rl_dw_rows(p, band, &k, four, two, rl_dw_one3);
}

#endif
