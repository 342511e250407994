/* avg_pool2d: y = requantize(sum of the window's inputs - taps * zero point), with the divisor in
 * the multiplier. README.md here states the tables. */
#ifndef RUSHLIGHT_KERNELS_AVG_POOL2D_H
#define RUSHLIGHT_KERNELS_AVG_POOL2D_H

#include <stdint.h>

#include "common/requant.h"
#include "common/window.h"

typedef struct rl_avg_pool2d_params {
    rl_window window;
    int16_t out_zero_point;
    int16_t out_min;
    int16_t out_max;
    int16_t col_classes; /* entries in a row of `classes` */
    int16_t flush_rows;  /* rows of taps whose sums fit 16 bits (dsp, mve); at least 1 */
    int16_t reserved;
} rl_avg_pool2d_params;

/* classes: [row class][column class], bias = -taps * zero point; row_class: [out_h]; col_class:
 * [out_w]. */
void rl_avg_pool2d_s8_v6m(const rl_avg_pool2d_params *p, const int8_t *x, const rl_channel *classes,
                          const uint16_t *row_class, const uint16_t *col_class, int8_t *y);
void rl_avg_pool2d_s8_v7m(const rl_avg_pool2d_params *p, const int8_t *x, const rl_channel *classes,
                          const uint16_t *row_class, const uint16_t *col_class, int8_t *y);
/* At most 256 taps in a row of a window; at least 4 channels (dsp). */
void rl_avg_pool2d_s8_dsp(const rl_avg_pool2d_params *p, const int8_t *x, const rl_channel *classes,
                          const uint16_t *row_class, const uint16_t *col_class, int8_t *y);
void rl_avg_pool2d_s8_mve(const rl_avg_pool2d_params *p, const int8_t *x, const rl_channel *classes,
                          const uint16_t *row_class, const uint16_t *col_class, int8_t *y);

#endif
