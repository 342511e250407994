/* The way over rows and channels of the pair kernels of linear. */
#ifndef RUSHLIGHT_KERNELS_LINEAR_PAIR_ROWS_H
#define RUSHLIGHT_KERNELS_LINEAR_PAIR_ROWS_H

#include "common/naked.h"
#include "linear/pair.h"

enum { RL_LINEAR_PAIR_CHANNELS = 8 };

typedef struct rl_linear_pair_tier {
    /* Adds the products of 8 channels to sums: total and high of 4 pairs of neighbours. Returns the
     * end of the weights. */
    const uint32_t *(*dot)(const uint32_t *w, const int8_t *x, const uint32_t *prefix,
                           uint32_t sums[8]);
    int32_t (*requantize)(int32_t acc, int32_t multiplier, uint32_t shift, uint32_t pre);
    uint32_t rounding; /* what dot adds to each total with each group */
} rl_linear_pair_tier;

/* One group of `taps` features in plain C. addend: what a pair's sum starts from; half: added to it
 * before its high part is cut off. */
static inline const uint32_t *rl_linear_pair_group(const uint32_t *w, const int8_t *x, int32_t taps,
                                                   uint32_t addend, uint32_t half,
                                                   uint32_t sums[8]) {
    uint32_t acc[4] = {addend * 257u, addend, addend * 257u, addend};
    for (; taps > 0; taps--) {
        const uint32_t value = (uint32_t)(int32_t)*x++;
        for (int32_t i = 0; i < 4; i += 2) {
            acc[i] += *w * value;
            acc[i + 1] += ((*w >> 8) & 0xff00ffu) * value;
            w++;
        }
    }
    acc[0] -= acc[1] << 8;
    acc[2] -= acc[3] << 8;
    for (int32_t i = 0; i < 4; i++) {
        sums[2 * i] += acc[i];
        sums[2 * i + 1] += (uint32_t)((int32_t)(acc[i] + half) >> 16);
    }
    return w;
}

/* prefix[k] = 128 * (x[0] + ... + x[k - 1]), in both halves of a pair. */
static inline void rl_linear_pair_prefix(const int8_t *x, int32_t size, uint32_t *prefix) {
    uint32_t sum = 0;
    for (; size > 0; size--) {
        *prefix++ = sum;
        sum += 0x00800080u * (uint32_t)(int32_t)*x++;
    }
    *prefix = sum;
}

static inline int8_t rl_linear_pair_fit(const rl_linear_pair_params *p,
                                        const rl_linear_pair_tier *tier, const rl_channel *c,
                                        uint32_t acc) {
    const int32_t v = tier->requantize((int32_t)acc, c->multiplier, c->shift, c->pre);
    return (int8_t)rl_clamp(v + p->out_zero_point, p->out_min, p->out_max);
}

/* Eight channels, or the `left` that there are. */
static inline const uint32_t *rl_linear_pair_eight(const rl_linear_pair_params *p,
                                                   const rl_linear_pair_tier *tier, int32_t left,
                                                   const int8_t *x, const uint32_t *w,
                                                   const uint32_t *prefix, const rl_channel *c,
                                                   int8_t *y) {
    const uint32_t correction = *w++ * tier->rounding;
    uint32_t sums[8];
    for (int32_t o = 0; o < 8; o += 2) {
        const uint32_t high = o + 1 < left ? (uint32_t)c[o + 1].bias : 0u;
        const uint32_t low = o < left ? (uint32_t)c[o].bias : 0u;
        sums[o] = low + (high << 16) - correction;
        sums[o + 1] = high;
    }
    w = tier->dot(w, x, prefix, sums);
    for (int32_t o = 0; o < 8 && o < left; o += 2) {
        y[o] = rl_linear_pair_fit(p, tier, &c[o], sums[o] - (sums[o + 1] << 16));
        if (o + 1 < left) {
            y[o + 1] = rl_linear_pair_fit(p, tier, &c[o + 1], sums[o + 1]);
        }
    }
    return w;
}

static inline void rl_linear_pair_rows(const rl_linear_pair_params *p,
                                       const rl_linear_pair_tier *tier, const int8_t *x,
                                       const uint32_t *weights, const rl_channel *channels,
                                       int8_t *y, uint32_t *prefix) {
    for (int32_t row = p->rows; row > 0; row--) {
        const uint32_t *w = weights;
        rl_linear_pair_prefix(x, p->in_features, prefix);
        for (int32_t o = 0; o < p->out_features; o += RL_LINEAR_PAIR_CHANNELS) {
            w = rl_linear_pair_eight(p, tier, p->out_features - o, x, w, prefix, channels + o,
                                     y + o);
        }
        x += p->in_features;
        y += p->out_features;
    }
}

#endif
