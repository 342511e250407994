/* The matrix tile for cores with the DSP extension: 2 rows x 2 channels, or 1 x 2.
 *
 * The rows are first widened to pairs of int16 in the scratch, once for all channels, in the order
 * SXTB16 gives them (bytes 0 and 2, then 1 and 3 of each four), and filled up with zeros to a
 * multiple of 4, so that the inner loop has neither tails nor unaligned words: for 16 products it
 * takes 6 words, 4 SXTB16 and 8 SMLAD. Two rows lie interleaved. */
#include "common/simd_dsp.h"
#include "common/tile.h"

/* The last, incomplete four bytes of a row. */
static inline uint32_t tail_quad(const int8_t *x, int32_t size) {
    uint32_t quad = 0;
    for (int32_t i = 0; i < size; i++) {
        quad |= (uint32_t)(uint8_t)x[i] << (8 * i);
    }
    return quad;
}

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
        const uint32_t quad0 = tail_quad(x0, left), quad1 = tail_quad(x1, left);
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
        const uint32_t quad = tail_quad(x, left);
        out[0] = rl_sxtb16(quad);
        out[1] = rl_sxtb16_ror8(quad);
    }
}

/* Requantises a channel's sum for one row. */
static inline int32_t finish(const rl_channel_dsp *c, int32_t acc) {
    return rl_ssat8(rl_smlawb(acc, c->multiplier, c->addend) >> c->shift);
}

/* The range is the whole of int8 unless a clamp was fused that cuts into it. */
static void narrow(const rl_tile *t, int8_t *y) {
    for (int32_t o = 0; o < t->channels; o++) {
        y[o] = (int8_t)rl_clamp(y[o], t->low, t->high);
    }
}

typedef struct sums {
    int32_t r0c0, r0c1, r1c0, r1c1;
} sums;

/* 4 taps: 2 words of weights (a channel each) and 4 of x. */
static inline void step_two(sums *s, const rl_word *x, const rl_word *w) {
    const uint32_t w0 = w[0], w1 = w[1];
    const uint32_t w0e = rl_sxtb16(w0), w1e = rl_sxtb16(w1);
    const uint32_t x0e = x[0], x1e = x[1];
    s->r0c0 = rl_smlad(x0e, w0e, s->r0c0);
    s->r0c1 = rl_smlad(x0e, w1e, s->r0c1);
    s->r1c0 = rl_smlad(x1e, w0e, s->r1c0);
    s->r1c1 = rl_smlad(x1e, w1e, s->r1c1);
    const uint32_t w0o = rl_sxtb16_ror8(w0), w1o = rl_sxtb16_ror8(w1);
    const uint32_t x0o = x[2], x1o = x[3];
    s->r0c0 = rl_smlad(x0o, w0o, s->r0c0);
    s->r0c1 = rl_smlad(x0o, w1o, s->r0c1);
    s->r1c0 = rl_smlad(x1o, w0o, s->r1c0);
    s->r1c1 = rl_smlad(x1o, w1o, s->r1c1);
}

static void two_rows(const rl_tile *t, const rl_word *x, const rl_word *w, const rl_channel_dsp *c,
                     int8_t *y0, int8_t *y1) {
    const int32_t quads = (t->depth + 3) / 4;
    int32_t o = 0;
    for (; o + 2 <= t->channels; o += 2) {
        sums s = {c[0].bias, c[1].bias, c[0].bias, c[1].bias};
        const rl_word *xk = x;
        int32_t left = quads;
        for (; left >= 2; left -= 2) {
            step_two(&s, xk, w);
            step_two(&s, xk + 4, w + 2);
            xk += 8;
            w += 4;
        }
        if (left > 0) {
            step_two(&s, xk, w);
            w += 2;
        }
        y0[o] = (int8_t)finish(&c[0], s.r0c0);
        y1[o] = (int8_t)finish(&c[0], s.r1c0);
        y0[o + 1] = (int8_t)finish(&c[1], s.r0c1);
        y1[o + 1] = (int8_t)finish(&c[1], s.r1c1);
        c += 2;
    }
    if (o < t->channels) {
        int32_t acc0 = c->bias, acc1 = c->bias;
        for (int32_t k = 0; k < quads; k++) {
            const uint32_t even = rl_sxtb16(w[k]), odd = rl_sxtb16_ror8(w[k]);
            acc0 = rl_smlad(x[2], odd, rl_smlad(x[0], even, acc0));
            acc1 = rl_smlad(x[3], odd, rl_smlad(x[1], even, acc1));
            x += 4;
        }
        y0[o] = (int8_t)finish(c, acc0);
        y1[o] = (int8_t)finish(c, acc1);
    }
}

static inline void step_one(int32_t *acc0, int32_t *acc1, const rl_word *x, const rl_word *w) {
    const uint32_t w0 = w[0], w1 = w[1], even = x[0], odd = x[1];
    *acc0 = rl_smlad(odd, rl_sxtb16_ror8(w0), rl_smlad(even, rl_sxtb16(w0), *acc0));
    *acc1 = rl_smlad(odd, rl_sxtb16_ror8(w1), rl_smlad(even, rl_sxtb16(w1), *acc1));
}

static void one_row(const rl_tile *t, const rl_word *x, const rl_word *w, const rl_channel_dsp *c,
                    int8_t *y) {
    const int32_t quads = (t->depth + 3) / 4;
    int32_t o = 0;
    for (; o + 2 <= t->channels; o += 2) {
        int32_t acc0 = c[0].bias, acc1 = c[1].bias;
        const rl_word *xk = x;
        int32_t left = quads;
        for (; left >= 2; left -= 2) {
            step_one(&acc0, &acc1, xk, w);
            step_one(&acc0, &acc1, xk + 2, w + 2);
            xk += 4;
            w += 4;
        }
        if (left > 0) {
            step_one(&acc0, &acc1, xk, w);
            w += 2;
        }
        y[o] = (int8_t)finish(&c[0], acc0);
        y[o + 1] = (int8_t)finish(&c[1], acc1);
        c += 2;
    }
    if (o < t->channels) {
        int32_t acc = c->bias;
        for (int32_t k = 0; k < quads; k++) {
            acc = rl_smlad(x[2 * k], rl_sxtb16(w[k]), acc);
            acc = rl_smlad(x[2 * k + 1], rl_sxtb16_ror8(w[k]), acc);
        }
        y[o] = (int8_t)finish(c, acc);
    }
}

void rl_tile_dsp(const rl_tile *t, int32_t rows, const int8_t *const *x, const int8_t *weights,
                 const void *channels, int8_t *const *y) {
    rl_word *wide = t->scratch;
    const rl_word *w = (const rl_word *)(const void *)weights;
    if (rows == 2) {
        widen_two(t->depth, x[0], x[1], wide);
        two_rows(t, wide, w, channels, y[0], y[1]);
    } else {
        widen_one(t->depth, x[0], wide);
        one_row(t, wide, w, channels, y[0]);
    }
    if (t->narrow) {
        for (int32_t r = 0; r < rows; r++) {
            narrow(t, y[r]);
        }
    }
}
