/* The matrix tile in plain C for Armv6-M: eight registers hold one shared vector and two others, so
 * it is 2 rows x 1 channel, or 1 row x 2 channels. No long multiply, no unaligned load. */
#include "common/tile.h"

static inline void put(const rl_tile *t, const rl_channel *c, int32_t acc, int8_t *y) {
    acc = rl_requantize_v6m(acc, c->multiplier, c->shift, c->pre);
    *y = (int8_t)rl_clamp(acc + t->zero_point, t->low, t->high);
}

static void two_rows(const rl_tile *t, const int8_t *x0, const int8_t *x1, const int8_t *w,
                     const rl_channel *c, int8_t *y0, int8_t *y1) {
    const int32_t depth = t->depth;
    for (int32_t o = 0; o < t->channels; o++) {
        int32_t acc0 = c->bias, acc1 = c->bias;
        for (int32_t k = 0; k < depth; k++) {
            const int32_t weight = w[k];
            acc0 += x0[k] * weight;
            acc1 += x1[k] * weight;
        }
        put(t, c, acc0, y0++);
        put(t, c++, acc1, y1++);
        w += depth;
    }
}

static void one_row(const rl_tile *t, const int8_t *x, const int8_t *w, const rl_channel *c,
                    int8_t *y) {
    const int32_t depth = t->depth;
    for (int32_t o = 0; o < t->channels; o += 2) {
        /* The last of an odd number of channels is computed twice. */
        const int32_t next = o + 1 < t->channels ? 1 : 0;
        const int8_t *w1 = w + next * depth;
        int32_t acc0 = c[o].bias, acc1 = c[o + next].bias;
        for (int32_t k = 0; k < depth; k++) {
            const int32_t value = x[k];
            acc0 += value * w[k];
            acc1 += value * w1[k];
        }
        put(t, &c[o], acc0, &y[o]);
        put(t, &c[o + next], acc1, &y[o + next]);
        w = w1 + depth;
    }
}

void rl_tile_v6m(const rl_tile *t, int32_t rows, const int8_t *const *x, const int8_t *weights,
                 const void *channels, int8_t *const *y) {
    if (rows == 2) {
        two_rows(t, x[0], x[1], weights, channels, y[0], y[1]);
    } else {
        one_row(t, x[0], weights, channels, y[0]);
    }
}
