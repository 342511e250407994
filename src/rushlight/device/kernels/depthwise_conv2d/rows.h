/* The walk over a plane's output pixels: four at a time, two, and one. Tiles are the tier's; all is
 * inlined into one function a kernel. */
#ifndef RUSHLIGHT_KERNELS_DEPTHWISE_CONV2D_ROWS_H
#define RUSHLIGHT_KERNELS_DEPTHWISE_CONV2D_ROWS_H

#include "depthwise_conv2d/plane.h"

/* What a tile needs of the channel: y = sat8((acc * multiplier / 2^16 + addend) >> right), the
 * addend holding zero point and rounding. */
typedef struct rl_dw_pass {
    int32_t bias, pitch, multiplier, addend, right, out_c;
    union {
        int32_t words[9];
        int8_t bytes[12];
        uint32_t pairs[6];
        struct {
            const int8_t *begin, *end;
            const int32_t *offsets; /* in the plane */
        } taps;
    } weights;
} rl_dw_pass;

/* Where a tile reads and writes; it moves both on. */
typedef struct rl_dw_at {
    const int8_t *x;
    int8_t *y;
} rl_dw_at;

typedef void rl_dw_tile(rl_dw_at *at, const rl_dw_pass *k);
/* One pixel; moves y alone. */
typedef void rl_dw_one(rl_dw_at *at, const rl_dw_pass *k);

/* All but the weights; `left` is what the tier wants the multiplier shifted by. */
static inline void rl_dw_prepare(const rl_depthwise_conv2d_params *p, const rl_channel *channel,
                                 int32_t left, rl_dw_pass *k) {
    k->bias = channel->bias;
    k->pitch = p->plane_pitch;
    k->right = channel->shift - 16;
    k->multiplier = channel->multiplier * (1 << left);
    k->addend = p->out_zero_point * (1 << k->right) + (1 << (k->right - 1));
    k->out_c = p->window.out_c;
}

static inline int32_t rl_dw_sat8(int32_t value) {
#if defined(__thumb2__)
    __asm__("ssat %0, #8, %1" : "=r"(value) : "r"(value));
    return value;
#else
    return rl_clamp(value, -128, 127);
#endif
}

static inline void rl_dw_store(rl_dw_at *at, const rl_dw_pass *k, int32_t high) {
    *at->y = (int8_t)rl_dw_sat8((high + k->addend) >> k->right);
    at->y += k->out_c;
}

/* Narrower ranges than all of int8 are rare, so they cost a pass of their own. */
static inline void rl_dw_clamp_row(const rl_depthwise_conv2d_params *p, int8_t *y) {
    for (int32_t i = 0; i < p->window.out_w; i++, y += p->window.out_c) {
        *y = (int8_t)rl_clamp(*y, p->out_min, p->out_max);
    }
}

/* All rows of a band. */
static inline void rl_dw_rows(const rl_depthwise_conv2d_params *p, const rl_dw_band *band,
                              const rl_dw_pass *k, rl_dw_tile *four, rl_dw_tile *two,
                              rl_dw_one *one) {
    const rl_window *w = &p->window;
    const int8_t *line = band->plane;
    int8_t *begin = band->y;
    int32_t before_wrap = band->before_wrap;
    for (int32_t rows = band->rows; rows > 0; rows--) {
        rl_dw_at at = {line, begin};
        int32_t left = w->out_w;
        for (; left >= 4; left -= 4) {
            four(&at, k);
        }
        if (left >= 2) {
            two(&at, k);
        }
        if (left & 1) {
            one(&at, k);
        }
        if (p->clamps != 0) {
            rl_dw_clamp_row(p, begin);
        }
        line += w->stride_h * k->pitch;
        begin += w->out_pitch;
        if (--before_wrap == 0) {
            begin -= w->out_ring * w->out_pitch;
            before_wrap = w->out_ring;
        }
    }
}

#endif
