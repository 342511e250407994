/* The matrix tile for Helium: 2 rows x 2 channels (or 1 x 4) of 16 products a multiply, then four
 * channels are requantised at once. */
#include "common/dot_mve.h"
#include "common/simd_mve.h"
#include "common/tile.h"

/* Zero point and clamp in all lanes. */
typedef struct range {
    rl_s32x4 zero_point, low, high;
} range;

static inline void put(const range *r, const rl_channels_mve *c, const int32_t sums[4], int8_t *y,
                       int32_t left) {
    rl_s32x4 v = rl_requantize_mve(rl_vldrwq_s32(sums), rl_vldrwq_s32(c->multiplier_high),
                                   rl_vldrwq_s32(c->right));
    v = rl_vminq_s32(rl_vmaxq_s32(rl_vaddq_s32(v, r->zero_point), r->low), r->high);
    if (left >= 4) {
        rl_vstrbq_s32(y, v);
    } else {
        rl_vstrbq_p_s32(y, v, rl_vctp32q((uint32_t)left));
    }
}

/* Two channels, the second of which may be the first again (next == 0). */
static inline void two_channels(const rl_tile *t, const int8_t *const *x, const int8_t *w,
                                int32_t next, const int32_t bias[2], int32_t *row0, int32_t *row1) {
    int32_t sums[4] = {bias[0], bias[1], bias[0], bias[1]};
    rl_dot_2x2(x[0], x[1], w, w + next * t->depth, t->depth, sums);
    row0[0] = sums[0];
    row0[1] = sums[1];
    row1[0] = sums[2];
    row1[1] = sums[3];
}

static void two_rows(const rl_tile *t, const range *r, const int8_t *const *x, const int8_t *w,
                     const rl_channels_mve *c, int8_t *const *y) {
    int8_t *y0 = y[0], *y1 = y[1];
    for (int32_t left = t->channels; left > 0; left -= 4) {
        int32_t row0[4], row1[4];
        two_channels(t, x, w, left > 1, c->bias, row0, row1);
        if (left > 2) {
            two_channels(t, x, w + 2 * t->depth, left > 3, c->bias + 2, row0 + 2, row1 + 2);
        } else {
            row0[2] = row0[3] = row1[2] = row1[3] = 0;
        }
        put(r, c, row0, y0, left);
        put(r, c, row1, y1, left);
        w += 4 * t->depth;
        y0 += 4;
        y1 += 4;
        c++;
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
