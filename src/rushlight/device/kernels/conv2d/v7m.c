/* conv2d, plain C for Armv7-M and Armv8-M mainline: the long multiply requantises. */
#include "common/word.h"
#include "conv2d/walk.h"

void rl_conv2d_s8_v7m(const rl_conv2d_params *p, const int8_t *x, const int8_t *weights,
                      const rl_channel *channels, int8_t *y, void *scratch) {
    const rl_conv2d_tier tier = {rl_tile_v7m, rl_copy_words,
                                 p->group_out * (int32_t)sizeof *channels};
    const rl_tile t = rl_conv2d_tile(p, 0);
    rl_conv2d_walk(p, &tier, &t, x, weights, channels, y, scratch);
}
