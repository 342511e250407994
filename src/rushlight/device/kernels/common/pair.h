/* Two products by one 32-bit multiply, for cores without SIMD. Two pixels lie in one word as
 * x0 + 65536 * x1; times a weight that is both products, and sums of such words are both sums for as
 * long as the lower one stays in 16 bits. The compiler cuts each channel's taps into groups for which
 * it does, whatever the input (ops/common/pairs.py proves it from the weights). After each group, acc is
 * flushed:
 *
 *     total += acc;    high += (acc + 0x8000) >> 16;
 *
 * and at the channel's end the sum of the lower pixel is total - (high << 16), that of the upper one
 * is high. The bias goes into both at the start. */
#ifndef RUSHLIGHT_KERNELS_COMMON_PAIR_H
#define RUSHLIGHT_KERNELS_COMMON_PAIR_H

#include <stdint.h>

/* What belongs to one output channel on Armv7-M. */
typedef struct rl_channel_pair {
    int32_t bias;
    int16_t multiplier;
    uint8_t shift;  /* 17 less than in the definition */
    uint8_t groups; /* how many groups its taps are cut into */
} rl_channel_pair;

/* What belongs to one output channel on Armv6-M, see pair_v6m.h. The last three are not there if no
 * channel of the layer needs them. */
typedef struct rl_channel_pair_v6m {
    int32_t bias;
    uint32_t range; /* the topmost bit: there is a lower part */
    uint32_t multiplier;
    uint32_t addend;
    uint32_t multiplier_low;
    uint32_t addend_low;
    uint32_t shift_low;
} rl_channel_pair_v6m;

/* The assembly reads this struct. */
typedef struct rl_pair_layer {
    int32_t channels;
    int32_t step;      /* bytes from an output pixel to the next */
    int32_t zero_term; /* 2 * zero_point + 1: zero point and rounding in one, shifted by shift */
    int32_t depth;
    const int8_t *weights; /* where they are not in the stream */
    int32_t channel_bytes;
    int32_t words; /* of a tap: half as many as a tile has pixels */
} rl_pair_layer;

/* Computes a tile of pixels of all channels. x: depth taps of t->words words. Returns the end of the
 * stream, where the next group of channels begins. */
typedef const int8_t *rl_pair_tile_function(const rl_pair_layer *t, const uint32_t *x,
                                            const int8_t *stream, const void *channels, int8_t *y);
/* Tiles of 8 and of 4 pixels; the latter take half the memory, and a little longer. Stream: for each
 * channel its groups, each as its length and its weights, then a 0. Channels: rl_channel_pair. */
rl_pair_tile_function rl_pair8_tile_v7m;
rl_pair_tile_function rl_pair4_tile_v7m;

/* Stream: for each channel the number of its groups, then for each group how far the assembly jumps:
 * 20 * (13 - its length) for 8 pixels, 12 * (16 - its length) for 4. Weights: with B = 2 * pixels,
 * [channels / B][depth][B], so that one register addresses words and weights alike. Channels:
 * rl_channel_pair_v6m. */
rl_pair_tile_function rl_pair8_tile_v6m;
rl_pair_tile_function rl_pair4_tile_v6m;

#endif
