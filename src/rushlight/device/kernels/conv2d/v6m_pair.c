/* conv2d for Armv6-M, two pixels a multiply. */
#include "common/pair_v6m.h"
#include "conv2d/pair_walk.h"

/* A single pixel, two channels at a time; beside the last of an odd number lie zeros. */
static const int8_t *pixel(const rl_pair_layer *t, const int8_t *x, const int8_t *stream,
                           const void *channels, int8_t *y) {
    const rl_channel_pair_v6m *c = channels;
    const int32_t depth = t->depth, step = 4 * t->words;
    for (int32_t o = 0; o < t->channels; o += 2) {
        const int8_t *w = rl_pair_column_v6m(t, o);
        int32_t acc0 = 0, acc1 = 0;
        for (int32_t k = 0; k < depth; k++) {
            acc0 += x[k] * w[0];
            acc1 += x[k] * w[1];
            w += step;
        }
        y[o] = rl_pair_put_v6m(c, acc0 + c->bias);
        c = rl_pair_next_v6m(t, c);
        stream += 1 + (uint8_t)*stream;
        if (o + 1 < t->channels) {
            y[o + 1] = rl_pair_put_v6m(c, acc1 + c->bias);
            c = rl_pair_next_v6m(t, c);
            stream += 1 + (uint8_t)*stream;
        }
    }
    return stream;
}

/* Bytes of the weights of a group of channels, in blocks of `block`. */
static int32_t group_weights(const rl_conv2d_pair_params *p, int32_t block) {
    return (p->group_out + block - 1) / block * block * p->depth;
}

void rl_conv2d_s8_v6m_pair8(const rl_conv2d_pair_params *p, const int8_t *x, const int8_t *weights,
                            const uint8_t *lengths, const rl_channel_pair_v6m *channels, int8_t *y,
                            void *scratch) {
    const rl_pair_tier tier = {rl_pair8_tile_v6m, pixel, 8, group_weights(p, 16)};
    rl_conv2d_pair_walk(p, &tier, x, weights, (const int8_t *)lengths, channels, y, scratch);
}

void rl_conv2d_s8_v6m_pair4(const rl_conv2d_pair_params *p, const int8_t *x, const int8_t *weights,
                            const uint8_t *lengths, const rl_channel_pair_v6m *channels, int8_t *y,
                            void *scratch) {
    const rl_pair_tier tier = {rl_pair4_tile_v6m, pixel, 4, group_weights(p, 8)};
    rl_conv2d_pair_walk(p, &tier, x, weights, (const int8_t *)lengths, channels, y, scratch);
}
