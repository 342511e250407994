/* The matrix tile in plain C for Armv7-M and Armv8-M mainline: 2 rows x 2 channels, so that each
 * byte loaded is used twice. The long multiply requantises. */
#include "common/tile.h"

static inline void put(const rl_tile *t, const rl_channel *c, int32_t acc, int8_t *y) {
    acc = rl_requantize_v7m(acc, c->multiplier, c->shift, c->pre);
    *y = (int8_t)rl_clamp(acc + t->zero_point, t->low, t->high);
}

static void two_rows(const rl_tile *t, const int8_t *x0, const int8_t *x1, const int8_t *w,
                     const rl_channel *c, int8_t *y0, int8_t *y1) {
    for (int32_t o = 0; o < t->channels; o += 2) {
        /* The last of an odd number of channels is computed twice. */
        const int32_t next = o + 1 < t->channels ? 1 : 0;
        const int8_t *w0 = w + o * t->depth;
        const int8_t *w1 = w0 + next * t->depth;
        int32_t acc00 = c[o].bias, acc01 = c[o + next].bias;
        int32_t acc10 = acc00, acc11 = acc01;
        for (int32_t k = 0; k < t->depth; k++) {
            acc00 += x0[k] * w0[k];
            acc01 += x0[k] * w1[k];
            acc10 += x1[k] * w0[k];
            acc11 += x1[k] * w1[k];
        }
        put(t, &c[o], acc00, &y0[o]);
        put(t, &c[o], acc10, &y1[o]);
        put(t, &c[o + next], acc01, &y0[o + next]);
        put(t, &c[o + next], acc11, &y1[o + next]);
    }
}

static void one_row(const rl_tile *t, const int8_t *x, const int8_t *w, const rl_channel *c,
                    int8_t *y) {
    for (int32_t o = 0; o < t->channels; o += 2) {
        const int32_t next = o + 1 < t->channels ? 1 : 0;
        const int8_t *w0 = w + o * t->depth;
        const int8_t *w1 = w0 + next * t->depth;
        int32_t acc0 = c[o].bias, acc1 = c[o + next].bias;
        for (int32_t k = 0; k < t->depth; k++) {
            acc0 += x[k] * w0[k];
            acc1 += x[k] * w1[k];
        }
        put(t, &c[o], acc0, &y[o]);
        put(t, &c[o + next], acc1, &y[o + next]);
    }
}

void rl_tile_v7m(const rl_tile *t, int32_t rows, const int8_t *const *x, const int8_t *weights,
                 const void *channels, int8_t *const *y) {
    if (rows == 2) {
        two_rows(t, x[0], x[1], weights, channels, y[0], y[1]);
    } else {
        one_row(t, x[0], weights, channels, y[0]);
    }
}
