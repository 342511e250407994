/* The way over the output pixels, the same on every tier: pixels of a row are taken RL_TILE_ROWS at
 * a time, their windows laid out as rows of bytes (or used where they lie), and given to the tier's
 * matrix tile. */
#ifndef RUSHLIGHT_KERNELS_CONV2D_WALK_H
#define RUSHLIGHT_KERNELS_CONV2D_WALK_H

#include <string.h>

#include "conv2d/conv2d.h"

/* Taps of kernel row ky of one output pixel, ix0 being the input column of the first; input points
 * to its row (column 0, first channel of the group). Returns the end of what it wrote. */
static inline int8_t *rl_conv2d_gather_row(const rl_conv2d_params *p, const int8_t *input,
                                           int32_t ix0, int8_t *out) {
    const rl_window *w = &p->window;
    if (p->contiguous) {
        /* A run of columns inside the image between two runs of padding. */
        const int32_t end = ix0 + w->kernel_w;
        const int32_t begin = rl_clamp(ix0, 0, w->in_w);
        const int32_t stop = rl_clamp(end, begin, w->in_w);
        const size_t left = (size_t)((rl_clamp(0, ix0, end) - ix0) * w->in_c);
        const size_t inside = (size_t)((stop - begin) * w->in_c);
        const size_t all = (size_t)(w->kernel_w * w->in_c);
        memset(out, p->in_zero_point, left);
        memcpy(out + left, input + begin * w->in_c, inside);
        memset(out + left + inside, p->in_zero_point, all - left - inside);
        return out + all;
    }
    for (int32_t kx = 0; kx < w->kernel_w; kx++) {
        const int32_t ix = ix0 + kx * w->dilation_w;
        if (ix < 0 || ix >= w->in_w) {
            memset(out, p->in_zero_point, (size_t)p->group_in);
        } else {
            memcpy(out, input + ix * w->in_c, (size_t)p->group_in);
        }
        out += p->group_in;
    }
    return out;
}

/* The row of bytes of one output pixel: in the input itself where all of it lies side by side, else
 * gathered into out. image points to the first channel of the group. */
static inline const int8_t *rl_conv2d_pixel(const rl_conv2d_params *p, const int8_t *image,
                                            int32_t oy, int32_t ox, int8_t *out) {
    const rl_window *w = &p->window;
    const int32_t iy0 = oy * w->stride_h - w->pad_top;
    const int32_t ix0 = ox * w->stride_w - w->pad_left;
    if (w->kernel_h == 1 && (p->contiguous || w->kernel_w == 1) && iy0 >= 0 && iy0 < w->in_h &&
        ix0 >= 0 && ix0 + w->kernel_w <= w->in_w) {
        return image + rl_row_offset(iy0, w->in_ring, w->in_pitch) + ix0 * w->in_c;
    }
    int8_t *next = out;
    for (int32_t ky = 0; ky < w->kernel_h; ky++) {
        const int32_t iy = iy0 + ky * w->dilation_h;
        if (iy < 0 || iy >= w->in_h) {
            const int32_t size = w->kernel_w * p->group_in;
            memset(next, p->in_zero_point, (size_t)size);
            next += size;
        } else {
            const int8_t *input = image + rl_row_offset(iy, w->in_ring, w->in_pitch);
            next = rl_conv2d_gather_row(p, input, ix0, next);
        }
    }
    return out;
}

static inline rl_tile rl_conv2d_tile(const rl_conv2d_params *p, void *scratch) {
    const int32_t narrow = p->out_min > -128 || p->out_max < 127;
    const rl_tile t = {p->depth, p->group_out, p->out_zero_point, p->out_min, p->out_max,
                       narrow,   scratch};
    return t;
}

/* group_channels: bytes of the tier's channel entries for one group. */
static inline void rl_conv2d_walk(const rl_conv2d_params *p, const int8_t *x, const int8_t *weights,
                                  const void *channels, int32_t group_channels, int8_t *y,
                                  int8_t *scratch, const rl_tile *t, rl_tile_function *tile) {
    const rl_window *w = &p->window;
    for (int32_t n = 0; n < w->batch; n++) {
        for (int32_t oy = w->row_begin; oy < w->row_end; oy++) {
            int8_t *out_row = y + rl_row_offset(oy, w->out_ring, w->out_pitch);
            for (int32_t ox = 0; ox < w->out_w; ox += RL_TILE_ROWS) {
                const int32_t left = w->out_w - ox;
                const int32_t rows = left < RL_TILE_ROWS ? left : RL_TILE_ROWS;
                for (int32_t g = 0; g < p->groups; g++) {
                    const int8_t *row[RL_TILE_ROWS];
                    int8_t *out[RL_TILE_ROWS];
                    for (int32_t r = 0; r < rows; r++) {
                        row[r] = rl_conv2d_pixel(p, x + g * p->group_in, oy, ox + r,
                                                 scratch + r * p->depth);
                        out[r] = out_row + (ox + r) * w->out_c + g * p->group_out;
                    }
                    tile(t, rows, row, weights + g * p->group_weights,
                         (const int8_t *)channels + g * group_channels, out);
                }
            }
        }
        x += w->in_ring * w->in_pitch;
        y += w->out_ring * w->out_pitch;
    }
}

#endif
