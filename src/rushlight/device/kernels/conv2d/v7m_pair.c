/* conv2d for Armv7-M and Armv8-M mainline without DSP, two pixels a multiply. */
#include "conv2d/pair_walk.h"

void rl_conv2d_s8_v7m_pair(const rl_conv2d_pair_params *p, const int8_t *x, const int8_t *weights,
                           const rl_channel_pair *channels, int8_t *y, void *scratch) {
    const rl_pair_tier tier = {rl_pair_tile_v7m, rl_pair_pixel_v7m, 0};
    rl_conv2d_pair_walk(p, &tier, x, 0, weights, channels, y, scratch);
}
