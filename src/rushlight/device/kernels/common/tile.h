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

/* What belongs to one output channel on the DSP tier, without pre. */
typedef struct rl_channel_dsp {
    int32_t bias;
    int32_t addend; /* (zero_point << shift) + the rounding half, see rl_requantize_addend */
    int16_t multiplier;
    uint16_t shift; /* 16 less than in the definition */
} rl_channel_dsp;

/* What belongs to a block of four output channels on the MVE tier, without pre. */
typedef struct rl_channels_mve {
    int32_t bias[4];
    int32_t multiplier_high[4]; /* multiplier << 16 */
    int32_t right[4];           /* 15 - shift, negative */
} rl_channels_mve;

typedef struct rl_tile {
    int32_t depth;
    int32_t channels;
    int32_t zero_point;
    int32_t low, high;
    int32_t narrow; /* 1: low..high is less than -128..127 */
    void *scratch;  /* where the tier's tile needs some */
} rl_tile;

/* rows is 1..RL_TILE_ROWS; x[r] and y[r] may lie anywhere, weights and channels are 16-aligned at
 * the start of the layer. */
typedef void rl_tile_function(const rl_tile *t, int32_t rows, const int8_t *const *x,
                              const int8_t *weights, const void *channels, int8_t *const *y);

/* count rows of x, x_step bytes apart, all with the same weights. */
static inline void rl_tile_run(const rl_tile *t, int32_t count, const int8_t *x, int32_t x_step,
                               const int8_t *weights, const void *channels, int8_t *y,
                               int32_t y_step, rl_tile_function *tile) {
    for (int32_t row = 0; row < count; row += RL_TILE_ROWS) {
        const int32_t left = count - row;
        const int32_t rows = left < RL_TILE_ROWS ? left : RL_TILE_ROWS;
        const int8_t *from[RL_TILE_ROWS];
        int8_t *to[RL_TILE_ROWS];
        for (int32_t r = 0; r < rows; r++) {
            from[r] = x;
            to[r] = y;
            x += x_step;
            y += y_step;
        }
        tile(t, rows, from, weights, channels, to);
    }
}

rl_tile_function rl_tile_v6m; /* weights [channels][depth], channels: rl_channel */
rl_tile_function rl_tile_v7m; /* the same */
rl_tile_function rl_tile_dsp; /* weights in pairs of channels, channels: rl_channel_dsp; scratch */

/* For MVE, rows x_step bytes apart. They are read in whole steps of 16 bytes, whatever lies behind
 * depth. conv2d/README.md draws the weights. */
void rl_tile_mve(const rl_tile *t, int32_t rows, const int8_t *x, int32_t x_step,
                 const int8_t *weights, const rl_channels_mve *channels, int8_t *y, int32_t y_step);

#endif
