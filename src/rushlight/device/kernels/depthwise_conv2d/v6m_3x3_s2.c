/* depthwise_conv2d for Armv6-M: 3 x 3 taps, horizontal stride 2. */
#include "depthwise_conv2d/tap3_v6m.h"

static RL_DW_NOINLINE void channel(const rl_depthwise_conv2d_params *p, const rl_dw_band *band,
                                   const rl_channel *terms) {
    rl_dw_channel3(p, band, terms, rl_dw_four_2, rl_dw_two_2);
}

void rl_depthwise_conv2d_s8_v6m_3x3_s2(const rl_depthwise_conv2d_params *p, const int8_t *x,
                                       const int8_t *weights, const rl_channel *channels, int8_t *y,
                                       void *scratch) {
    rl_dw_planes(p, x, weights, channels, y, NULL, scratch, 1, 0x80, channel);
}
