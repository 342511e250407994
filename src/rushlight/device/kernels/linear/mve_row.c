/* linear for Helium: the one row with eight output features at a time. */
#include "common/copy_mve.h"
#include "common/dot_mve.h"
#include "linear/linear.h"

void rl_linear_s8_mve_row(const rl_linear_params *p, const int8_t *x, const int8_t *weights,
                          const rl_channels_mve *channels, int8_t *y, void *scratch) {
    const rl_fit_1x8 fit = {rl_vdupq_n_s16(p->out_zero_point), rl_vdupq_n_s16(p->out_min),
                            rl_vdupq_n_s16(p->out_max)};
    const int32_t count = p->out_features;
    const int32_t left = count & 7;
    const int32_t few = count < 8; /* then y has no room for a block */
    const int32_t half = count <= 4;
    int8_t aside[8];
    if ((p->in_features & (RL_STEP - 1)) != 0) {
        const rl_steps none = {0, 0};
        rl_copy_runs(scratch, none, x, none, p->in_features, 1, 1);
        x = scratch;
    }
    rl_blocks_1x8(&fit, rl_turns_1x8(p->in_features), few ? 1 : count >> 3,
                  few || left == 0 ? 0 : left - 8, half, x, weights, channels, few ? aside : y);
    for (int32_t o = 0; few && o < count; o++) {
        y[o] = aside[half ? 2 * o : o];
    }
}
