/* conv2d for Helium. The matrix tile reads rows in whole steps of 16 bytes, so rows whose last step
 * would read beyond the input, and all that are not one run of the input, are copied to scratch.
 * Several are, before they go to the tile together, over the ends of output rows where the output
 * is dense. */
#include "common/copy_mve.h"
#include "common/dot_mve.h"
#include "conv2d/conv2d.h"

/* The taps of a window that lie inside the input, along one axis. */
typedef struct inside {
    int32_t skipped; /* taps before */
    int32_t taps;    /* not positive: none */
    int32_t at;      /* of the first one */
} inside;

static inline inside clip(int32_t at, int32_t taps, int32_t dilation, int32_t size) {
    inside c = {0, taps, at};
    for (; c.at < 0; c.at += dilation) {
        c.skipped++;
        c.taps--;
    }
    for (int32_t end = c.at + (c.taps - 1) * dilation; end >= size; end -= dilation) {
        c.taps--;
    }
    return c;
}

/* Copies the rows of a window that lie inside, clipped to `across` columns. */
static void gather(const rl_conv2d_params *p, const int8_t *image, const inside *down,
                   const inside *across, int8_t *out) {
    const rl_window *w = &p->window;
    const int32_t tap = p->group_in;
    const int32_t row = w->kernel_w * tap;
    const int32_t runs = p->gather != RL_CONV2D_TAPS;
    int32_t iy = down->at, left = down->taps;
    image += across->at * w->in_c;
    out += down->skipped * row + across->skipped * tap;
    while (left > 0) {
        const int8_t *from = image + rl_row_offset(iy, w->in_ring, w->in_pitch);
        if (!runs) {
            rl_copy_runs(out, tap, from, w->dilation_w * w->in_c, tap, across->taps);
        } else if (iy < w->in_ring && iy + (left - 1) * w->dilation_h < w->in_ring) {
            rl_copy_runs(out, row, from, w->dilation_h * w->in_pitch, across->taps * tap, left);
            return;
        } else {
            rl_copy_runs(out, 0, from, 0, across->taps * tap, 1);
        }
        out += row;
        iy += w->dilation_h;
        left--;
    }
}

/* Windows of one group wait in scratch for the tile. */
typedef struct batch {
    rl_tile tile;
    const int8_t *weights;
    const rl_channels_mve *channels;
    int8_t *scratch;
    int32_t pitch, most, count;
    int8_t *y; /* of the first one */
} batch;

static inline void flush(const rl_conv2d_params *p, batch *b) {
    rl_tile_mve(&b->tile, b->count, b->scratch, b->pitch, b->weights, b->channels, b->y,
                p->window.out_c);
    b->y += b->count * p->window.out_c;
    b->count = 0;
}

static inline void fill(int8_t *to, int32_t size, rl_s8x16 value) {
    for (; size > 0; size -= 16) {
        rl_vstrbq_s8(to, value);
        to += 16;
    }
}

static void gathered_row(const rl_conv2d_params *p, batch *b, const int8_t *image, int32_t oy) {
    const rl_window *w = &p->window;
    const rl_s8x16 padding = rl_vdupq_n_s8((int8_t)p->in_zero_point);
    const inside down = clip(oy * w->stride_h - w->pad_top, w->kernel_h, w->dilation_h, w->in_h);
    int32_t ix = -w->pad_left;
    const int32_t whole =
        down.taps == w->kernel_h ? w->in_w - (w->kernel_w - 1) * w->dilation_w : 0;
    for (int32_t ox = 0; ox < w->out_w; ox++) {
        int8_t *out = b->scratch + b->count * b->pitch;
        inside across = {0, w->kernel_w, ix};
        if (ix < 0 || ix >= whole) {
            fill(out, b->pitch, padding);
            across = clip(ix, w->kernel_w, w->dilation_w, w->in_w);
        }
        if (across.taps > 0) {
            gather(p, image, &down, &across, out);
        }
        ix += w->stride_w;
        b->count++;
        if (b->count == b->most) {
            flush(p, b);
        }
    }
}

/* Rows of pixels that lie in the input as they are, `room` bytes before its end. */
static void direct(const rl_conv2d_params *p, batch *b, const int8_t *x, int32_t room,
                   int32_t count, int8_t *y) {
    const int32_t step = p->window.stride_w * p->window.in_c;
    int32_t in_place = count;
    while (in_place > 0 && (in_place - 1) * step + b->pitch > room) {
        in_place--;
    }
    rl_tile_mve(&b->tile, in_place, x, step, b->weights, b->channels, y, p->window.out_c);
    b->count = count - in_place;
    b->y = y + in_place * p->window.out_c;
    if (b->count > 0) {
        rl_copy_runs(b->scratch, b->pitch, x + in_place * step, step, p->depth, b->count);
        flush(p, b);
    }
}

/* How many output rows are one run of pixels in the input. */
static int32_t rows_at_once(const rl_window *w) {
    const int32_t dense = w->kernel_w == 1 && w->stride_h == 1 && w->stride_w == 1 &&
                          w->in_pitch == w->in_w * w->in_c && w->out_pitch == w->out_w * w->out_c &&
                          w->row_end <= w->in_ring && w->row_end <= w->out_ring;
    return dense ? w->row_end - w->row_begin : 1;
}

static void one_group(const rl_conv2d_params *p, batch *b, const int8_t *image, int32_t room,
                      int8_t *y) {
    const rl_window *w = &p->window;
    if (p->gather == RL_CONV2D_DIRECT) {
        const int32_t rows = rows_at_once(w);
        for (int32_t oy = w->row_begin; oy < w->row_end; oy += rows) {
            const int32_t at = rl_row_offset(oy * w->stride_h, w->in_ring, w->in_pitch);
            direct(p, b, image + at, room - at, rows * w->out_w,
                   y + rl_row_offset(oy, w->out_ring, w->out_pitch));
        }
        return;
    }
    const int32_t dense = w->out_pitch == w->out_w * w->out_c && w->row_end <= w->out_ring;
    b->y = y + rl_row_offset(w->row_begin, w->out_ring, w->out_pitch);
    for (int32_t oy = w->row_begin; oy < w->row_end; oy++) {
        if (!dense) {
            b->y = y + rl_row_offset(oy, w->out_ring, w->out_pitch);
        }
        gathered_row(p, b, image, oy);
        if (!dense || oy == w->row_end - 1) {
            flush(p, b);
        }
    }
}

void rl_conv2d_s8_mve(const rl_conv2d_params *p, const int8_t *x, const int8_t *weights,
                      const rl_channels_mve *channels, int8_t *y, void *scratch) {
    const rl_window *w = &p->window;
    const int32_t image_bytes = w->in_ring * w->in_pitch;
    int32_t room = w->batch * image_bytes - (w->in_pitch - w->in_w * w->in_c);
    batch b = {.tile = {.depth = p->depth,
                        .channels = p->group_out,
                        .zero_point = p->out_zero_point,
                        .low = p->out_min,
                        .high = p->out_max},
               .scratch = scratch,
               .pitch = rl_whole_steps(p->depth)};
    b.most = b.pitch <= 64 ? 8 : b.pitch <= 256 ? 4 : 2;
    for (int32_t n = 0; n < w->batch; n++) {
        b.weights = weights;
        b.channels = channels;
        for (int32_t g = 0; g < p->groups; g++) {
            one_group(p, &b, x + g * p->group_in, room - g * p->group_in, y + g * p->group_out);
            b.weights += p->group_weights;
            b.channels += (p->group_out + 3) >> 2;
        }
        x += image_bytes;
        room -= image_bytes;
        y += w->out_ring * w->out_pitch;
    }
}
