/* The matrix tile for Helium: 2 rows x 2 channels (or 1 x 4) of 16 products a multiply, then four
 * channels are requantised at once. */
#include "common/dot_mve.h"
#include "common/simd_mve.h"
#include "common/tile.h"

/* Zero point and clamp in all lanes. */
typedef struct range {
    rl_s32x4 zero_point, low, high;
} range;

/* Zero point and clamp of four requantised sums. */
static inline rl_s32x4 fit(const range *r, rl_s32x4 v) {
    return rl_vminq_s32(rl_vmaxq_s32(rl_vaddq_s32(v, r->zero_point), r->low), r->high);
}

/* Requantises the first `left` of four channels of one row. */
static inline void put(const range *r, const rl_channels_mve *c, const int32_t sums[4], int8_t *y,
                       int32_t left) {
    const rl_s32x4 v = rl_requantize_mve(rl_vldrwq_s32(sums), rl_vldrwq_s32(c->multiplier_high),
                                         rl_vldrwq_s32(c->right));
    rl_vstrbq_p_s32(y, fit(r, v), rl_vctp32q((uint32_t)left));
}

/* The last 1 to 3 channels of two rows. The last of an odd number is computed twice. */
static void two_rows_tail(const rl_tile *t, const range *r, const int8_t *const *x, const int8_t *w,
                          const rl_channels_mve *c, int8_t *y0, int8_t *y1, int32_t left) {
    int32_t sums[2][4] = {{0}};
    for (int32_t o = 0; o < left; o += 2) {
        const int32_t next = left - o > 1 ? t->depth : 0;
        const int8_t *w0 = w + o * t->depth;
        int32_t pair[4] = {c->bias[o], c->bias[o + 1], c->bias[o], c->bias[o + 1]};
        rl_dot_2x2(x[0], x[1], w0, w0 + next, t->depth, pair);
        sums[0][o] = pair[0];
        sums[0][o + 1] = pair[1];
        sums[1][o] = pair[2];
        sums[1][o + 1] = pair[3];
    }
    put(r, c, sums[0], y0, left);
    put(r, c, sums[1], y1, left);
}

static void two_rows(const rl_tile *t, const range *r, const int8_t *const *x, const int8_t *w,
                     const rl_channels_mve *c, int8_t *const *y) {
    const int8_t *x0 = x[0], *x1 = x[1];
    int8_t *y0 = y[0], *y1 = y[1];
    const int32_t depth = t->depth;
    int32_t left = t->channels;
    for (; left >= 4; left -= 4) {
        int32_t sums[2][4];
        rl_dot_2x4(x0, x1, w, depth, c->bias, sums);
        const rl_s32x4 multiplier = rl_vldrwq_s32(c->multiplier_high);
        const rl_s32x4 right = rl_vldrwq_s32(c->right);
        const rl_s32x4 v0 = rl_requantize_mve(rl_vldrwq_s32(sums[0]), multiplier, right);
        const rl_s32x4 v1 = rl_requantize_mve(rl_vldrwq_s32(sums[1]), multiplier, right);
        rl_vstrbq_s32(y0, fit(r, v0));
        rl_vstrbq_s32(y1, fit(r, v1));
        w += 4 * depth;
        y0 += 4;
        y1 += 4;
        c++;
    }
    if (left > 0) {
        two_rows_tail(t, r, x, w, c, y0, y1, left);
    }
}

static void one_row(const rl_tile *t, const range *r, const int8_t *x, const int8_t *w,
                    const rl_channels_mve *c, int8_t *y) {
    const int32_t depth = t->depth;
    for (int32_t left = t->channels; left > 0; left -= 4) {
        int32_t sums[4] = {c->bias[0], c->bias[1], c->bias[2], c->bias[3]};
        /* Channels that are not there are computed as the last one again, and not stored. */
        const int8_t *w1 = left > 1 ? w + depth : w;
        const int8_t *w2 = left > 2 ? w1 + depth : w;
        const int8_t *w3 = left > 3 ? w2 + depth : w;
        rl_dot_1x4(x, w, w1, w2, w3, depth, sums);
        put(r, c, sums, y, left);
        w = w3 + depth;
        y += 4;
        c++;
    }
}

void rl_tile_mve(const rl_tile *t, int32_t rows, const int8_t *const *x, const int8_t *weights,
                 const void *channels, int8_t *const *y) {
    const range r = {rl_vdupq_n_s32(t->zero_point), rl_vdupq_n_s32(t->low),
                     rl_vdupq_n_s32(t->high)};
    if (rows == 2) {
        two_rows(t, &r, x, weights, channels, y);
    } else {
        one_row(t, &r, x[0], weights, channels, y[0]);
    }
}
