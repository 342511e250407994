/* linear for Helium: rows in twos. */
#include "common/copy_mve.h"
#include "common/dot_mve.h"
#include "linear/linear.h"

void rl_linear_s8_mve(const rl_linear_params *p, const int8_t *x, const int8_t *weights,
                      const rl_channels_mve *channels, int8_t *y, void *scratch) {
    const rl_tile t = {.depth = p->in_features,
                       .channels = p->out_features,
                       .zero_point = p->out_zero_point,
                       .low = p->out_min,
                       .high = p->out_max};
    const int32_t depth = p->in_features;
    const int32_t pitch = rl_whole_steps(depth);
    /* Rows whose last step would read beyond x are copied to scratch. */
    int32_t in_place = p->rows;
    while (in_place > 0 && (in_place - 1) * depth + pitch > p->rows * depth) {
        in_place--;
    }
    rl_tile_mve(&t, in_place, x, depth, weights, channels, y, p->out_features);
    if (in_place < p->rows) {
        const int32_t count = p->rows - in_place;
        const rl_steps from_steps = {depth, 0}, to_steps = {pitch, 0};
        rl_copy_runs(scratch, to_steps, x + in_place * depth, from_steps, depth, count, 1);
        rl_tile_mve(&t, count, scratch, pitch, weights, channels, y + in_place * p->out_features,
                    p->out_features);
    }
}
