/* conv2d for Helium. The matrix tile reads rows in whole steps of 16 bytes, so rows whose last step
 * would read beyond the input, and all that are not one run of the input, are copied to scratch:
 * several, before they go to the tile together, over the ends of output rows where the output is
 * dense. */
#include "common/copy_mve.h"
#include "common/dot_mve.h"
#include "conv2d/window_mve.h"

/* Windows of one group of channels that wait in scratch for the tile. */
typedef struct batch {
    const rl_conv2d_params *p;
    rl_tile tile;
    const int8_t *weights;
    const rl_channels_mve *channels;
    int8_t *scratch;
    int32_t pitch, most, count;
    int32_t whole_begin, whole_end; /* output columns whose windows are whole */
    int8_t *y;                      /* of the first one */
} batch;

static void to_tile(batch *b, int32_t rows, const int8_t *x, int32_t x_step) {
    rl_tile_mve(&b->tile, rows, x, x_step, b->weights, b->channels, b->y, b->p->window.out_c);
    b->y += rows * b->p->window.out_c;
}

__attribute__((noinline)) static void flush(batch *b) {
    to_tile(b, b->count, b->scratch, b->pitch);
    b->count = 0;
}

/* Copies what is inside of `count` windows side by side. */
static void gather(const batch *b, const int8_t *image, const rl_inside *down,
                   const rl_inside *across, int32_t count) {
    const rl_conv2d_params *p = b->p;
    const rl_window *w = &p->window;
    const int32_t row = w->kernel_w * p->group_in;
    const int32_t columns = p->gather == RL_CONV2D_TAPS;
    /* A run is a row of the window; or it is a tap, and a row of the window is several runs. */
    const rl_steps to_steps = {columns ? p->group_in : row, b->pitch};
    const rl_steps from_steps = {columns ? w->dilation_w * w->in_c : w->dilation_h * w->in_pitch,
                                 w->stride_w * w->in_c};
    const int32_t size = columns ? p->group_in : across->taps * p->group_in;
    const int32_t last = down->at + (down->taps - 1) * w->dilation_h;
    const int32_t at_once = columns || last >= w->in_ring ? 1 : down->taps;
    int8_t *to =
        b->scratch + b->count * b->pitch + down->skipped * row + across->skipped * p->group_in;
    image += across->at * w->in_c;
    for (int32_t iy = down->at; iy <= last; iy += at_once * w->dilation_h) {
        rl_copy_runs(to, to_steps, image + rl_row_offset(iy, w->in_ring, w->in_pitch), from_steps,
                     size, columns ? across->taps : at_once, count);
        to += row;
    }
}

__attribute__((noinline)) static void gathered_row(batch *b, const int8_t *image, int32_t oy) {
    const rl_window *w = &b->p->window;
    const rl_inside down =
        rl_taps_inside(oy * w->stride_h - w->pad_top, w->kernel_h, w->dilation_h, w->in_h);
    for (int32_t ox = 0; ox < w->out_w;) {
        const int32_t ix = ox * w->stride_w - w->pad_left;
        const int32_t whole = ox >= b->whole_begin && ox < b->whole_end;
        rl_inside across = {0, w->kernel_w, ix};
        int32_t count = 1;
        if (whole) {
            count = rl_clamp(b->whole_end - ox, 1, b->most - b->count);
        } else {
            across = rl_taps_inside(ix, w->kernel_w, w->dilation_w, w->in_w);
        }
        if (!whole || down.taps < w->kernel_h) {
            rl_fill(b->scratch + b->count * b->pitch, count * b->pitch, b->p->in_zero_point);
        }
        if (across.taps > 0) {
            gather(b, image, &down, &across, count);
        }
        ox += count;
        b->count += count;
        if (b->count == b->most) {
            flush(b);
        }
    }
}

/* `count` pixels that lie in the input as they are, `room` bytes before its end. */
static void direct(batch *b, const int8_t *x, int32_t room, int32_t count) {
    const rl_steps from_steps = {b->p->window.stride_w * b->p->window.in_c, 0};
    const rl_steps to_steps = {b->pitch, 0};
    int32_t in_place = count;
    while (in_place > 0 && (in_place - 1) * from_steps.run + b->pitch > room) {
        in_place--;
    }
    to_tile(b, in_place, x, from_steps.run);
    if (in_place < count) {
        b->count = count - in_place;
        rl_copy_runs(b->scratch, to_steps, x + in_place * from_steps.run, from_steps, b->p->depth,
                     b->count, 1);
        flush(b);
    }
}

static void one_group(batch *b, const int8_t *image, int32_t room, int8_t *y) {
    const rl_window *w = &b->p->window;
    const int32_t as_one = w->out_pitch == w->out_w * w->out_c && w->row_end <= w->out_ring;
    int32_t rows = 1; /* at once */
    if (b->p->gather == RL_CONV2D_DIRECT && w->kernel_w == 1 && w->stride_h == 1 &&
        w->stride_w == 1 && w->in_pitch == w->in_w * w->in_c && w->row_end <= w->in_ring &&
        as_one) {
        rows = w->row_end - w->row_begin;
    }
    for (int32_t oy = w->row_begin; oy < w->row_end; oy += rows) {
        if (oy == w->row_begin || !as_one) {
            b->y = y + rl_row_offset(oy, w->out_ring, w->out_pitch);
        }
        if (b->p->gather == RL_CONV2D_DIRECT) {
            const int32_t at = rl_row_offset(oy * w->stride_h, w->in_ring, w->in_pitch);
            direct(b, image + at, room - at, rows * w->out_w);
        } else {
            gathered_row(b, image, oy);
            if (!as_one) {
                flush(b);
            }
        }
    }
    flush(b);
}

static void find_whole(batch *b) {
    const rl_window *w = &b->p->window;
    const int32_t last = w->in_w - (w->kernel_w - 1) * w->dilation_w - 1 + w->pad_left;
    b->whole_begin = (w->pad_left + w->stride_w - 1) / w->stride_w;
    b->whole_end = last < 0 ? 0 : rl_clamp(last / w->stride_w + 1, 0, w->out_w);
}

void rl_conv2d_s8_mve(const rl_conv2d_params *p, const int8_t *x, const int8_t *weights,
                      const rl_channels_mve *channels, int8_t *y, void *scratch) {
    const rl_window *w = &p->window;
    const int32_t image_bytes = w->in_ring * w->in_pitch;
    int32_t room = w->batch * image_bytes - (w->in_pitch - w->in_w * w->in_c);
    batch b = {.p = p,
               .tile = rl_conv2d_tile_mve(p),
               .scratch = scratch,
               .pitch = rl_whole_steps(p->depth)};
    b.most = rl_gathered(b.pitch);
    find_whole(&b);
    for (int32_t n = 0; n < w->batch; n++) {
        b.weights = weights;
        b.channels = channels;
        for (int32_t g = 0; g < p->groups; g++) {
            one_group(&b, x + g * p->group_in, room - g * p->group_in, y + g * p->group_out);
            b.weights += p->group_weights;
            b.channels += (p->group_out + 3) >> 2;
        }
        x += image_bytes;
        room -= image_bytes;
        y += w->out_ring * w->out_pitch;
    }
}
