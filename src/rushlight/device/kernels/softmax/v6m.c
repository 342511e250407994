/* softmax, plain C for Armv6-M: no long multiply. */
#include "common/requant.h"
#include "softmax/softmax.h"

static int32_t maximum(const int8_t *x, int32_t count) {
    int32_t best = x[0];
    for (int32_t i = 1; i < count; i++) {
        best = x[i] > best ? x[i] : best;
    }
    return best;
}

static uint32_t sum(const int8_t *x, int32_t best, const uint16_t *exponentials, int32_t count) {
    uint32_t total = 0;
    for (int32_t i = 0; i < count; i++) {
        total += exponentials[best - x[i]];
    }
    return total;
}

void rl_softmax_s8_v6m(const rl_softmax_params *p, const int8_t *x, const uint16_t *exponentials,
                       int8_t *y) {
    const int32_t columns = p->columns, multiplier = p->multiplier;
    const uint32_t shift = (uint32_t)p->shift;
    const int32_t zero_point = p->out_zero_point, low = p->out_min, high = p->out_max;
    for (int32_t row = 0; row < p->rows; row++) {
        const int32_t best = maximum(x, columns);
        const uint32_t reciprocal = 0xffffffffu / sum(x, best, exponentials, columns);
        for (int32_t i = 0; i < columns; i++) {
            const uint32_t probability = exponentials[best - x[i]] * reciprocal;
            const int32_t out =
                rl_requantize_v6m((int32_t)(probability >> 1), multiplier, shift, 0);
            y[i] = (int8_t)rl_clamp(out + zero_point, low, high);
        }
        x += columns;
        y += columns;
    }
}
