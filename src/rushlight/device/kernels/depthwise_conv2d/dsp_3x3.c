/* depthwise_conv2d for the DSP extension: 3 x 3 taps, horizontal stride 1. */
#include "depthwise_conv2d/tap3_dsp.h"

static RL_DW_NOINLINE void channel(const rl_depthwise_conv2d_params *p, const rl_dw_band *band,
                                   const rl_channel *terms) {
    rl_dw_channel3(p, band, terms, rl_dw_four_1, rl_dw_two_1);
}

void rl_depthwise_conv2d_s8_dsp_3x3(const rl_depthwise_conv2d_params *p, const int8_t *x,
                                    const int8_t *weights, const rl_channel *channels, int8_t *y,
                                    void *scratch) {
    rl_dw_planes(p, x, weights, channels, y, NULL, scratch, 1, 0, channel);
}
