/* The tiles of 3 x 3 taps for the DSP extension. Weights: rl_dw_pairs [3], one a row: taps 0 and 2, tap 1 in the low half. */
#ifndef RUSHLIGHT_KERNELS_DEPTHWISE_CONV2D_TAP3_DSP_H
#define RUSHLIGHT_KERNELS_DEPTHWISE_CONV2D_TAP3_DSP_H

#include "common/simd_dsp.h"
#include "depthwise_conv2d/tap3.h"

static inline void rl_dw_one3(rl_dw_at *at, const rl_dw_pass *k) {
    const int8_t *x = at->x;
    int32_t acc = k->bias;
    for (const uint32_t *w = k->weights.pairs; w < k->weights.pairs + 6; w += 2, x += k->pitch) {
        const uint32_t quad = rl_load4(x);
        acc = rl_smlad(rl_sxtb16(quad), w[0], acc);
        acc = rl_smlabb(rl_sxtb16_ror8(quad), w[1], acc);
    }
    *at->y = (int8_t)rl_ssat8(rl_smlawb(acc, k->multiplier, k->addend) >> k->right);
    at->y += k->out_c;
}

/* Without optimisation there are no registers to spare. */
#if defined(__ARM_FEATURE_DSP) && __ARM_FEATURE_DSP && defined(__OPTIMIZE__)

#define RL_DW_W(row) "ldrd %[w02], %[w1], [%[k], #24+8*" #row "]\n\t"
/* Four inputs from `at` on: the even ones to e, the odd ones to o. */
#define RL_DW_E(at) "ldr %[o], [%[x], #" #at "]\n\tsxtb16 %[e], %[o]\n\t"
#define RL_DW_X(at) RL_DW_E(at) "sxtb16 %[o], %[o], ror #8\n\t"
/* Taps 0 and 2 of a pixel on top of another's sum (its own, or the one that holds the bias); tap 1,
 * `half` says where its input is. */
#define RL_DW_M02(pixel, x, sum) "smlad %[s" #pixel "], %[" #x "], %[w02], %[s" #sum "]\n\t"
#define RL_DW_M1(pixel, x, half) \
    "smla" #half " %[s" #pixel "], %[" #x "], %[w1], %[s" #pixel "]\n\t"
/* Two pixels next to each other, and two pixels two apart. */
#define RL_DW_PIXELS_1(at, next, p0, p1, f0, f1) \
    RL_DW_X(at) RL_DW_M02(p0, e, f0) RL_DW_M02(p1, o, f1) RL_DW_M1(p0, o, bb) RL_DW_M1(p1, e, tb)
#define RL_DW_PIXELS_2(at, next, p0, p1, f0, f1) \
    RL_DW_X(at)                                  \
    RL_DW_M02(p0, e, f0)                         \
    RL_DW_M1(p0, o, bb)                          \
    "ldr %[e], [%[x], #" #next "]\n\tsxtb16 %[e], %[e]\n\t" RL_DW_M02(p1, e, f1) RL_DW_M1(p1, o, tb)
#define RL_DW_NEXT "add %[x], %[pitch]\n\t"
#define RL_DW_BACK "sub %[x], %[x], %[pitch], lsl #1\n\t"
#define RL_DW_ROWS_2(PIXELS)                                                                      \
    RL_DW_W(0)                                                                                    \
    PIXELS(0, 2, 0, 1, 1, 1)                                                                      \
    RL_DW_NEXT RL_DW_W(1) PIXELS(0, 2, 0, 1, 0, 1) RL_DW_NEXT RL_DW_W(2) PIXELS(0, 2, 0, 1, 0, 1) \
        RL_DW_BACK
#define RL_DW_ROWS_4(PIXELS, two, three)                                          \
    RL_DW_W(0)                                                                    \
    PIXELS(0, 2, 0, 1, 3, 3)                                                      \
    PIXELS(two, three, 2, 3, 3, 3)                                                \
    RL_DW_NEXT RL_DW_W(1) PIXELS(0, 2, 0, 1, 0, 1) PIXELS(two, three, 2, 3, 2, 3) \
        RL_DW_NEXT RL_DW_W(2) PIXELS(0, 2, 0, 1, 0, 1) PIXELS(two, three, 2, 3, 2, 3) RL_DW_BACK
/* w02 = multiplier, w1 = addend, e = right. */
#define RL_DW_PUT(pixel)                \
    "smlawb %[s" #pixel "], %[s" #pixel \
    "], %[w02], %[w1]\n\t"              \
    "asr %[s" #pixel                    \
    "], %[e]\n\t"                       \
    "ssat %[s" #pixel "], #8, %[s" #pixel "]\n\t"
#define RL_DW_SCALE "ldrd %[w02], %[w1], [%[k], #8]\n\tldrd %[e], %[pitch], [%[k], #16]\n\t"
#define RL_DW_STORE(a, b)                    \
    "strb %[s" #a "], [%[y]]\n\tstrb %[s" #b \
    "], [%[y], %[pitch]]\n\t"                \
    "add %[y], %[y], %[pitch], lsl #1\n\t"
#define RL_DW_TILE_2(rows, step)                                                  \
    "ldrd %[s1], %[pitch], [%[k]]\n\t" rows RL_DW_SCALE RL_DW_PUT(0) RL_DW_PUT(1) \
        RL_DW_STORE(0, 1) "add %[x], #2*" #step "\n\t"
#define RL_DW_TILE_4(rows, step)                                                               \
    "ldrd %[s3], %[pitch], [%[k]]\n\t" rows RL_DW_SCALE RL_DW_PUT(0) RL_DW_PUT(1) RL_DW_PUT(2) \
        RL_DW_PUT(3) RL_DW_STORE(0, 1) RL_DW_STORE(2, 3) "add %[x], #4*" #step "\n\t"

static inline void rl_dw_four_1(rl_dw_at *at, const rl_dw_pass *k) {
    const int8_t *x = at->x;
    int8_t *y = at->y;
    int32_t s0, s1, s2, s3;
    int32_t e, o, w02, w1, pitch;
    __asm__(
        RL_DW_TILE_4(RL_DW_ROWS_4(RL_DW_PIXELS_1, 2, 6), 1)
        : [x] "+r"(x), [y] "+r"(y), [s0] "=&r"(s0), [s1] "=&r"(s1), [s2] "=&r"(s2), [s3] "=&r"(s3),
          [e] "=&r"(e), [o] "=&r"(o), [w02] "=&r"(w02), [w1] "=&r"(w1), [pitch] "=&r"(pitch)
        : [k] "r"(k)
        : "memory");
    at->x = x;
    at->y = y;
}

static inline void rl_dw_two_1(rl_dw_at *at, const rl_dw_pass *k) {
    const int8_t *x = at->x;
    int8_t *y = at->y;
    int32_t s0, s1;
    int32_t e, o, w02, w1, pitch;
    __asm__(RL_DW_TILE_2(RL_DW_ROWS_2(RL_DW_PIXELS_1), 1)
            : [x] "+r"(x), [y] "+r"(y), [s0] "=&r"(s0), [s1] "=&r"(s1), [e] "=&r"(e), [o] "=&r"(o),
              [w02] "=&r"(w02), [w1] "=&r"(w1), [pitch] "=&r"(pitch)
            : [k] "r"(k)
            : "memory");
    at->x = x;
    at->y = y;
}

static inline void rl_dw_four_2(rl_dw_at *at, const rl_dw_pass *k) {
    const int8_t *x = at->x;
    int8_t *y = at->y;
    int32_t s0, s1, s2, s3;
    int32_t e, o, w02, w1, pitch;
    __asm__(
        RL_DW_TILE_4(RL_DW_ROWS_4(RL_DW_PIXELS_2, 4, 6), 2)
        : [x] "+r"(x), [y] "+r"(y), [s0] "=&r"(s0), [s1] "=&r"(s1), [s2] "=&r"(s2), [s3] "=&r"(s3),
          [e] "=&r"(e), [o] "=&r"(o), [w02] "=&r"(w02), [w1] "=&r"(w1), [pitch] "=&r"(pitch)
        : [k] "r"(k)
        : "memory");
    at->x = x;
    at->y = y;
}

static inline void rl_dw_two_2(rl_dw_at *at, const rl_dw_pass *k) {
    const int8_t *x = at->x;
    int8_t *y = at->y;
    int32_t s0, s1;
    int32_t e, o, w02, w1, pitch;
    __asm__(RL_DW_TILE_2(RL_DW_ROWS_2(RL_DW_PIXELS_2), 2)
            : [x] "+r"(x), [y] "+r"(y), [s0] "=&r"(s0), [s1] "=&r"(s1), [e] "=&r"(e), [o] "=&r"(o),
              [w02] "=&r"(w02), [w1] "=&r"(w1), [pitch] "=&r"(pitch)
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
    rl_dw_prepare(p, channel, 0, &k);
    for (int32_t i = 0; i < 3; i++) {
        const int8_t *w = band->weights + 3 * i;
        k.weights.pairs[2 * i] = rl_pack_low((uint32_t)w[0], (uint32_t)w[2]);
        k.weights.pairs[2 * i + 1] = (uint32_t)w[1];
    }
    rl_dw_rows(p, band, &k, four, two, rl_dw_one3);
}

#endif
