/* linear: y[n][o] = requantize(bias[o] + sum_k x[n][k] * w[o][k]). The
 * matrix tile of convolution computes it; conv2d/README.md draws the weight layouts. */
#ifndef RUSHLIGHT_KERNELS_LINEAR_LINEAR_H
#define RUSHLIGHT_KERNELS_LINEAR_LINEAR_H

#include <stdint.h>

#include "common/tile.h"

typedef struct rl_linear_params {
    int32_t rows;
    int32_t in_features;
    int32_t out_features;
    int16_t out_zero_point;
    int16_t out_min;
    int16_t out_max;
    int16_t reserved;
} rl_linear_params;

/* x: [rows][in_features]; y: [rows][out_features]. */
void rl_linear_s8_v6m(const rl_linear_params *p, const int8_t *x, const int8_t *weights,
                      const rl_channel *channels, int8_t *y, void *scratch);
void rl_linear_s8_v7m(const rl_linear_params *p, const int8_t *x, const int8_t *weights,
                      const rl_channel *channels, int8_t *y, void *scratch);
void rl_linear_s8_dsp(const rl_linear_params *p, const int8_t *x, const int8_t *weights,
                      const rl_channel_dsp *channels, int8_t *y, void *scratch);
/* rows is 1; for few output features. */
void rl_linear_s8_dsp_few(const rl_linear_params *p, const int8_t *x, const int8_t *weights,
                          const rl_channel_dsp *channels, int8_t *y);
void rl_linear_s8_mve(const rl_linear_params *p, const int8_t *x, const int8_t *weights,
                      const rl_channels_mve *channels, int8_t *y, void *scratch);
/* rows is 1. Scratch for the row if it is not of whole steps. */
void rl_linear_s8_mve_row(const rl_linear_params *p, const int8_t *x, const int8_t *weights,
                          const rl_channels_mve *channels, int8_t *y, void *scratch);

#endif
