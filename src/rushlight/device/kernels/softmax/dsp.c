/* softmax with the DSP extension: the maximum four at a time, SMLAWB requantises. */
#include "common/simd_dsp.h"
#include "softmax/softmax.h"

static int32_t maximum(const int8_t *x, int32_t count) {
    uint32_t quad = 0x80808080u;
    for (; count >= 4; count -= 4) {
        quad = rl_max_quad(quad, rl_load4(x));
        x += 4;
    }
    for (; count > 0; count--) {
        quad = rl_max_quad(quad, 0x80808000u | (uint8_t)*x++);
    }
    quad = rl_max_quad(quad, quad >> 16);
    quad = rl_max_quad(quad, quad >> 8);
    return (int8_t)(uint8_t)quad;
}

static uint32_t sum(const int8_t *x, int32_t best, const uint16_t *exponentials, int32_t count) {
    uint32_t total = 0;
    for (int32_t i = 0; i < count; i++) {
        total += exponentials[best - x[i]];
    }
    return total;
}

void rl_softmax_s8_dsp(const rl_softmax_params *p, const int8_t *x, const uint16_t *exponentials,
                       int8_t *y) {
    const int32_t columns = p->columns, multiplier = p->multiplier;
    const uint32_t shift = (uint32_t)p->shift;
    const int32_t low = p->out_min, high = p->out_max;
    const int32_t addend = rl_requantize_addend(p->out_zero_point, shift);
    for (int32_t row = 0; row < p->rows; row++) {
        const int32_t best = maximum(x, columns);
        const uint32_t reciprocal = 0xffffffffu / sum(x, best, exponentials, columns);
        for (int32_t i = 0; i < columns; i++) {
            const uint32_t probability = exponentials[best - x[i]] * reciprocal;
            const int32_t out =
                rl_requantize_dsp((int32_t)(probability >> 1), multiplier, shift, addend);
            y[i] = (int8_t)rl_clamp(out, low, high);
        }
        x += columns;
        y += columns;
    }
}
