/* linear for cores with the DSP extension: one row and few output features, for which widening the
 * row once in scratch would cost more than widening it anew for every two. */
#include "common/dot_dsp.h"
#include "linear/linear.h"

static int8_t put(const rl_linear_params *p, const rl_channel_dsp *c, int32_t sum) {
    const int32_t value = rl_smlawb(sum, c->multiplier, c->addend) >> c->shift;
    return (int8_t)rl_clamp(value, p->out_min, p->out_max);
}

void rl_linear_s8_dsp_few(const rl_linear_params *p, const int8_t *x, const int8_t *weights,
                          const rl_channel_dsp *channels, int8_t *y) {
    const rl_word *w = (const rl_word *)(const void *)weights;
    const int32_t quads = p->in_features >> 2, left = p->in_features & 3;
    const uint32_t tail = rl_load_tail(x + 4 * quads, left);
    const uint32_t even = rl_sxtb16(tail), odd = rl_sxtb16_ror8(tail);
    int32_t count = p->out_features;
    for (; count >= 2; count -= 2) {
        int32_t sums[2] = {channels[0].bias, channels[1].bias};
        w = rl_dot_bytes_1x2(x, w, quads, sums);
        if (left > 0) {
            sums[0] = rl_smlad(even, rl_sxtb16(w[0]), sums[0]);
            sums[1] = rl_smlad(even, rl_sxtb16(w[1]), sums[1]);
            sums[0] = rl_smlad(odd, rl_sxtb16_ror8(w[0]), sums[0]);
            sums[1] = rl_smlad(odd, rl_sxtb16_ror8(w[1]), sums[1]);
            w += 2;
        }
        y[0] = put(p, &channels[0], sums[0]);
        y[1] = put(p, &channels[1], sums[1]);
        channels += 2;
        y += 2;
    }
    if (count > 0) {
        int32_t sum = channels->bias;
        for (int32_t k = 0; k < quads; k++) {
            const uint32_t quad = rl_load4(x + 4 * k);
            sum = rl_smlad(rl_sxtb16(quad), rl_sxtb16(w[k]), sum);
            sum = rl_smlad(rl_sxtb16_ror8(quad), rl_sxtb16_ror8(w[k]), sum);
        }
        if (left > 0) {
            sum = rl_smlad(even, rl_sxtb16(w[quads]), sum);
            sum = rl_smlad(odd, rl_sxtb16_ror8(w[quads]), sum);
        }
        y[0] = put(p, channels, sum);
    }
}
