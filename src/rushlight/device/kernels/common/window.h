/* The geometry that convolution, depthwise convolution and pooling share. All tensors are NHWC.
 *
 * Rows: a call computes output rows row_begin .. row_end-1. Row r of a tensor lies at base + (r %
 * ring) * pitch, so a band of rows can live in a rolling buffer; for a whole tensor ring is its
 * height and pitch its row in bytes. */
#ifndef RUSHLIGHT_KERNELS_COMMON_WINDOW_H
#define RUSHLIGHT_KERNELS_COMMON_WINDOW_H

#include <stdint.h>

typedef struct rl_window {
    int32_t in_pitch;
    int32_t out_pitch;
    int16_t batch;
    int16_t in_h, in_w, in_c;
    int16_t out_h, out_w, out_c;
    int16_t kernel_h, kernel_w;
    int16_t stride_h, stride_w;
    int16_t dilation_h, dilation_w;
    int16_t pad_top, pad_left;
    int16_t row_begin, row_end;
    int16_t in_ring, out_ring;
    int16_t reserved;
} rl_window;

/* Offset in bytes of row r, from the start of its image. */
static inline int32_t rl_row_offset(int32_t row, int32_t ring, int32_t pitch) {
    return (row < ring ? row : row % ring) * pitch;
}

/* A window clipped to the input along one axis: position of its first tap inside, number of taps
 * inside (at least one: the compiler refuses windows of padding alone). */
typedef struct rl_clip {
    int32_t first;
    int32_t taps;
} rl_clip;

static inline rl_clip rl_clip_window(int32_t position, int32_t stride, int32_t pad, int32_t taps,
                                     int32_t dilation, int32_t size) {
    int32_t first = position * stride - pad;
    int32_t last = first + (taps - 1) * dilation;
    for (; first < 0; first += dilation) {
        taps--;
    }
    for (; last >= size; last -= dilation) {
        taps--;
    }
    const rl_clip clip = {first, taps};
    return clip;
}

#endif
