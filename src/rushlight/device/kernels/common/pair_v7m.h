/* What the tiles of 8 and 4 pixels for Armv7-M share: requantisation and the plain-C twin. */
#ifndef RUSHLIGHT_KERNELS_COMMON_PAIR_V7M_H
#define RUSHLIGHT_KERNELS_COMMON_PAIR_V7M_H

#include "common/naked.h"
#include "common/pair.h"
#include "common/requant.h"

/* y = ssat8((((acc * multiplier) >> 16) + (2 * zero_point + 1) * 2^(shift - 17)) >> (shift - 16)):
 * the definition with the zero point inside the rounding term. */
static inline int8_t rl_pair_put_v7m(const rl_pair_layer *t, const rl_channel_pair *c,
                                     int32_t acc) {
    const int32_t addend = (int32_t)((uint32_t)t->zero_term << c->shift);
    const int32_t high = rl_multiply_high_v7m(acc, c->multiplier) + addend;
    return (int8_t)rl_clamp(high >> (c->shift + 1), -128, 127);
}

static inline const int8_t *rl_pair_tile_twin(const rl_pair_layer *t, const uint32_t *x,
                                              const int8_t *stream, const void *channels,
                                              int8_t *y) {
    const rl_channel_pair *c = channels;
    const int8_t *w = stream;
    for (int32_t left = t->channels; left > 0; left--) {
        const int8_t *end = w;
        for (int32_t word = 0; word < t->words; word++) {
            const uint32_t *from = x + word;
            uint32_t total = (uint32_t)c->bias * 65537u - ((uint32_t)c->groups << 15);
            int32_t high = c->bias;
            end = w;
            for (int32_t taps = *end++; taps > 0; taps = *end++) {
                uint32_t acc = 0x8000u;
                for (; taps > 0; taps--) {
                    const int32_t weight = *end++;
                    acc += *from * (uint32_t)weight;
                    from += t->words;
                }
                total += acc;
                high += (int32_t)acc >> 16;
            }
            int8_t *to = y + 2 * word * t->step;
            to[0] = rl_pair_put_v7m(t, c, (int32_t)(total - ((uint32_t)high << 16)));
            to[t->step] = rl_pair_put_v7m(t, c, high);
        }
        w = end;
        c++;
        y++;
    }
    return w;
}

#endif
