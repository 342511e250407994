/* The way over the output pixels of the pair kernels: the windows of a tile's pixels are packed as words and
 * given to the tier's tile. Output rows that lie dense are one run of pixels; its last tile overlaps
 * the one before, or its last pixels are computed one by one. */
#ifndef RUSHLIGHT_KERNELS_CONV2D_PAIR_WALK_H
#define RUSHLIGHT_KERNELS_CONV2D_PAIR_WALK_H

#include "common/pair.h"
#include "conv2d/pair.h"

/* Computes one pixel of all channels from its depth bytes, which lie anywhere. Returns the end of the
 * stream. */
typedef const int8_t *rl_pair_pixel_function(const rl_pair_layer *t, const int8_t *x,
                                             const int8_t *stream, const void *channels, int8_t *y);

typedef struct rl_pair_tier {
    rl_pair_tile_function *tile;
    rl_pair_pixel_function *pixel;
    int32_t pixels;        /* of a tile */
    int32_t group_weights; /* bytes of weights a group, where they are not in the stream */
} rl_pair_tier;

void rl_conv2d_pair_walk(const rl_conv2d_pair_params *p, const rl_pair_tier *tier, const int8_t *x,
                         const int8_t *weights, const int8_t *stream, const void *channels,
                         int8_t *y, void *scratch);

#endif
