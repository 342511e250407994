/* conv2d for Armv7-M and Armv8-M mainline without DSP, two pixels a multiply. */
#include "common/pair_v7m.h"
#include "conv2d/pair_walk.h"

/* A single pixel. */
static const int8_t *pixel(const rl_pair_layer *t, const int8_t *x, const int8_t *stream,
                           const void *channels, int8_t *y) {
    const rl_channel_pair *c = channels;
    const int8_t *w = stream;
    for (int32_t left = t->channels; left > 0; left--) {
        const int8_t *from = x;
        int32_t acc = c->bias;
        for (int32_t taps = *w++; taps > 0; taps = *w++) {
            for (; taps >= 4; taps -= 4) {
                acc += from[0] * w[0];
                acc += from[1] * w[1];
                acc += from[2] * w[2];
                acc += from[3] * w[3];
                from += 4;
                w += 4;
            }
            for (; taps > 0; taps--) {
                acc += *from++ * *w++;
            }
        }
        *y++ = rl_pair_put_v7m(t, c++, acc);
    }
    return w;
}

void rl_conv2d_s8_v7m_pair8(const rl_conv2d_pair_params *p, const int8_t *x, const int8_t *weights,
                            const rl_channel_pair *channels, int8_t *y, void *scratch) {
    const rl_pair_tier tier = {rl_pair8_tile_v7m, pixel, 8, 0};
    rl_conv2d_pair_walk(p, &tier, x, 0, weights, channels, y, scratch);
}

void rl_conv2d_s8_v7m_pair4(const rl_conv2d_pair_params *p, const int8_t *x, const int8_t *weights,
                            const rl_channel_pair *channels, int8_t *y, void *scratch) {
    const rl_pair_tier tier = {rl_pair4_tile_v7m, pixel, 4, 0};
    rl_conv2d_pair_walk(p, &tier, x, 0, weights, channels, y, scratch);
}
