/* linear, plain C for Armv7-M and Armv8-M mainline: the long multiply requantises. */
#include "linear/linear.h"

void rl_linear_s8_v7m(const rl_linear_params *p, const int8_t *x, const int8_t *weights,
                      const rl_channel *channels, int8_t *y) {
    for (int32_t row = 0; row < p->rows; row++) {
        const int8_t *w = weights;
        for (int32_t o = 0; o < p->out_features; o++) {
            const rl_channel *channel = &channels[o];
            int32_t acc = channel->bias;
            for (int32_t k = 0; k < p->in_features; k++) {
                acc += x[k] * *w++;
            }
            acc = rl_requantize_v7m(acc, channel->multiplier, channel->shift, channel->pre);
            *y++ = (int8_t)rl_clamp(acc + p->out_zero_point, p->out_min, p->out_max);
        }
        x += p->in_features;
    }
}
