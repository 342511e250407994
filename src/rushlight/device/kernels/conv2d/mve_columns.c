/* conv2d for Helium where windows overlap: the input columns under several windows side by side are
 * copied to scratch once, one after another, kernel_h taps each; so the windows are overlapping runs
 * of it, and the weights' order is kernel column, kernel row, input channel. */
#include "common/copy_mve.h"
#include "common/dot_mve.h"
#include "conv2d/window_mve.h"

/* Bytes of columns under so many windows. */
static int32_t strip(const rl_conv2d_params *p, int32_t count) {
    const rl_window *w = &p->window;
    return ((count - 1) * w->stride_w + w->kernel_w) * w->kernel_h * w->in_c;
}

/* The columns of `count` windows from output column ox on; down: their rows inside. */
static void gather(const rl_conv2d_params *p, const int8_t *image, rl_inside down, int32_t ox,
                   int32_t count, int8_t *to) {
    const rl_window *w = &p->window;
    const int32_t column = w->kernel_h * w->in_c;
    const int32_t columns = (count - 1) * w->stride_w + w->kernel_w;
    const rl_inside across = rl_taps_inside(ox * w->stride_w - w->pad_left, columns, 1, w->in_w);
    if (down.taps < w->kernel_h || across.taps < columns) {
        rl_fill(to, columns * column, p->in_zero_point);
    }
    if (across.taps <= 0) {
        return;
    }
    const rl_steps to_steps = {w->in_c, column};
    const rl_steps from_steps = {w->dilation_h * w->in_pitch, w->in_c};
    const int32_t last = down.at + (down.taps - 1) * w->dilation_h;
    const int32_t at_once = last < w->in_ring ? down.taps : 1;
    image += across.at * w->in_c;
    to += across.skipped * column + down.skipped * w->in_c;
    for (int32_t iy = down.at; iy <= last; iy += at_once * w->dilation_h) {
        rl_copy_runs(to, to_steps, image + rl_row_offset(iy, w->in_ring, w->in_pitch), from_steps,
                     w->in_c, at_once, across.taps);
        to += w->in_c;
    }
}

void rl_conv2d_s8_mve_columns(const rl_conv2d_params *p, const int8_t *x, const int8_t *weights,
                              const rl_channels_mve *channels, int8_t *y, void *scratch) {
    const rl_window *w = &p->window;
    const rl_tile t = rl_conv2d_tile_mve(p);
    const int32_t step = w->stride_w * w->kernel_h * w->in_c;
    const int32_t pitch = rl_whole_steps(p->depth);
    const int32_t room = rl_clamp(rl_gathered(pitch) * pitch, 1024, INT32_MAX);
    int32_t most = 8;
    while (most > 2 && strip(p, most) > room) {
        most >>= 1;
    }
    for (int32_t n = 0; n < w->batch; n++) {
        for (int32_t oy = w->row_begin; oy < w->row_end; oy++) {
            const rl_inside down =
                rl_taps_inside(oy * w->stride_h - w->pad_top, w->kernel_h, w->dilation_h, w->in_h);
            int8_t *to = y + rl_row_offset(oy, w->out_ring, w->out_pitch);
            for (int32_t ox = 0; ox < w->out_w; ox += most) {
                const int32_t count = rl_clamp(w->out_w - ox, 1, most);
                gather(p, x, down, ox, count, scratch);
                rl_tile_mve(&t, count, scratch, step, weights, channels, to, w->out_c);
                to += count * w->out_c;
            }
        }
        x += w->in_ring * w->in_pitch;
        y += w->out_ring * w->out_pitch;
    }
}
