/* conv2d for Armv6-M, two pixels a multiply. */
#include "conv2d/pair_walk.h"

void rl_conv2d_s8_v6m_pair(const rl_conv2d_pair_params *p, const int8_t *x, const int8_t *weights,
                           const uint8_t *lengths, const rl_channel_pair_v6m *channels, int8_t *y,
                           void *scratch) {
    const rl_pair_tier tier = {rl_pair_tile_v6m, rl_pair_pixel_v6m,
                               (p->group_out + 15) / 16 * 16 * p->depth};
    rl_conv2d_pair_walk(p, &tier, x, weights, (const int8_t *)lengths, channels, y, scratch);
}
