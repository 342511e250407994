/* conv2d, plain C for Armv7-M and Armv8-M mainline: the long multiply requantises. */
#include "conv2d/walk.h"

void rl_conv2d_s8_v7m(const rl_conv2d_params *p, const int8_t *x, const int8_t *weights,
                      const rl_channel *channels, int8_t *y, void *scratch) {
    const rl_tile t = rl_conv2d_tile(p, 0);
    const int32_t group_channels = p->group_out * (int32_t)sizeof *channels;
    rl_conv2d_walk(p, x, weights, channels, group_channels, y, scratch, &t, rl_tile_v7m);
}
