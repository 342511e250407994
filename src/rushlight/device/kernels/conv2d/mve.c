/* conv2d for Helium. */
#include "conv2d/walk.h"

void rl_conv2d_s8_mve(const rl_conv2d_params *p, const int8_t *x, const int8_t *weights,
                      const rl_channels_mve *channels, int8_t *y, void *scratch) {
    const rl_tile t = rl_conv2d_tile(p, 0);
    const int32_t group_channels = (p->group_out + 3) / 4 * (int32_t)sizeof *channels;
    rl_conv2d_walk(p, x, weights, channels, group_channels, y, scratch, &t, rl_tile_mve);
}
