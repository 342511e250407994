/* depthwise_conv2d for any channels, channel multiplier and scale, one channel at a time; plain C
 * for any core. The tiers' kernels take what is common. */
#include "depthwise_conv2d/walk.h"

enum { PIXELS = 2 };

typedef struct any_constants {
    const int8_t *weights;
    const rl_channel *channels;
} any_constants;

static int8_t finish(const rl_depthwise_conv2d_params *p, const rl_channel *channel, int32_t acc) {
    acc = rl_requantize_v6m(acc, channel->multiplier, channel->shift, channel->pre);
    return (int8_t)rl_clamp(acc + p->out_zero_point, p->out_min, p->out_max);
}

/* Two pixels share each weight. */
static inline void tile(const rl_depthwise_conv2d_params *p, const int8_t *const *slots,
                        int8_t *const *outputs, const void *constants) {
    const any_constants *k = constants;
    const int8_t *w = k->weights;
    int8_t *y0 = outputs[0], *y1 = outputs[1];
    const rl_channel *channel = k->channels;
    for (int32_t c = 0; c < p->window.in_c; c++) {
        for (int32_t m = 0; m < p->multiplier; m++) {
            int32_t acc0 = channel->bias, acc1 = acc0;
            const int8_t *const *slot = slots;
            for (const int8_t *end = w + p->taps; w < end; slot += PIXELS) {
                const int32_t weight = *w++;
                acc0 += slot[0][c] * weight;
                acc1 += slot[1][c] * weight;
            }
            *y0++ = finish(p, channel, acc0);
            *y1++ = finish(p, channel, acc1);
            channel++;
        }
    }
}

void rl_depthwise_conv2d_s8_any(const rl_depthwise_conv2d_params *p, const int8_t *x,
                                const int8_t *weights, const rl_channel *channels, int8_t *y,
                                void *scratch) {
    const any_constants constants = {weights, channels};
    rl_dw_walk(p, x, y, scratch, PIXELS, tile, &constants);
}
