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
    int16_t taps;        /* kernel_h * kernel_w; for v6m, v7m, dsp rounded up to a multiple of 3 */
    int16_t plan_stride; /* mve: bytes of a block's row of groups */
    int16_t clamps;      /* 0 where out_min..out_max is all of int8 */
} rl_depthwise_conv2d_params;

/* Any channels, multiplier and pre. weights: [out_c][taps]; scratch: 16 * taps + in_c bytes. */
void rl_depthwise_conv2d_s8_any(const rl_depthwise_conv2d_params *p, const int8_t *x,
                                const int8_t *weights, const rl_channel *channels, int8_t *y,
                                void *scratch);

/* What the kernels below need of a channel, all made ready by the compiler: y = clamp((acc *
 * multiplier / 2^16 + addend) >> right), the addend holding zero point and rounding. */
typedef struct rl_dw_terms {
    int32_t bias;
    int32_t addend;
    int32_t multiplier; /* for v7m shifted left by 16, so that the product's high half is wanted */
    int32_t right;      /* shift - 16 */
} rl_dw_terms;

/* These three: multiplier 1, at least 4 channels, pre 0. weights: [quad][tap][4 channels], as int16
 * in the order 0 2 1 3 for dsp; terms: [quad][4] of rl_dw_terms; scratch: 8 * taps + in_c bytes. */
void rl_depthwise_conv2d_s8_v6m(const rl_depthwise_conv2d_params *p, const int8_t *x,
                                const int8_t *weights, const int32_t *terms, int8_t *y,
                                void *scratch);
void rl_depthwise_conv2d_s8_v7m(const rl_depthwise_conv2d_params *p, const int8_t *x,
                                const int8_t *weights, const int32_t *terms, int8_t *y,
                                void *scratch);
void rl_depthwise_conv2d_s8_dsp(const rl_depthwise_conv2d_params *p, const int8_t *x,
                                const int16_t *weights, const int32_t *terms, int8_t *y,
                                void *scratch);

/* multiplier 1, pre 0. weights: [block][tap][16 channels]; terms: [block][12][4]; groups:
 * [block][plan_stride] lengths of runs of taps whose sums fit 16 bits, ended by 0; scratch: 8 *
 * taps + in_c bytes. */
void rl_depthwise_conv2d_s8_mve(const rl_depthwise_conv2d_params *p, const int8_t *x,
                                const int8_t *weights, const int32_t *terms, const uint8_t *groups,
                                int8_t *y, void *scratch);

#endif
