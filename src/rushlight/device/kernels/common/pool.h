/* The walk over output pixels that max and average pooling share: each window is clipped to the
 * input, so a kernel sees only taps that are there. */
#ifndef RUSHLIGHT_KERNELS_COMMON_POOL_H
#define RUSHLIGHT_KERNELS_COMMON_POOL_H

#include "common/window.h"

/* The taps of one window: rows * cols, channel 0 of the first at image + offset. Rows may wrap
 * round in a rolling buffer. */
typedef struct rl_area {
    const int8_t *image;
    int32_t offset;
    int32_t rows, cols;
    int32_t row_step, col_step;
    int32_t ring_bytes;
    int32_t moved; /* bytes from the last pixel's taps to these; 0 where they are not alike */
} rl_area;

/* Offset of the next row of taps. */
static inline int32_t rl_area_next(const rl_area *area, int32_t offset) {
    offset += area->row_step;
    return offset >= area->ring_bytes ? offset - area->ring_bytes : offset;
}

/* Computes all channels of one output pixel. */
typedef void rl_pool_pixel(const rl_area *area, int32_t row, int32_t col, int8_t *y, void *context);

/* Inlined, so that the pixel function is too. */
static inline void rl_pool_walk(const rl_window *w, const int8_t *x, int8_t *y,
                                rl_pool_pixel *pixel, void *context) {
    rl_area area;
    area.row_step = w->dilation_h * w->in_pitch;
    area.col_step = w->dilation_w * w->in_c;
    area.ring_bytes = w->in_ring * w->in_pitch;
    area.image = x;
    area.cols = 0;
    area.offset = 0;
    for (int32_t n = 0; n < w->batch; n++) {
        for (int32_t row = w->row_begin; row < w->row_end; row++) {
            const rl_clip down =
                rl_clip_window(row, w->stride_h, w->pad_top, w->kernel_h, w->dilation_h, w->in_h);
            const int32_t line = rl_row_offset(down.first, w->in_ring, w->in_pitch);
            int8_t *out = y + rl_row_offset(row, w->out_ring, w->out_pitch);
            area.rows = down.taps;
            for (int32_t col = 0; col < w->out_w; col++) {
                const rl_clip across = rl_clip_window(col, w->stride_w, w->pad_left, w->kernel_w,
                                                      w->dilation_w, w->in_w);
                const int32_t offset = line + across.first * w->in_c;
                area.moved = col > 0 && across.taps == area.cols ? offset - area.offset : 0;
                area.offset = offset;
                area.cols = across.taps;
                pixel(&area, row, col, out, context);
                out += w->out_c;
            }
        }
        area.image += area.ring_bytes;
        y += w->out_ring * w->out_pitch;
    }
}

/* Computes `pixels` neighbouring output pixels of one row; `area` is the first's window, the others
 * are like it, each stride_w columns on. */
typedef void rl_pool_run(const rl_area *area, int32_t row, int32_t col, int32_t pixels, int8_t *y,
                         void *context);

/* The same walk by runs of pixels: the windows of a row that lie between the input's sides are one,
 * each other window is one of its own. */
static inline void rl_pool_runs(const rl_window *w, const int8_t *x, int8_t *y, rl_pool_run *run,
                                void *context) {
    const int32_t extent = (w->kernel_w - 1) * w->dilation_w;
    int32_t begin = 0, end = w->out_w;
    for (int32_t at = -w->pad_left; at < 0; at += w->stride_w) {
        begin++;
    }
    for (int32_t at = (end - 1) * w->stride_w - w->pad_left; at + extent >= w->in_w;
         at -= w->stride_w) {
        end--;
    }
    rl_area area;
    area.row_step = w->dilation_h * w->in_pitch;
    area.col_step = w->dilation_w * w->in_c;
    area.ring_bytes = w->in_ring * w->in_pitch;
    area.image = x;
    area.moved = 0;
    for (int32_t n = 0; n < w->batch; n++) {
        for (int32_t row = w->row_begin; row < w->row_end; row++) {
            const rl_clip down =
                rl_clip_window(row, w->stride_h, w->pad_top, w->kernel_h, w->dilation_h, w->in_h);
            const int32_t line = rl_row_offset(down.first, w->in_ring, w->in_pitch);
            int8_t *out = y + rl_row_offset(row, w->out_ring, w->out_pitch);
            area.rows = down.taps;
            for (int32_t col = 0, pixels; col < w->out_w; col += pixels) {
                const rl_clip across = rl_clip_window(col, w->stride_w, w->pad_left, w->kernel_w,
                                                      w->dilation_w, w->in_w);
                pixels = col == begin && begin < end ? end - begin : 1;
                area.offset = line + across.first * w->in_c;
                area.cols = across.taps;
                run(&area, row, col, pixels, out, context);
                out += pixels * w->out_c;
            }
        }
        area.image += area.ring_bytes;
        y += w->out_ring * w->out_pitch;
    }
}

#endif
