/* conv2d, plain C for Armv6-M: no long multiply, no unaligned load. */
#include "conv2d/walk.h"

static void copy(int8_t *to, const int8_t *from, int32_t size) {
    memcpy(to, from, (size_t)size);
}

void rl_conv2d_s8_v6m(const rl_conv2d_params *p, const int8_t *x, const int8_t *weights,
                      const rl_channel *channels, int8_t *y, void *scratch) {
    const rl_conv2d_tier tier = {rl_tile_v6m, copy, p->group_out * (int32_t)sizeof *channels};
    const rl_tile t = rl_conv2d_tile(p, 0);
    rl_conv2d_walk(p, &tier, &t, x, weights, channels, y, scratch);
}
