/* What the tiles of 8 and 4 pixels for Armv6-M share: requantisation and the plain-C twin.
 *
 * Requantisation starts from u = acc - lowest (lowest is in the bias), clamped to 0..range, outside
 * which the output does not change:
 *
 *     y + 128 = (u * multiplier + addend + ((u * multiplier_low + addend_low) >> shift_low)) >> 24
 *
 * which is the definition's product, rounding and zero point split at bit shift_low; most channels
 * have no lower part. All of it fits 32 unsigned bits. */
#ifndef RUSHLIGHT_KERNELS_COMMON_PAIR_V6M_H
#define RUSHLIGHT_KERNELS_COMMON_PAIR_V6M_H

#include "common/naked.h"
#include "common/pair.h"

static inline int8_t rl_pair_put_v6m(const rl_channel_pair_v6m *c, int32_t acc) {
    const uint32_t range = c->range & 0x7fffffffu;
    uint32_t u = (uint32_t)acc;
    if (u > range) {
        u = acc < 0 ? 0u : range;
    }
    uint32_t v = u * c->multiplier + c->addend;
    if (range != c->range) {
        v += (u * c->multiplier_low + c->addend_low) >> c->shift_low;
    }
    return (int8_t)(v >> 24);
}

static inline const rl_channel_pair_v6m *rl_pair_next_v6m(const rl_pair_layer *t,
                                                          const rl_channel_pair_v6m *c) {
    return (const void *)((const int8_t *)c + t->channel_bytes);
}

/* The first weight of channel o. */
static inline const int8_t *rl_pair_column_v6m(const rl_pair_layer *t, int32_t o) {
    const int32_t block = 4 * t->words;
    return t->weights + o / block * block * t->depth + o % block;
}

/* longest, tap_bytes: of the tile's assembly, which the stream has in its jumps. */
static inline const int8_t *rl_pair_tile_twin(const rl_pair_layer *t, const uint32_t *x,
                                              const int8_t *stream, const void *channels, int8_t *y,
                                              int32_t longest, int32_t tap_bytes) {
    const rl_channel_pair_v6m *c = channels;
    for (int32_t o = 0; o < t->channels; o++) {
        const uint8_t *lengths = (const uint8_t *)stream + 1;
        const int32_t groups = lengths[-1];
        for (int32_t word = 0; word < t->words; word++) {
            const uint32_t *from = x + word;
            const int8_t *w = rl_pair_column_v6m(t, o);
            uint32_t total = (uint32_t)c->bias * 65537u;
            int32_t high = c->bias;
            for (int32_t g = 0; g < groups; g++) {
                uint32_t acc = 0;
                for (int32_t taps = longest - lengths[g] / tap_bytes; taps > 0; taps--) {
                    const int32_t weight = *w;
                    acc += *from * (uint32_t)weight;
                    from += t->words;
                    w += 4 * t->words;
                }
                total += acc;
                high += ((int32_t)acc >> 16) + (int32_t)((acc >> 15) & 1u);
            }
            int8_t *to = y + o + 2 * word * t->step;
            to[0] = rl_pair_put_v6m(c, (int32_t)(total - ((uint32_t)high << 16)));
            to[t->step] = rl_pair_put_v6m(c, high);
        }
        stream += 1 + groups;
        c = rl_pair_next_v6m(t, c);
    }
    return stream;
}

#endif
