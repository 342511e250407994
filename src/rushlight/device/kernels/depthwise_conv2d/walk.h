/* The walk over output pixels that the tiers share. For each tile of pixels it makes a list of
 * pointers, [tap][pixel], to channel 0 of what the tap reads; padded taps point to a row of zero
 * points. So a tile has no border case. Where a window lies inside the image the pointers only move
 * on. */
#ifndef RUSHLIGHT_KERNELS_DEPTHWISE_CONV2D_WALK_H
#define RUSHLIGHT_KERNELS_DEPTHWISE_CONV2D_WALK_H

#include <stddef.h>

#include "depthwise_conv2d/depthwise_conv2d.h"

enum { RL_DW_MOST_PIXELS = 2 };

/* Tiles are functions of their own: inlined into the walk they would not keep their sums in
 * registers. */
#define RL_DW_NOINLINE __attribute__((noinline))

/* The list for one pixel; its slots lie `pixels` apart. */
static inline void rl_dw_point(const rl_window *w, const int8_t *image, const int8_t *padding,
                               int32_t row, int32_t col, const int8_t **slot, int32_t pixels) {
    int32_t in_row = row * w->stride_h - w->pad_top;
    const int32_t left = col * w->stride_w - w->pad_left;
    for (int32_t kh = 0; kh < w->kernel_h; kh++, in_row += w->dilation_h) {
        const int8_t *line = NULL;
        if (in_row >= 0 && in_row < w->in_h) {
            line = image + rl_row_offset(in_row, w->in_ring, w->in_pitch);
        }
        int32_t in_col = left;
        for (int32_t kw = 0; kw < w->kernel_w; kw++, in_col += w->dilation_w) {
            const int inside = line != NULL && in_col >= 0 && in_col < w->in_w;
            *slot = inside ? line + in_col * w->in_c : padding;
            slot += pixels;
        }
    }
}

/* True if the window at an output position lies inside the image along one axis. */
static inline int rl_dw_inside(int32_t position, int32_t stride, int32_t pad, int32_t extent,
                               int32_t size) {
    const int32_t begin = position * stride - pad;
    return begin >= 0 && begin + extent <= size;
}

/* Computes all channels of a tile: slots is [tap][pixel], outputs one pointer a pixel. */
typedef void rl_dw_tile(const rl_depthwise_conv2d_params *p, const int8_t *const *slots,
                        int8_t *const *outputs, const void *constants);

/* One row of output pixels, `pixels` at a time; in a last tile that is not full the last pixel is
 * computed again. */
static inline void rl_dw_row(const rl_depthwise_conv2d_params *p, const int8_t *image, int32_t row,
                             int8_t *line, const int8_t **slots, const int8_t *padding,
                             int32_t pixels, rl_dw_tile *tile, const void *constants) {
    const rl_window *w = &p->window;
    const int32_t count = w->kernel_h * w->kernel_w * pixels;
    const int32_t extent_h = (w->kernel_h - 1) * w->dilation_h + 1;
    const int32_t extent_w = (w->kernel_w - 1) * w->dilation_w + 1;
    const int32_t step = pixels * w->stride_w * w->in_c;
    const int row_inside = rl_dw_inside(row, w->stride_h, w->pad_top, extent_h, w->in_h);
    int inside = 0;
    for (int32_t col = 0; col < w->out_w; col += pixels) {
        const int32_t last = col + pixels - 1;
        const int before = inside;
        inside = row_inside && last < w->out_w &&
                 rl_dw_inside(col, w->stride_w, w->pad_left, extent_w, w->in_w) &&
                 rl_dw_inside(last, w->stride_w, w->pad_left, extent_w, w->in_w);
        int8_t *outputs[RL_DW_MOST_PIXELS];
        for (int32_t j = 0; j < pixels; j++) {
            const int32_t at = col + j < w->out_w ? col + j : w->out_w - 1;
            outputs[j] = line + at * w->out_c;
            if (!(inside && before)) {
                rl_dw_point(w, image, padding, row, at, slots + j, pixels);
            }
        }
        if (inside && before) {
            for (int32_t i = 0; i < count; i++) {
                slots[i] += step;
            }
        }
        tile(p, slots, outputs, constants);
    }
}

/* All rows of all images. */
static inline void rl_dw_walk(const rl_depthwise_conv2d_params *p, const int8_t *x, int8_t *y,
                              void *scratch, int32_t pixels, rl_dw_tile *tile,
                              const void *constants) {
    const rl_window *w = &p->window;
    /* The pointers have 8 bytes each in the scratch formula, so that it holds on 64-bit hosts. */
    const int8_t **slots = (const int8_t **)scratch;
    int8_t *padding = (int8_t *)scratch + 8 * p->taps * pixels;
    __builtin_memset(padding, p->in_zero_point, (size_t)w->in_c);
    /* Taps beyond the window have weights of 0 and may read anything. */
    for (int32_t i = w->kernel_h * w->kernel_w * pixels; i < p->taps * pixels; i++) {
        slots[i] = padding;
    }
    for (int32_t n = 0; n < w->batch; n++) {
        for (int32_t row = w->row_begin; row < w->row_end; row++) {
            int8_t *line = y + rl_row_offset(row, w->out_ring, w->out_pitch);
            rl_dw_row(p, x, row, line, slots, padding, pixels, tile, constants);
        }
        x += w->in_ring * w->in_pitch;
        y += w->out_ring * w->out_pitch;
    }
}

#endif
