/* avg_pool2d, for MVE: 32 channels at once, then 16, then eight, the last of them predicated. */
#include "avg_pool2d/avg_pool2d.h"
#include "common/pool.h"
#include "common/taps_mve.h"

typedef struct pool_constants {
    const rl_avg_pool2d_params *p;
    const rl_channel *classes;
    const uint16_t *row_class;
    const uint16_t *col_class;
} pool_constants;

/* What turns sums into outputs, the same for a run of pixels. */
typedef struct scaling {
    int32_t bias, pre, multiplier_high, right;
    int16_t zero_point;
    rl_s16x8 low, high;
} scaling;

/* Eight outputs from the sums of even and odd channels. */
static inline rl_s16x8 finish(const scaling *k, rl_s32x4 even, rl_s32x4 odd) {
    even = rl_requantize_mve_n(rl_vshlq_r_s32(even, k->pre), k->multiplier_high, k->right);
    odd = rl_requantize_mve_n(rl_vshlq_r_s32(odd, k->pre), k->multiplier_high, k->right);
    rl_s16x8 out = rl_vqmovnbq_s32(k->low, even);
    out = rl_vqaddq_n_s16(rl_vqmovntq_s32(out, odd), k->zero_point);
    return rl_vminq_s16(rl_vmaxq_s16(out, k->low), k->high);
}

static inline rl_s16x8 finish_sum(const scaling *k, rl_s16x8 sum) {
    return finish(k, rl_vaddq_n_s32(rl_vmovlbq_s16(sum), k->bias),
                  rl_vaddq_n_s32(rl_vmovltq_s16(sum), k->bias));
}

/* Each of the next functions: the channels of a run of pixels from the one at y, whose first tap is
 * at offset. These two sum whole windows in 16-bit lanes. */
static void run_wide(const rl_window *w, const rl_area *area, const scaling *scale, int32_t offset,
                     int32_t pixels, int8_t *y) {
    const int32_t step = w->stride_w * w->in_c;
    const scaling k = *scale;
    for (; pixels > 0; pixels--) {
        const rl_s16x8 zero = rl_vdupq_n_s16(0);
        rl_s16x8 sums[4] = {zero, zero, zero, zero};
        int32_t at = offset;
        for (int32_t i = area->rows; i > 0; i--) {
            rl_mve_add_32(sums, area->image + at, area->col_step, area->cols);
            at = rl_area_next(area, at);
        }
        rl_vstrbq_s16(y, finish_sum(&k, sums[0]));
        rl_vstrbq_s16(y + 8, finish_sum(&k, sums[1]));
        rl_vstrbq_s16(y + 16, finish_sum(&k, sums[2]));
        rl_vstrbq_s16(y + 24, finish_sum(&k, sums[3]));
        offset += step;
        y += w->out_c;
    }
}

static void run_sixteen(const rl_window *w, const rl_area *area, const scaling *scale,
                        int32_t offset, int32_t pixels, int8_t *y) {
    const int32_t step = w->stride_w * w->in_c;
    const scaling k = *scale;
    for (; pixels > 0; pixels--) {
        rl_s16x8 sums[2] = {rl_vdupq_n_s16(0), rl_vdupq_n_s16(0)};
        int32_t at = offset;
        for (int32_t i = area->rows; i > 0; i--) {
            rl_mve_add_16(sums, area->image + at, area->col_step, area->cols);
            at = rl_area_next(area, at);
        }
        rl_vstrbq_s16(y, finish_sum(&k, sums[0]));
        rl_vstrbq_s16(y + 8, finish_sum(&k, sums[1]));
        offset += step;
        y += w->out_c;
    }
}

/* Each chunk of rows is summed in 16-bit lanes, which flush_rows keeps from overflowing. */
static void run_eight(const rl_window *w, const rl_area *area, const scaling *scale, int32_t offset,
                      int32_t pixels, int8_t *y, int32_t channels, int32_t flush_rows) {
    const rl_pred lanes = rl_vctp16q((uint32_t)channels);
    for (; pixels > 0; pixels--) {
        rl_s32x4 even = rl_vdupq_n_s32(scale->bias), odd = even;
        int32_t at = offset;
        for (int32_t rows = area->rows; rows > 0; rows -= flush_rows) {
            rl_s16x8 sum = rl_vdupq_n_s16(0);
            for (int32_t i = rows < flush_rows ? rows : flush_rows; i > 0; i--) {
                const int8_t *tap = area->image + at;
                for (int32_t j = area->cols; j > 0; j--) {
                    sum = rl_vaddq_s16(sum, rl_vldrbq_z_s16(tap, lanes));
                    tap += area->col_step;
                }
                at = rl_area_next(area, at);
            }
            even = rl_vaddq_s32(even, rl_vmovlbq_s16(sum));
            odd = rl_vaddq_s32(odd, rl_vmovltq_s16(sum));
        }
        rl_vstrbq_p_s16(y, finish(scale, even, odd), lanes);
        offset += w->stride_w * w->in_c;
        y += w->out_c;
    }
}

static void run(const rl_area *area, int32_t row, int32_t col, int32_t pixels, int8_t *y,
                void *context) {
    const pool_constants *k = context;
    const rl_avg_pool2d_params *p = k->p;
    const rl_window *w = &p->window;
    const rl_channel m = k->classes[k->row_class[row] * p->col_classes + k->col_class[col]];
    const scaling scale = {m.bias,
                           m.pre,
                           m.multiplier << 16,
                           15 - m.shift,
                           p->out_zero_point,
                           rl_vdupq_n_s16(p->out_min),
                           rl_vdupq_n_s16(p->out_max)};
    const int32_t channels = w->in_c;
    int32_t c = 0;
    if (area->rows <= p->flush_rows) {
        for (; c + 32 <= channels; c += 32) {
            run_wide(w, area, &scale, area->offset + c, pixels, y + c);
        }
        for (; c + 16 <= channels; c += 16) {
            run_sixteen(w, area, &scale, area->offset + c, pixels, y + c);
        }
    }
    for (; c < channels; c += 8) {
        run_eight(w, area, &scale, area->offset + c, pixels, y + c, channels - c, p->flush_rows);
    }
}

void rl_avg_pool2d_s8_mve(const rl_avg_pool2d_params *p, const int8_t *x, const rl_channel *classes,
                          const uint16_t *row_class, const uint16_t *col_class, int8_t *y) {
    pool_constants constants = {p, classes, row_class, col_class};
    rl_pool_runs(&p->window, x, y, run, &constants);
}
