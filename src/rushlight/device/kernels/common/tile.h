/* The matrix product that convolution and linear share, one function a tier. A row is the depth
 * bytes that one output pixel (or one row of a linear layer) is computed from; the tile multiplies
 * up to RL_TILE_ROWS rows with the weights of all output channels and requantises at once:
 *
 *     y[r][o] = clamp(zero_point + requantise(bias[o] + sum_k x[r][k] * w[o][k]))
 *
 * The packed weights differ from tier to tier; conv2d/README.md draws them. */
#ifndef RUSHLIGHT_KERNELS_COMMON_TILE_H
#define RUSHLIGHT_KERNELS_COMMON_TILE_H

#include <stdint.h>

#include "common/requant.h"

enum { RL_TILE_ROWS = 2 };

typedef struct rl_tile {
    int32_t depth;
    int32_t channels;
    int32_t zero_point;
    int32_t low, high;
    void *scratch; /* where the tier's tile needs some */
} rl_tile;

/* rows is 1..RL_TILE_ROWS; x[r] and y[r] may lie anywhere, weights and channels are 16-aligned at
 * the start of the layer. */
typedef void rl_tile_function(const rl_tile *t, int32_t rows, const int8_t *const *x,
                              const int8_t *weights, const void *channels, int8_t *const *y);

rl_tile_function rl_tile_v6m; /* weights [channels][depth], channels: rl_channel */
rl_tile_function rl_tile_v7m; /* the same */

#endif
