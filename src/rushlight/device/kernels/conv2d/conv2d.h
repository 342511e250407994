/* conv2d on NHWC: y[n][i][j][o] = requantise(bias[o] + sum over the window of x * w). README.md
 * here draws the weight layouts and gives the scratch. */
#ifndef RUSHLIGHT_KERNELS_CONV2D_CONV2D_H
#define RUSHLIGHT_KERNELS_CONV2D_CONV2D_H

#include <stdint.h>

#include "common/tile.h"
#include "common/window.h"

/* How the window of an output pixel becomes a row of bytes for the matrix tile. */
enum {
    RL_CONV2D_DIRECT = 0, /* it lies in the input as one run: kernel_h 1, no padding */
    RL_CONV2D_RUNS = 1,   /* each of its rows is a run: dilation_w 1, groups 1 */
    RL_CONV2D_TAPS = 2    /* each tap is a run of group_in channels */
};

typedef struct rl_conv2d_params {
    rl_window window;
    int32_t depth;         /* taps of one output: kernel_h * kernel_w * group_in */
    int32_t group_weights; /* bytes of packed weights a group */
    int16_t groups;
    int16_t group_in;  /* input channels a group */
    int16_t group_out; /* output channels a group */
    int16_t gather;    /* RL_CONV2D_... */
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
/* gather RL_CONV2D_RUNS; weights in the order of columns. */
void rl_conv2d_s8_mve_columns(const rl_conv2d_params *p, const int8_t *x, const int8_t *weights,
                              const rl_channels_mve *channels, int8_t *y, void *scratch);

#endif
