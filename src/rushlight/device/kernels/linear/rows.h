/* linear as one run of the matrix tile, the same on every tier. */
#ifndef RUSHLIGHT_KERNELS_LINEAR_ROWS_H
#define RUSHLIGHT_KERNELS_LINEAR_ROWS_H

#include "linear/linear.h"

static inline void rl_linear_rows(const rl_linear_params *p, const int8_t *x, const int8_t *weights,
                                  const void *channels, int8_t *y, void *scratch,
                                  rl_tile_function *tile) {
    const int32_t narrow = p->out_min > -128 || p->out_max < 127;
    const rl_tile t = {p->in_features, p->out_features, p->out_zero_point, p->out_min, p->out_max,
                       narrow,         scratch};
    rl_tile_run(&t, p->rows, x, p->in_features, weights, channels, y, p->out_features, tile);
}

#endif
