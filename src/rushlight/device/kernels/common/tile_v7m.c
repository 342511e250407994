/* The matrix tile for Armv7-M and Armv8-M mainline: 2 rows x 2 channels (or 1 x 4), so that each
 * byte loaded is used twice. The long multiply requantises. */
#include "common/dot_v7m.h"
#include "common/tile.h"

static inline int8_t put(const rl_tile *t, const rl_channel *c, int32_t acc) {
    acc = rl_requantize_v7m(acc, c->multiplier, c->shift, c->pre);
    return (int8_t)rl_clamp(acc + t->zero_point, t->low, t->high);
}

static void two_rows(const rl_tile *t, const int8_t *const *x, const int8_t *w, const rl_channel *c,
                     int8_t *const *y) {
    int8_t *y0 = y[0], *y1 = y[1];
    for (int32_t left = t->channels; left > 0; left -= 2) {
        /* The last of an odd number of channels is computed twice. */
        const int32_t next = left > 1;
        int32_t sums[4] = {c[0].bias, c[next].bias, c[0].bias, c[next].bias};
        const int8_t *w1 = w + next * t->depth;
        rl_dot_2x2(x[0], x[1], w, w1, t->depth, sums);
        y0[0] = put(t, &c[0], sums[0]);
        y1[0] = put(t, &c[0], sums[2]);
        y0[next] = put(t, &c[next], sums[1]);
        y1[next] = put(t, &c[next], sums[3]);
        w = w1 + t->depth;
        c += 2;
        y0 += 2;
        y1 += 2;
    }
}

static void one_row(const rl_tile *t, const int8_t *x, const int8_t *w, const rl_channel *c,
                    int8_t *y) {
    const int32_t depth = t->depth;
    int32_t left = t->channels;
    for (; left >= 4; left -= 4) {
        int32_t sums[4] = {c[0].bias, c[1].bias, c[2].bias, c[3].bias};
        rl_dot_1x4(x, w, w + depth, w + 2 * depth, w + 3 * depth, depth, sums);
        y[0] = put(t, &c[0], sums[0]);
        y[1] = put(t, &c[1], sums[1]);
        y[2] = put(t, &c[2], sums[2]);
        y[3] = put(t, &c[3], sums[3]);
        w += 4 * depth;
        c += 4;
        y += 4;
    }
    for (; left > 0; left -= 2) {
        /* The last of an odd number of channels is computed twice. */
        const int32_t next = left > 1;
        int32_t sums[2] = {c[0].bias, c[next].bias};
        const int8_t *w1 = w + next * depth;
        rl_dot_1x2(x, w, w1, depth, sums);
        y[0] = put(t, &c[0], sums[0]);
        y[next] = put(t, &c[next], sums[1]);
        w = w1 + depth;
        c += 2;
        y += 2;
    }
}

void rl_tile_v7m(const rl_tile *t, int32_t rows, const int8_t *const *x, const int8_t *weights,
                 const void *channels, int8_t *const *y) {
    if (rows == 2) {
        two_rows(t, x, weights, channels, y);
    } else {
        one_row(t, x[0], weights, channels, y[0]);
    }
}
