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

/* Sums of four channels: 32-bit, in the order c, c+2, c+1, c+3 of the pairs. Each chunk of rows is
 * summed in 16-bit lanes, which flush_rows keeps from overflowing. */
static inline void sum_quad(const rl_area *area, int32_t offset, int32_t flush_rows,
                            int32_t acc[4]) {
    for (int32_t rows = area->rows; rows > 0; rows -= flush_rows) {
        uint32_t even = 0, odd = 0;
        for (int32_t i = rows < flush_rows ? rows : flush_rows; i > 0; i--) {
            const int8_t *tap = area->image + offset;
            for (int32_t j = area->cols; j > 0; j--) {
                const uint32_t quad = rl_load4(tap);
                even = rl_sxtab16(even, quad);
                odd = rl_sxtab16_ror8(odd, quad);
                tap += area->col_step;
            }
            offset = rl_area_next(area, offset);
        }
        acc[0] += (int16_t)(uint16_t)even;
        acc[1] += (int16_t)(uint16_t)odd;
        acc[2] += (int32_t)even >> 16;
        acc[3] += (int32_t)odd >> 16;
    }
}

static void pixel(const rl_area *area, int32_t row, int32_t col, int8_t *y, void *context) {
    const pool_constants *k = context;
    const rl_avg_pool2d_params *p = k->p;
    const rl_channel m = k->classes[k->row_class[row] * p->col_classes + k->col_class[col]];
    const int32_t addend = rl_requantize_addend(p->out_zero_point, m.shift);
    const int32_t channels = p->window.in_c;
    for (int32_t c = 0; c < channels; c += 4) {
        c = c > channels - 4 ? channels - 4 : c;
        int32_t acc[4] = {m.bias, m.bias, m.bias, m.bias};
        sum_quad(area, area->offset + c, p->flush_rows, acc);
        for (int32_t i = 0; i < 4; i++) {
            const int32_t wide = rl_shift_left(acc[i], m.pre);
            acc[i] = rl_requantize_dsp(wide, m.multiplier, m.shift, addend);
            acc[i] = rl_clamp(acc[i], p->out_min, p->out_max);
        }
        rl_store4(y + c, rl_pack4(acc[0], acc[1], acc[2], acc[3]));
    }
}

void rl_avg_pool2d_s8_dsp(const rl_avg_pool2d_params *p, const int8_t *x, const rl_channel *classes,
                          const uint16_t *row_class, const uint16_t *col_class, int8_t *y) {
    pool_constants constants = {p, classes, row_class, col_class};
    rl_pool_walk(&p->window, x, y, pixel, &constants);
}
