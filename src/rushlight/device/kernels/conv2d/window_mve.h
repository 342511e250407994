/* What the Helium convolutions share: how a window, or several side by side, lie on the input. */
#ifndef RUSHLIGHT_KERNELS_CONV2D_WINDOW_MVE_H
#define RUSHLIGHT_KERNELS_CONV2D_WINDOW_MVE_H

#include "common/simd_mve.h"
#include "conv2d/conv2d.h"

/* The taps that lie inside the input, along one axis. */
typedef struct rl_inside {
    int32_t skipped; /* taps before */
    int32_t taps;    /* not positive: none */
    int32_t at;      /* of the first one */
} rl_inside;

__attribute__((noinline)) static rl_inside rl_taps_inside(int32_t at, int32_t taps,
                                                          int32_t dilation, int32_t size) {
    rl_inside c = {0, taps, at};
    for (; c.at < 0; c.at += dilation) {
        c.skipped++;
        c.taps--;
    }
    for (int32_t end = c.at + (c.taps - 1) * dilation; end >= size; end -= dilation) {
        c.taps--;
    }
    return c;
}

/* Writes size bytes, rounded up to 16. */
static inline void rl_fill(int8_t *to, int32_t size, int32_t value) {
    const rl_s8x16 v = rl_vdupq_n_s8((int8_t)value);
    for (; size > 0; size -= 16) {
        rl_vstrbq_s8(to, v);
        to += 16;
    }
}

/* How many windows of pitch bytes wait in scratch for the tile. */
static inline int32_t rl_gathered(int32_t pitch) {
    return pitch <= 64 ? 8 : pitch <= 256 ? 4 : 2;
}

static inline rl_tile rl_conv2d_tile_mve(const rl_conv2d_params *p) {
    const rl_tile t = {.depth = p->depth,
                       .channels = p->group_out,
                       .zero_point = p->out_zero_point,
                       .low = p->out_min,
                       .high = p->out_max};
    return t;
}

#endif
