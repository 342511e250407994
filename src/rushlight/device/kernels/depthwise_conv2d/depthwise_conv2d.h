/* depthwise_conv2d: y[n][i][j][c*M + m] = requantize(bias + sum over taps of x[..][c] * w[c*M +
 * m]), M being the channel multiplier. README.md here draws the weight layouts. */
#ifndef RUSHLIGHT_KERNELS_DEPTHWISE_CONV2D_H
#define RUSHLIGHT_KERNELS_DEPTHWISE_CONV2D_H

#include <stdint.h>

#include "common/requant.h"
#include "common/window.h"

typedef struct rl_depthwise_conv2d_params {
    rl_window window;
    int16_t in_zero_point; /* what a padded tap reads */
    int16_t out_zero_point;
    int16_t out_min;
    int16_t out_max;
    int16_t multiplier;
    int16_t taps;        /* kernel_h * kernel_w */
    int16_t plan_stride; /* mve: bytes of a block's row of groups */
    int16_t clamps;      /* 0 where out_min..out_max is all of int8 */
    int16_t plane_pitch; /* columns of a plane of one channel, padding included; see plane.h */
    int16_t plane_rows;  /* output rows that a plane holds the input of */
    int16_t planes;      /* 1, or 4: channels gathered at once */
    int16_t reserved;
} rl_depthwise_conv2d_params;

/* Any channels, multiplier and pre. weights: [out_c][taps]; scratch: 16 * taps + in_c bytes. */
void rl_depthwise_conv2d_s8_any(const rl_depthwise_conv2d_params *p, const int8_t *x,
                                const int8_t *weights, const rl_channel *channels, int8_t *y,
                                void *scratch);

/* These gather each channel into a plane in scratch; pre must be 0. weights: [out_c][taps]. In place
 * where the output has the input's shape and plane_rows is all of its rows. For v6m* biases are less
 * by 128 times the sum of the channel's weights. scratch: 4 * taps bytes, then the plane and 8. */
void rl_depthwise_conv2d_s8_v6m(const rl_depthwise_conv2d_params *p, const int8_t *x,
                                const int8_t *weights, const rl_channel *channels, int8_t *y,
                                void *scratch);
void rl_depthwise_conv2d_s8_v7m(const rl_depthwise_conv2d_params *p, const int8_t *x,
                                const int8_t *weights, const rl_channel *channels, int8_t *y,
                                void *scratch);

/* The same for 3 x 3 taps without dilation, horizontal stride 1 or (s2) 2. scratch: the plane and 8
 * bytes. */
void rl_depthwise_conv2d_s8_v6m_3x3(const rl_depthwise_conv2d_params *p, const int8_t *x,
                                    const int8_t *weights, const rl_channel *channels, int8_t *y,
                                    void *scratch);
void rl_depthwise_conv2d_s8_v6m_3x3_s2(const rl_depthwise_conv2d_params *p, const int8_t *x,
                                       const int8_t *weights, const rl_channel *channels, int8_t *y,
                                       void *scratch);
void rl_depthwise_conv2d_s8_v7m_3x3(const rl_depthwise_conv2d_params *p, const int8_t *x,
                                    const int8_t *weights, const rl_channel *channels, int8_t *y,
                                    void *scratch);
void rl_depthwise_conv2d_s8_v7m_3x3_s2(const rl_depthwise_conv2d_params *p, const int8_t *x,
                                       const int8_t *weights, const rl_channel *channels, int8_t *y,
                                       void *scratch);
void rl_depthwise_conv2d_s8_dsp_3x3(const rl_depthwise_conv2d_params *p, const int8_t *x,
                                    const int8_t *weights, const rl_channel *channels, int8_t *y,
                                    void *scratch);
void rl_depthwise_conv2d_s8_dsp_3x3_s2(const rl_depthwise_conv2d_params *p, const int8_t *x,
                                       const int8_t *weights, const rl_channel *channels, int8_t *y,
                                       void *scratch);

/* multiplier 1, pre 0. weights: [block][tap][16 channels]; terms: [block][12][4]; groups:
 * [block][plan_stride] lengths of runs of taps whose sums fit 16 bits, ended by 0; scratch: 8 *
 * taps + in_c bytes. */
void rl_depthwise_conv2d_s8_mve(const rl_depthwise_conv2d_params *p, const int8_t *x,
                                const int8_t *weights, const int32_t *terms, const uint8_t *groups,
                                int8_t *y, void *scratch);

/* Nine taps, multiplier 1, pre 0, and the channels a multiple of 16 or (few) up to 8. stream: what a
 * block of 16, or 8, channels needs in the order of its use (README.md); scratch: in_c bytes. */
void rl_depthwise_conv2d_s8_mve_9(const rl_depthwise_conv2d_params *p, const int8_t *x,
                                  const int8_t *stream, int8_t *y, void *scratch);
void rl_depthwise_conv2d_s8_mve_9_few(const rl_depthwise_conv2d_params *p, const int8_t *x,
                                      const int8_t *stream, int8_t *y, void *scratch);

#endif
