/* avg_pool2d, plain C for Armv7-M and Armv8-M mainline: the long multiply requantises. */
#include "avg_pool2d/avg_pool2d.h"
#include "common/pool.h"

typedef struct pool_constants {
    const rl_avg_pool2d_params *p;
    const rl_channel *classes;
    const uint16_t *row_class;
    const uint16_t *col_class;
} pool_constants;

static inline void pixel(const rl_area *area, int32_t row, int32_t col, int8_t *y,
                         const void *context) {
    const pool_constants *k = context;
    const rl_avg_pool2d_params *p = k->p;
    const rl_channel m = k->classes[k->row_class[row] * p->col_classes + k->col_class[col]];
    for (int32_t c = 0; c < p->window.in_c; c++) {
        int32_t offset = area->offset + c;
        int32_t acc = m.bias;
        for (int32_t i = area->rows; i > 0; i--) {
            const int8_t *tap = area->image + offset;
            for (int32_t j = area->cols; j > 0; j--) {
                acc += *tap;
                tap += area->col_step;
            }
            offset = rl_area_next(area, offset);
        }
        acc = rl_requantize_v7m(acc, m.multiplier, m.shift, m.pre) + p->out_zero_point;
        y[c] = (int8_t)rl_clamp(acc, p->out_min, p->out_max);
    }
}

void rl_avg_pool2d_s8_v7m(const rl_avg_pool2d_params *p, const int8_t *x, const rl_channel *classes,
                          const uint16_t *row_class, const uint16_t *col_class, int8_t *y) {
    const pool_constants constants = {p, classes, row_class, col_class};
    rl_pool_walk(&p->window, x, y, pixel, &constants);
}
