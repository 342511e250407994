/* 3 x 3 taps: the tiles of four and two neighbouring pixels of one channel, from loading the inputs
 * to storing the outputs. What the tiers' tiles (tap3_v6m.h, tap3_v7m.h, tap3_dsp.h) share. They
 * are assembly, as compilers spill and waste moves here, with plain C that gives the same. */
#ifndef RUSHLIGHT_KERNELS_DEPTHWISE_CONV2D_TAP3_H
#define RUSHLIGHT_KERNELS_DEPTHWISE_CONV2D_TAP3_H

#include "depthwise_conv2d/rows.h"

/* A row of three taps for four (or two) pixels next to each other (1) or two apart (2); each input
 * is loaded once. X loads an input. F (tap 0), M and L multiply it by a weight and add to a pixel's
 * sum; F and L come last for an input and may destroy it. */
/* clang-format off */
#define RL_DW_ROW_1_2(X, F, M, L) X(0) F(0, 0) X(1) M(0, 1) F(1, 0) X(2) M(0, 2) L(1, 1) X(3) L(1, 2)
#define RL_DW_ROW_1_4(X, F, M, L)                                      \
    X(0) F(0, 0) X(1) M(0, 1) F(1, 0) X(2) M(0, 2) M(1, 1) F(2, 0)     \
    X(3) M(1, 2) M(2, 1) F(3, 0) X(4) M(2, 2) L(3, 1) X(5) L(3, 2)
#define RL_DW_ROW_2_2(X, F, M, L)                                      \
    X(0) F(0, 0) X(1) L(0, 1) X(2) M(0, 2) F(1, 0) X(3) L(1, 1) X(4) L(1, 2)
#define RL_DW_ROW_2_4(X, F, M, L)                                      \
    X(0) F(0, 0) X(1) L(0, 1) X(2) M(0, 2) F(1, 0) X(3) L(1, 1)        \
    X(4) M(1, 2) F(2, 0) X(5) L(2, 1) X(6) M(2, 2) F(3, 0) X(7) L(3, 1) X(8) L(3, 2)
/* clang-format on */

/* The tile's assembly reads these offsets. */
_Static_assert(offsetof(rl_dw_pass, bias) == 0, "bias");
_Static_assert(offsetof(rl_dw_pass, pitch) == 4, "pitch");
_Static_assert(offsetof(rl_dw_pass, multiplier) == 8, "multiplier");
_Static_assert(offsetof(rl_dw_pass, addend) == 12, "addend");
_Static_assert(offsetof(rl_dw_pass, right) == 16, "right");
_Static_assert(offsetof(rl_dw_pass, out_c) == 20, "out_c");
_Static_assert(offsetof(rl_dw_pass, weights) == 24, "weights");

/* Plain C: `count` pixels, `step` apart. */
static inline void rl_dw_tile_plain(rl_dw_at *at, const rl_dw_pass *k, int32_t count, int32_t step,
                                    rl_dw_one *one) {
    for (int32_t i = 0; i < count; i++) {
        one(at, k);
        at->x += step;
    }
}

#endif
