/* avg_pool2d, for the DSP extension: four channels a word, summed by SXTAB16. The last word
 * overlaps the one before where the channels are not a multiple of four. */
#include "avg_pool2d/avg_pool2d.h"
#include "common/pool.h"
#include "common/simd_dsp.h"

typedef struct pool_constants {
    const rl_avg_pool2d_params *p;
    const rl_channel *classes;
    const uint16_t *row_class;
    const uint16_t *col_class;
} pool_constants;

/* Sums of four channels. */
typedef struct quad_sums {
    int32_t s0, s1, s2, s3;
} quad_sums;

/* Each chunk of rows is summed in 16-bit lanes, which flush_rows keeps from overflowing. */
static inline quad_sums sum_quad(const rl_area *area, int32_t offset, int32_t flush_rows,
                                 int32_t bias) {
    quad_sums s = {bias, bias, bias, bias};
    const int32_t step = area->col_step;
    for (int32_t rows = area->rows; rows > 0; rows -= flush_rows) {
        uint32_t even = 0, odd = 0;
        for (int32_t i = rows < flush_rows ? rows : flush_rows; i > 0; i--) {
            const int8_t *tap = area->image + offset;
            for (int32_t j = area->cols; j > 0; j--) {
                const uint32_t quad = rl_load4(tap);
                even = rl_sxtab16(even, quad);
                odd = rl_sxtab16_ror8(odd, quad);
                tap += step;
            }
            offset = rl_area_next(area, offset);
        }
        s.s0 += (int16_t)(uint16_t)even;
        s.s1 += (int16_t)(uint16_t)odd;
        s.s2 += (int32_t)even >> 16;
        s.s3 += (int32_t)odd >> 16;
    }
    return s;
}

static inline int32_t finish(const rl_channel *m, int32_t acc, int32_t addend) {
    acc = rl_shift_left(acc, m->pre);
    return rl_ssat8(rl_requantize_dsp(acc, m->multiplier, m->shift, addend));
}

static void pixel(const rl_area *area, int32_t row, int32_t col, int8_t *y, void *context) {
    const pool_constants *k = context;
    const rl_avg_pool2d_params *p = k->p;
    const rl_channel *m = &k->classes[k->row_class[row] * p->col_classes + k->col_class[col]];
    const int32_t addend = rl_requantize_addend(p->out_zero_point, m->shift);
    const uint32_t low = rl_pack4(p->out_min, p->out_min, p->out_min, p->out_min);
    const uint32_t high = rl_pack4(p->out_max, p->out_max, p->out_max, p->out_max);
    const int32_t channels = p->window.in_c;
    for (int32_t c = 0; c < channels; c += 4) {
        c = c > channels - 4 ? channels - 4 : c;
        const quad_sums s = sum_quad(area, area->offset + c, p->flush_rows, m->bias);
        const uint32_t quad = rl_pack_quad(finish(m, s.s0, addend), finish(m, s.s1, addend),
                                           finish(m, s.s2, addend), finish(m, s.s3, addend));
        rl_store4(y + c, rl_min_quad(rl_max_quad(quad, low), high));
    }
}

void rl_avg_pool2d_s8_dsp(const rl_avg_pool2d_params *p, const int8_t *x, const rl_channel *classes,
                          const uint16_t *row_class, const uint16_t *col_class, int8_t *y) {
    pool_constants constants = {p, classes, row_class, col_class};
    rl_pool_walk(&p->window, x, y, pixel, &constants);
}
