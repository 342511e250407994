/* The way over the output pixels of the pair kernels: the windows of 8 pixels are packed as words and
 * given to the tier's tile. Output rows that lie dense are one run of pixels; its last tile overlaps
 * the one before, or its last pixels are computed one by one. */
#ifndef RUSHLIGHT_KERNELS_CONV2D_PAIR_WALK_H
#define RUSHLIGHT_KERNELS_CONV2D_PAIR_WALK_H

#include <string.h>

#include "common/pair.h"
#include "common/requant.h"
#include "conv2d/pair.h"

/* Fewer last pixels than this are computed one by one. */
enum { RL_PAIR_OVERLAP = 3 };

typedef struct rl_pair_tier {
    rl_pair_tile_function *tile;
    rl_pair_pixel_function *pixel;
    int32_t group_weights; /* bytes of weights a group, where they are not in the stream */
} rl_pair_tier;

/* Where the bytes of one call lie. */
typedef struct rl_pair_walk {
    const rl_conv2d_pair_params *p;
    const int8_t *image; /* the group's first channel */
    int32_t run;         /* bytes of a run */
    uint32_t *words;
    int8_t *blank;  /* a run of padding */
    int8_t *own[2]; /* a run for each pixel of a pair, partly padding */
} rl_pair_walk;

/* An output pixel. */
typedef struct rl_pair_at {
    int32_t row, column;
} rl_pair_at;

static inline void rl_pair_next(const rl_conv2d_pair_params *p, rl_pair_at *at) {
    if (++at->column == p->window.out_w) {
        at->column = 0;
        at->row++;
    }
}

/* The run that begins at input row iy and column ix; own is filled if some of it is padding. */
static inline const int8_t *rl_pair_run(const rl_pair_walk *k, int32_t iy, int32_t ix,
                                        int8_t *own) {
    const rl_window *w = &k->p->window;
    const int32_t taps = k->p->run_taps;
    if (iy < 0 || iy >= w->in_h || ix >= w->in_w || ix + taps <= 0) {
        return k->blank;
    }
    const int8_t *row = k->image + rl_row_offset(iy, w->in_ring, w->in_pitch);
    if (ix >= 0 && ix + taps <= w->in_w) {
        return row + ix * w->in_c;
    }
    const int32_t begin = rl_clamp(ix, 0, w->in_w), end = rl_clamp(ix + taps, 0, w->in_w);
    memcpy(own, k->blank, (size_t)k->run);
    memcpy(own + (begin - ix) * w->in_c, row + begin * w->in_c, (size_t)((end - begin) * w->in_c));
    return own;
}

/* Packs the windows of two pixels into one column of words. */
static inline void rl_pair_gather(const rl_pair_walk *k, rl_pair_at a, rl_pair_at b, uint32_t *to) {
    const rl_window *w = &k->p->window;
    int32_t ya = a.row * w->stride_h - w->pad_top, yb = b.row * w->stride_h - w->pad_top;
    const int32_t xa = a.column * w->stride_w - w->pad_left;
    const int32_t xb = b.column * w->stride_w - w->pad_left;
    for (int32_t ky = w->kernel_h; ky > 0; ky--) {
        for (int32_t kx = 0; kx < w->kernel_w; kx += k->p->run_taps) {
            const int32_t right = kx * w->dilation_w;
            rl_pair_pack(to, rl_pair_run(k, ya, xa + right, k->own[0]),
                         rl_pair_run(k, yb, xb + right, k->own[1]), k->run);
            to += k->run * RL_PAIR_WORDS;
        }
        ya += w->dilation_h;
        yb += w->dilation_h;
    }
}

static inline void rl_pair_gather_tile(const rl_pair_walk *k, rl_pair_at at) {
    for (int32_t word = 0; word < RL_PAIR_WORDS; word++) {
        const rl_pair_at first = at;
        rl_pair_next(k->p, &at);
        rl_pair_gather(k, first, at, k->words + word);
        rl_pair_next(k->p, &at);
    }
}

/* One pixel's window as a row of bytes. */
static inline int8_t *rl_pair_gather_one(const rl_pair_walk *k, rl_pair_at at) {
    const rl_window *w = &k->p->window;
    int8_t *row = (int8_t *)k->words, *to = row;
    int32_t iy = at.row * w->stride_h - w->pad_top;
    for (int32_t ky = w->kernel_h; ky > 0; ky--) {
        const int32_t ix = at.column * w->stride_w - w->pad_left;
        for (int32_t kx = 0; kx < w->kernel_w; kx += k->p->run_taps) {
            memcpy(to, rl_pair_run(k, iy, ix + kx * w->dilation_w, k->own[0]), (size_t)k->run);
            to += k->run;
        }
        iy += w->dilation_h;
    }
    return row;
}

static inline void rl_pair_narrow(const rl_conv2d_pair_params *p, int8_t *y, int32_t pixels) {
    const int32_t low = p->out_min, high = p->out_max;
    if (low == -128 && high == 127) {
        return;
    }
    for (; pixels > 0; pixels--) {
        for (int32_t o = 0; o < p->group_out; o++) {
            y[o] = (int8_t)rl_clamp(y[o], low, high);
        }
        y += p->window.out_c;
    }
}

/* count pixels from the start of output row `row`, which lie window.out_c bytes apart. Returns where
 * the next group's stream begins. */
static inline const int8_t *rl_pair_pixels(const rl_pair_walk *k, const rl_pair_tier *tier,
                                           int32_t row, int32_t count, const int8_t *weights,
                                           const int8_t *stream, const void *channels, int8_t *y) {
    const rl_conv2d_pair_params *p = k->p;
    const int32_t step = p->window.out_c, width = p->window.out_w;
    const rl_pair_layer t = {p->group_out, step,    2 * p->out_zero_point + 1,
                             p->depth,     weights, p->channel_bytes};
    const int8_t *end = stream;
    rl_pair_at at = {row, 0};
    int32_t done = 0;
    while (done < count) {
        const int32_t left = count - done;
        if (left < RL_PAIR_PIXELS && (left < RL_PAIR_OVERLAP || count < RL_PAIR_PIXELS)) {
            end = tier->pixel(&t, rl_pair_gather_one(k, at), stream, channels, y + done * step);
            rl_pair_narrow(p, y + done * step, 1);
            rl_pair_next(p, &at);
            done++;
            continue;
        }
        if (left < RL_PAIR_PIXELS) {
            done = count - RL_PAIR_PIXELS;
            at.row = row + done / width;
            at.column = done % width;
        }
        rl_pair_gather_tile(k, at);
        end = tier->tile(&t, k->words, stream, channels, y + done * step);
        rl_pair_narrow(p, y + done * step, RL_PAIR_PIXELS);
        for (int32_t i = 0; i < RL_PAIR_PIXELS; i++) {
            rl_pair_next(p, &at);
        }
        done += RL_PAIR_PIXELS;
    }
    return end;
}

static inline void rl_conv2d_pair_walk(const rl_conv2d_pair_params *p, const rl_pair_tier *tier,
                                       const int8_t *x, const int8_t *weights, const int8_t *stream,
                                       const void *channels, int8_t *y, void *scratch) {
    const rl_window *w = &p->window;
    const int32_t run = p->run_taps * p->group_in;
    int8_t *blank = (int8_t *)scratch + 2 * RL_PAIR_PIXELS * p->depth;
    rl_pair_walk k = {p, x, run, scratch, blank, {blank + run, blank + 2 * run}};
    memset(blank, p->in_zero_point, (size_t)run);
    const int32_t dense = w->out_pitch == w->out_w * w->out_c && w->row_end <= w->out_ring;
    const int32_t rows = dense ? w->row_end - w->row_begin : 1;
    for (int32_t n = 0; n < w->batch; n++) {
        for (int32_t row = w->row_begin; row < w->row_end; row += rows) {
            const int8_t *group_weights = weights, *group_stream = stream;
            const int8_t *group_channels = channels;
            int8_t *to = y + rl_row_offset(row, w->out_ring, w->out_pitch);
            for (int32_t g = 0; g < p->groups; g++) {
                k.image = x + g * p->group_in;
                group_stream = rl_pair_pixels(&k, tier, row, rows * w->out_w, group_weights,
                                              group_stream, group_channels, to + g * p->group_out);
                group_weights += tier->group_weights;
                group_channels += p->group_out * p->channel_bytes;
            }
        }
        x += w->in_ring * w->in_pitch;
        y += w->out_ring * w->out_pitch;
    }
}

#endif
