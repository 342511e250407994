/* The matrix tile for cores with the DSP extension: 2 rows x 2 channels, or 1 x 2.
 *
 * The rows are first widened to pairs of int16 in the scratch, once for all channels, in the order
 * SXTB16 gives them (bytes 0 and 2, then 1 and 3 of each four), and filled up with zeros to a
 * multiple of 4, so that the inner loop has neither tails nor unaligned words: for 16 products it
 * takes 6 words, 4 SXTB16 and 8 SMLAD. Two rows lie interleaved. */
#include "common/dot_dsp.h"
#include "common/tile.h"

static void widen_two(int32_t depth, const int8_t *x0, const int8_t *x1, rl_word *out) {
    int32_t left = depth;
    for (; left >= 4; left -= 4) {
        const uint32_t quad0 = rl_load4(x0), quad1 = rl_load4(x1);
        x0 += 4;
        x1 += 4;
        out[0] = rl_sxtb16(quad0);
        out[1] = rl_sxtb16(quad1);
        out[2] = rl_sxtb16_ror8(quad0);
        out[3] = rl_sxtb16_ror8(quad1);
        out += 4;
    }
    if (left > 0) {
        const uint32_t quad0 = rl_load_tail(x0, left), quad1 = rl_load_tail(x1, left);
        out[0] = rl_sxtb16(quad0);
        out[1] = rl_sxtb16(quad1);
        out[2] = rl_sxtb16_ror8(quad0);
        out[3] = rl_sxtb16_ror8(quad1);
    }
}

static void widen_one(int32_t depth, const int8_t *x, rl_word *out) {
    int32_t left = depth;
    for (; left >= 4; left -= 4) {
        const uint32_t quad = rl_load4(x);
        x += 4;
        out[0] = rl_sxtb16(quad);
        out[1] = rl_sxtb16_ror8(quad);
        out += 2;
    }
    if (left > 0) {
        const uint32_t quad = rl_load_tail(x, left);
        out[0] = rl_sxtb16(quad);
        out[1] = rl_sxtb16_ror8(quad);
    }
}

/* Requantises a channel's sums for two rows. */
static inline void put_two(const rl_channel_dsp *c, int32_t sum0, int32_t sum1, int8_t *y0,
                           int8_t *y1) {
    const int32_t multiplier = c->multiplier, addend = c->addend;
    const uint32_t shift = c->shift;
    *y0 = (int8_t)rl_ssat8(rl_smlawb(sum0, multiplier, addend) >> shift);
    *y1 = (int8_t)rl_ssat8(rl_smlawb(sum1, multiplier, addend) >> shift);
}

static inline int8_t put_one(const rl_channel_dsp *c, int32_t sum) {
    return (int8_t)rl_ssat8(rl_smlawb(sum, c->multiplier, c->addend) >> c->shift);
}

static void two_rows(int32_t depth, int32_t channels, const rl_word *x, const rl_word *w,
                     const rl_channel_dsp *c, int8_t *y0, int8_t *y1) {
    const int32_t quads = (depth + 3) >> 2;
    for (; channels >= 2; channels -= 2) {
        int32_t sums[4] = {c[0].bias, c[1].bias, c[0].bias, c[1].bias};
        w = rl_dot_quads_2x2(x, w, quads, sums);
        put_two(&c[0], sums[0], sums[2], y0, y1);
        put_two(&c[1], sums[1], sums[3], y0 + 1, y1 + 1);
        c += 2;
        y0 += 2;
        y1 += 2;
    }
    if (channels > 0) {
        int32_t sum0 = c->bias, sum1 = sum0;
        for (int32_t k = 0; k < quads; k++) {
            const uint32_t even = rl_sxtb16(w[k]), odd = rl_sxtb16_ror8(w[k]);
            sum0 = rl_smlad(x[2], odd, rl_smlad(x[0], even, sum0));
            sum1 = rl_smlad(x[3], odd, rl_smlad(x[1], even, sum1));
            x += 4;
        }
        put_two(c, sum0, sum1, y0, y1);
    }
}

static void one_row(int32_t depth, int32_t channels, const rl_word *x, const rl_word *w,
                    const rl_channel_dsp *c, int8_t *y) {
    const int32_t quads = (depth + 3) >> 2;
    for (; channels >= 2; channels -= 2) {
        int32_t sums[2] = {c[0].bias, c[1].bias};
        w = rl_dot_quads_1x2(x, w, quads, sums);
        y[0] = put_one(&c[0], sums[0]);
        y[1] = put_one(&c[1], sums[1]);
        c += 2;
        y += 2;
    }
    if (channels > 0) {
        int32_t sum = c->bias;
        for (int32_t k = 0; k < quads; k++) {
            sum = rl_smlad(x[2 * k], rl_sxtb16(w[k]), sum);
            sum = rl_smlad(x[2 * k + 1], rl_sxtb16_ror8(w[k]), sum);
        }
        y[0] = put_one(c, sum);
    }
}

/* The range is the whole of int8 unless a clamp was fused that cuts into it. */
static void narrow(const rl_tile *t, int8_t *y) {
    const int32_t low = t->low, high = t->high;
    for (int8_t *end = y + t->channels; y < end; y++) {
        *y = (int8_t)rl_clamp(*y, low, high);
    }
}

void rl_tile_dsp(const rl_tile *t, int32_t rows, const int8_t *const *x, const int8_t *weights,
                 const void *channels, int8_t *const *y) {
    rl_word *wide = t->scratch;
    const rl_word *w = (const rl_word *)(const void *)weights;
    if (rows == 2) {
        widen_two(t->depth, x[0], x[1], wide);
        two_rows(t->depth, t->channels, wide, w, channels, y[0], y[1]);
    } else {
        widen_one(t->depth, x[0], wide);
        one_row(t->depth, t->channels, wide, w, channels, y[0]);
    }
    if (t->narrow) {
        for (int32_t r = 0; r < rows; r++) {
            narrow(t, y[r]);
        }
    }
}
