/* The walk of Helium's kernels of nine taps: runs of neighbouring windows that lie inside the image,
 * whose pointers only move on, and single ones that reach into the padding. */
#ifndef RUSHLIGHT_KERNELS_DEPTHWISE_CONV2D_RUNS_H
#define RUSHLIGHT_KERNELS_DEPTHWISE_CONV2D_RUNS_H

#include "common/simd_mve.h"
#include "depthwise_conv2d/walk.h"

enum { RL_DW_NINE = 9 };

/* A run of pixels. The assembly reads these offsets on a 32-bit machine. */
typedef struct rl_dw_run {
    const int8_t *taps[RL_DW_NINE]; /* what the first pixel's taps read */
    const int8_t *stream;           /* biases, weights, multipliers and shifts as they are used */
    int8_t *y;                      /* 40 */
    int32_t zero_point;             /* 44 */
    int32_t channels;               /* 48 */
    int32_t pixels;                 /* 52 */
    int32_t step;                   /* 56: bytes between neighbouring windows */
} rl_dw_run;

/* May change y and pixels. */
typedef void rl_dw_run_pixels(rl_dw_run *run);

/* Narrower ranges than all of int8 are rare, so they cost a pass of their own. */
static inline void rl_dw_clamp_bytes(int8_t *y, int32_t count, int32_t low, int32_t high) {
    for (; count > 0; count -= 16, y += 16) {
        const rl_pred lanes = rl_vctp8q((uint32_t)count);
        rl_s8x16 v = rl_vldrbq_z_s8(y, lanes);
        v = rl_vmaxq_s8(v, rl_vdupq_n_s8((int8_t)low));
        rl_vstrbq_p_s8(y, rl_vminq_s8(v, rl_vdupq_n_s8((int8_t)high)), lanes);
    }
}

/* The rows that an output row's windows read, NULL for those outside the image. */
static inline void rl_dw_lines(const rl_window *w, const int8_t *image, int32_t row,
                               const int8_t **lines) {
    int32_t in_row = row * w->stride_h - w->pad_top;
    for (int32_t kh = 0; kh < w->kernel_h; kh++, in_row += w->dilation_h) {
        const int inside = in_row >= 0 && in_row < w->in_h;
        lines[kh] = inside ? image + rl_row_offset(in_row, w->in_ring, w->in_pitch) : NULL;
    }
}

/* What a window's taps read. */
static inline void rl_dw_taps(const rl_window *w, const int8_t *const *lines, const int8_t *padding,
                              int32_t col, const int8_t **taps) {
    const int32_t kernel_h = w->kernel_h, kernel_w = w->kernel_w, in_w = w->in_w;
    int32_t in_col = col * w->stride_w - w->pad_left;
    for (int32_t kw = 0; kw < kernel_w; kw++, in_col += w->dilation_w) {
        const int inside = in_col >= 0 && in_col < in_w;
        const int32_t at = in_col * w->in_c;
        const int8_t **tap = taps++;
        for (int32_t kh = 0; kh < kernel_h; kh++, tap += kernel_w) {
            *tap = inside && lines[kh] != NULL ? lines[kh] + at : padding;
        }
    }
}

/* `padding` is scratch for a row of zero points. */
static inline void rl_dw_runs(const rl_depthwise_conv2d_params *p, const int8_t *x,
                              const int8_t *stream, int8_t *y, int8_t *padding,
                              rl_dw_run_pixels *run_pixels) {
    const rl_window *w = &p->window;
    const int32_t extent_h = (w->kernel_h - 1) * w->dilation_h + 1;
    const int32_t extent_w = (w->kernel_w - 1) * w->dilation_w + 1;
    int32_t begin = 0, end = 0; /* columns of windows inside */
    while (begin < w->out_w && !rl_dw_inside(begin, w->stride_w, w->pad_left, extent_w, w->in_w)) {
        begin++;
    }
    for (end = begin;
         end < w->out_w && rl_dw_inside(end, w->stride_w, w->pad_left, extent_w, w->in_w);) {
        end++;
    }
    __builtin_memset(padding, p->in_zero_point, (size_t)w->in_c);
    rl_dw_run run = {.stream = stream,
                     .zero_point = p->out_zero_point,
                     .channels = w->in_c,
                     .step = w->stride_w * w->in_c};
    for (int32_t n = 0; n < w->batch; n++) {
        for (int32_t row = w->row_begin; row < w->row_end; row++) {
            const int inside = rl_dw_inside(row, w->stride_h, w->pad_top, extent_h, w->in_h);
            int8_t *line = y + rl_row_offset(row, w->out_ring, w->out_pitch);
            const int8_t *lines[RL_DW_NINE];
            rl_dw_lines(w, x, row, lines);
            for (int32_t col = 0, pixels; col < w->out_w; col += pixels) {
                rl_dw_taps(w, lines, padding, col, run.taps);
                pixels = inside && col == begin && end > begin ? end - begin : 1;
                run.pixels = pixels;
                run.y = line + col * w->out_c;
                run_pixels(&run);
            }
            if (p->clamps != 0) {
                rl_dw_clamp_bytes(line, w->out_w * w->out_c, p->out_min, p->out_max);
            }
        }
        x += w->in_ring * w->in_pitch;
        y += w->out_ring * w->out_pitch;
    }
}

#endif
