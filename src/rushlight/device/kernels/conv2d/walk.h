/* The way over the output pixels, the same on every tier: the windows of RL_TILE_ROWS pixels are
 * gathered as rows of bytes, or read where they lie, and given to the tier's matrix tile. */
#ifndef RUSHLIGHT_KERNELS_CONV2D_WALK_H
#define RUSHLIGHT_KERNELS_CONV2D_WALK_H

#include <string.h>

#include "common/tile.h"
#include "conv2d/conv2d.h"

/* What a tier brings along. */
typedef struct rl_conv2d_tier {
    rl_tile_function *tile;
    void (*copy)(int8_t *to, const int8_t *from, int32_t size);
    int32_t group_channels; /* bytes of channel entries a group */
} rl_conv2d_tier;

static inline rl_tile rl_conv2d_tile(const rl_conv2d_params *p, void *scratch) {
    const int32_t narrow = p->out_min > -128 || p->out_max < 127;
    const rl_tile t = {p->depth, p->group_out, p->out_zero_point, p->out_min, p->out_max,
                       narrow,   scratch};
    return t;
}

static inline void rl_conv2d_fill(const rl_conv2d_params *p, int8_t *to, int32_t size) {
    if (size > 0) {
        memset(to, p->in_zero_point, (size_t)size);
    }
}

/* The window whose first tap is in row iy0 and column ix0, each of its rows being a run of columns
 * inside the image between two of padding. */
static inline void rl_conv2d_gather_runs(const rl_conv2d_params *p, const rl_conv2d_tier *tier,
                                         const int8_t *image, int32_t iy0, int32_t ix0,
                                         int8_t *out) {
    const rl_window *w = &p->window;
    const int32_t begin = rl_clamp(ix0, 0, w->in_w);
    const int32_t end = rl_clamp(ix0 + w->kernel_w, begin, w->in_w);
    const int32_t all = w->kernel_w * w->in_c;
    const int32_t inside = (end - begin) * w->in_c;
    const int32_t before = rl_clamp(-ix0, 0, w->kernel_w) * w->in_c;
    const int8_t *from = image + begin * w->in_c;
    int32_t iy = iy0;
    for (int32_t ky = w->kernel_h; ky > 0; ky--) {
        if (iy < 0 || iy >= w->in_h) {
            rl_conv2d_fill(p, out, all);
        } else {
            rl_conv2d_fill(p, out, before);
            tier->copy(out + before, from + rl_row_offset(iy, w->in_ring, w->in_pitch), inside);
            rl_conv2d_fill(p, out + before + inside, all - before - inside);
        }
        out += all;
        iy += w->dilation_h;
    }
}

/* The same for one group, tap by tap; image points to the group's first channel. */
static inline void rl_conv2d_gather_taps(const rl_conv2d_params *p, const rl_conv2d_tier *tier,
                                         const int8_t *image, int32_t iy0, int32_t ix0,
                                         int8_t *out) {
    const rl_window *w = &p->window;
    int32_t iy = iy0;
    for (int32_t ky = w->kernel_h; ky > 0; ky--) {
        const int32_t inside = iy >= 0 && iy < w->in_h;
        const int8_t *row = inside ? image + rl_row_offset(iy, w->in_ring, w->in_pitch) : image;
        int32_t ix = ix0;
        for (int32_t kx = w->kernel_w; kx > 0; kx--) {
            if (inside && ix >= 0 && ix < w->in_w) {
                tier->copy(out, row + ix * w->in_c, p->group_in);
            } else {
                rl_conv2d_fill(p, out, p->group_in);
            }
            out += p->group_in;
            ix += w->dilation_w;
        }
        iy += w->dilation_h;
    }
}

/* One row of output pixels of one group; image and y point to the group's first channels. */
static inline void rl_conv2d_gathered_row(const rl_conv2d_params *p, const rl_conv2d_tier *tier,
                                          const rl_tile *t, const int8_t *image, int32_t oy,
                                          const int8_t *weights, const void *channels, int8_t *y,
                                          int8_t *scratch) {
    const rl_window *w = &p->window;
    const int32_t iy0 = oy * w->stride_h - w->pad_top;
    const int32_t end = w->out_w * w->stride_w - w->pad_left;
    for (int32_t ix0 = -w->pad_left; ix0 < end;) {
        const int8_t *from[RL_TILE_ROWS];
        int8_t *to[RL_TILE_ROWS];
        int32_t rows = 0;
        for (; rows < RL_TILE_ROWS && ix0 < end; rows++) {
            int8_t *row = scratch + rows * p->depth;
            if (p->gather == RL_CONV2D_RUNS) {
                rl_conv2d_gather_runs(p, tier, image, iy0, ix0, row);
            } else {
                rl_conv2d_gather_taps(p, tier, image, iy0, ix0, row);
            }
            from[rows] = row;
            to[rows] = y;
            y += w->out_c;
            ix0 += w->stride_w;
        }
        tier->tile(t, rows, from, weights, channels, to);
    }
}

/* How many output rows are one run of pixels that are read where they lie: all where input and
 * output are dense and the same in size, so that few tiles are left incomplete at a row's end. */
static inline int32_t rl_conv2d_rows_at_once(const rl_conv2d_params *p) {
    const rl_window *w = &p->window;
    const int32_t dense = p->gather == RL_CONV2D_DIRECT && w->kernel_w == 1 && w->stride_h == 1 &&
                          w->stride_w == 1 && w->in_pitch == w->in_w * w->in_c &&
                          w->out_pitch == w->out_w * w->out_c && w->row_end <= w->in_ring &&
                          w->row_end <= w->out_ring;
    return dense ? w->row_end - w->row_begin : 1;
}

static inline void rl_conv2d_direct_rows(const rl_conv2d_params *p, const rl_conv2d_tier *tier,
                                         const rl_tile *t, const int8_t *image, int32_t oy,
                                         int32_t rows, const int8_t *weights, const void *channels,
                                         int8_t *y) {
    const rl_window *w = &p->window;
    const int8_t *x = image + rl_row_offset(oy * w->stride_h, w->in_ring, w->in_pitch);
    rl_tile_run(t, rows * w->out_w, x, w->stride_w * w->in_c, weights, channels, y, w->out_c,
                tier->tile);
}

/* scratch: RL_TILE_ROWS * depth bytes unless the gathering is RL_CONV2D_DIRECT. */
static inline void rl_conv2d_walk(const rl_conv2d_params *p, const rl_conv2d_tier *tier,
                                  const rl_tile *t, const int8_t *x, const int8_t *weights,
                                  const void *channels, int8_t *y, int8_t *scratch) {
    const rl_window *w = &p->window;
    const int32_t rows = rl_conv2d_rows_at_once(p);
    for (int32_t n = 0; n < w->batch; n++) {
        for (int32_t oy = w->row_begin; oy < w->row_end; oy += rows) {
            const int8_t *image = x, *group_weights = weights, *group_channels = channels;
            int8_t *to = y + rl_row_offset(oy, w->out_ring, w->out_pitch);
            for (int32_t g = 0; g < p->groups; g++) {
                if (p->gather == RL_CONV2D_DIRECT) {
                    rl_conv2d_direct_rows(p, tier, t, image, oy, rows, group_weights,
                                          group_channels, to);
                } else {
                    rl_conv2d_gathered_row(p, tier, t, image, oy, group_weights, group_channels, to,
                                           scratch);
                }
                image += p->group_in;
                to += p->group_out;
                group_weights += p->group_weights;
                group_channels += tier->group_channels;
            }
        }
        x += w->in_ring * w->in_pitch;
        y += w->out_ring * w->out_pitch;
    }
}

#endif
