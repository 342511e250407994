/* conv2d for cores with the DSP extension. */
#include "common/word.h"
#include "conv2d/walk.h"

void rl_conv2d_s8_dsp(const rl_conv2d_params *p, const int8_t *x, const int8_t *weights,
                      const rl_channel_dsp *channels, int8_t *y, void *scratch) {
    const rl_conv2d_tier tier = {rl_tile_dsp, rl_copy_words,
                                 p->group_out * (int32_t)sizeof *channels};
    const rl_tile t = rl_conv2d_tile(p, scratch);
    /* The tile's widened rows come first, of 2 bytes a tap. */
    int8_t *rows = (int8_t *)scratch + RL_TILE_ROWS * 2 * ((p->depth + 3) & ~3);
    rl_conv2d_walk(p, &tier, &t, x, weights, channels, y, rows);
}
