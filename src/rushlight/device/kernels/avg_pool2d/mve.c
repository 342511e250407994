/* avg_pool2d, for MVE: eight channels at once. */
#include "avg_pool2d/avg_pool2d.h"
#include "common/pool.h"
#include "common/simd_mve.h"

typedef struct pool_constants {
    const rl_avg_pool2d_params *p;
    const rl_channel *classes;
    const uint16_t *row_class;
    const uint16_t *col_class;
} pool_constants;

/* Sums of eight channels, even ones in acc[0], odd ones in acc[1]. Each chunk of rows is summed in
 * 16-bit lanes, which flush_rows keeps from overflowing. */
static inline void sum_eight(const rl_area *area, int32_t offset, int32_t flush_rows, rl_pred lanes,
                             rl_s32x4 acc[2]) {
    for (int32_t rows = area->rows; rows > 0; rows -= flush_rows) {
        rl_s16x8 sum = rl_vdupq_n_s16(0);
        for (int32_t i = rows < flush_rows ? rows : flush_rows; i > 0; i--) {
            const int8_t *tap = area->image + offset;
            for (int32_t j = area->cols; j > 0; j--) {
                sum = rl_vaddq_s16(sum, rl_vldrbq_z_s16(tap, lanes));
                tap += area->col_step;
            }
            offset = rl_area_next(area, offset);
        }
        acc[0] = rl_vaddq_s32(acc[0], rl_vmovlbq_s16(sum));
        acc[1] = rl_vaddq_s32(acc[1], rl_vmovltq_s16(sum));
    }
}

static void pixel(const rl_area *area, int32_t row, int32_t col, int8_t *y, void *context) {
    const pool_constants *k = context;
    const rl_avg_pool2d_params *p = k->p;
    const rl_channel m = k->classes[k->row_class[row] * p->col_classes + k->col_class[col]];
    const int32_t multiplier_high = m.multiplier << 16, right = 15 - m.shift;
    const rl_s16x8 low = rl_vdupq_n_s16(p->out_min), high = rl_vdupq_n_s16(p->out_max);
    for (int32_t c = 0; c < p->window.in_c; c += 8) {
        const rl_pred lanes = rl_vctp16q((uint32_t)(p->window.in_c - c));
        rl_s32x4 acc[2] = {rl_vdupq_n_s32(m.bias), rl_vdupq_n_s32(m.bias)};
        sum_eight(area, area->offset + c, p->flush_rows, lanes, acc);
        for (int32_t i = 0; i < 2; i++) {
            acc[i] = rl_requantize_mve_n(rl_vshlq_r_s32(acc[i], m.pre), multiplier_high, right);
        }
        rl_s16x8 out = rl_vqmovnbq_s32(low, acc[0]);
        out = rl_vqaddq_n_s16(rl_vqmovntq_s32(out, acc[1]), p->out_zero_point);
        rl_vstrbq_p_s16(y + c, rl_vminq_s16(rl_vmaxq_s16(out, low), high), lanes);
    }
}

void rl_avg_pool2d_s8_mve(const rl_avg_pool2d_params *p, const int8_t *x, const rl_channel *classes,
                          const uint16_t *row_class, const uint16_t *col_class, int8_t *y) {
    pool_constants constants = {p, classes, row_class, col_class};
    rl_pool_walk(&p->window, x, y, pixel, &constants);
}
