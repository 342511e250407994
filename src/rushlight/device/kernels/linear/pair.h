/* linear for cores without SIMD: two output channels a multiply. A word of weights holds those of
 * four channels for one input feature, as weight + 128: channels 0, 2, 1, 3 from the lowest byte up.
 * Its bytes are two pairs, as 16-bit halves,
 *
 *     v1 = (word >> 8) & 0xff00ff    (channels 2 and 3)
 *     v0 = word - (v1 << 8)          (channels 0 and 1)
 *
 * so that x * word and x * v1 are two multiplies for four products. Sums of pairs are kept and
 * flushed as in common/pair.h, those of v0 being the difference of the two. The 128 of the weights is
 * taken off a whole group at once, by sums of inputs that are made once for all channels. */
#ifndef RUSHLIGHT_KERNELS_LINEAR_PAIR_H
#define RUSHLIGHT_KERNELS_LINEAR_PAIR_H

#include <stdint.h>

#include "common/requant.h"

typedef struct rl_linear_pair_params {
    int32_t rows;
    int32_t in_features;
    int32_t out_features;
    int16_t out_zero_point;
    int16_t out_min;
    int16_t out_max;
    int16_t reserved;
} rl_linear_pair_params;

/* weights, for each 8 channels: the number of their groups; for each group its length, and two words
 * for each of its features; a 0. The last channels are filled up to eight.
 * scratch: 4 * (in_features + 1) bytes. */
void rl_linear_s8_v7m_pair(const rl_linear_pair_params *p, const int8_t *x, const uint32_t *weights,
                           const rl_channel *channels, int8_t *y, void *scratch);

/* The same, but each group begins with two words: 30 * (10 - its length), and 4 * its length. Two
 * words of ones end the groups. */
void rl_linear_s8_v6m_pair(const rl_linear_pair_params *p, const int8_t *x, const uint32_t *weights,
                           const rl_channel *channels, int8_t *y, void *scratch);

#endif
