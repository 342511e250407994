/* conv2d on NHWC: y[n][i][j][o] = requantise(bias[o] + sum over the window of x * w). README.md
 * here draws the weight layouts and gives the scratch. */
#ifndef RUSHLIGHT_KERNELS_CONV2D_CONV2D_H
#define RUSHLIGHT_KERNELS_CONV2D_CONV2D_H

#include <stdint.h>

#include "common/tile.h"
#include "common/window.h"

typedef struct rl_conv2d_params {
    rl_window window;
    int32_t depth;         /* taps of one output: kernel_h * kernel_w * group_in */
    int32_t group_weights; /* bytes of packed weights a group */
    int16_t groups;
    int16_t group_in;  /* input channels a group */
    int16_t group_out; /* output channels a group */
    int16_t
        contiguous; /* 1: the taps of one kernel row lie side by side (dilation_w 1, groups 1) */
    int16_t in_zero_point;
    int16_t out_zero_point;
    int16_t out_min;
    int16_t out_max;
} rl_conv2d_params;

void rl_conv2d_s8_v6m(const rl_conv2d_params *p, const int8_t *x, const int8_t *weights,
                      const rl_channel *channels, int8_t *y, void *scratch);
void rl_conv2d_s8_v7m(const rl_conv2d_params *p, const int8_t *x, const int8_t *weights,
                      const rl_channel *channels, int8_t *y, void *scratch);
void rl_conv2d_s8_dsp(const rl_conv2d_params *p, const int8_t *x, const int8_t *weights,
                      const rl_channel_dsp *channels, int8_t *y, void *scratch);
void rl_conv2d_s8_mve(const rl_conv2d_params *p, const int8_t *x, const int8_t *weights,
                      const rl_channels_mve *channels, int8_t *y, void *scratch);

#endif
