/* conv2d for cores without SIMD, two pixels a multiply (common/pair.h). README.md here draws the
 * weight layouts and gives the scratch. */
#ifndef RUSHLIGHT_KERNELS_CONV2D_PAIR_H
#define RUSHLIGHT_KERNELS_CONV2D_PAIR_H

#include <stdint.h>

#include "common/pair.h"
#include "common/window.h"

/* A window is read as runs of bytes: each of its rows (run_taps = kernel_w, one run a row) or, with
 * groups or dilation, each of its taps (run_taps = 1, kernel_w runs a row). */
typedef struct rl_conv2d_pair_params {
    rl_window window;
    int32_t depth; /* taps of one output: kernel_h * kernel_w * group_in */
    int16_t groups;
    int16_t group_in;  /* input channels a group */
    int16_t group_out; /* output channels a group */
    int16_t run_taps;
    int16_t in_zero_point;
    int16_t out_zero_point;
    int16_t out_min;
    int16_t out_max;
    int16_t channel_bytes; /* of a channel's entry */
    int16_t padded;        /* 1: windows reach out of the input */
} rl_conv2d_pair_params;

/* The figure is the pixels of a tile. scratch: 2 * pixels * depth bytes, and 3 runs if
 * padded. */
void rl_conv2d_s8_v7m_pair8(const rl_conv2d_pair_params *p, const int8_t *x, const int8_t *weights,
                            const rl_channel_pair *channels, int8_t *y, void *scratch);
void rl_conv2d_s8_v7m_pair4(const rl_conv2d_pair_params *p, const int8_t *x, const int8_t *weights,
                            const rl_channel_pair *channels, int8_t *y, void *scratch);
void rl_conv2d_s8_v6m_pair8(const rl_conv2d_pair_params *p, const int8_t *x, const int8_t *weights,
                            const uint8_t *lengths, const rl_channel_pair_v6m *channels, int8_t *y,
                            void *scratch);
void rl_conv2d_s8_v6m_pair4(const rl_conv2d_pair_params *p, const int8_t *x, const int8_t *weights,
                            const uint8_t *lengths, const rl_channel_pair_v6m *channels, int8_t *y,
                            void *scratch);

#endif
