/* The way over the rows of a linear layer, the same on every tier: RL_TILE_ROWS at a time to the
 * tier's matrix tile. */
#ifndef RUSHLIGHT_KERNELS_LINEAR_ROWS_H
#define RUSHLIGHT_KERNELS_LINEAR_ROWS_H

#include "linear/linear.h"

static inline void rl_linear_rows(const rl_linear_params *p, const int8_t *x, const int8_t *weights,
                                  const void *channels, int8_t *y, void *scratch,
                                  rl_tile_function *tile) {
    const int32_t narrow = p->out_min > -128 || p->out_max < 127;
    const rl_tile t = {p->in_features, p->out_features, p->out_zero_point, p->out_min, p->out_max,
                       narrow,         scratch};
    for (int32_t row = 0; row < p->rows; row += RL_TILE_ROWS) {
        const int32_t left = p->rows - row;
        const int8_t *from[RL_TILE_ROWS];
        int8_t *to[RL_TILE_ROWS];
        for (int32_t r = 0; r < RL_TILE_ROWS; r++) {
            from[r] = x + (row + r) * p->in_features;
            to[r] = y + (row + r) * p->out_features;
        }
        tile(&t, left < RL_TILE_ROWS ? left : RL_TILE_ROWS, from, weights, channels, to);
    }
}

#endif
