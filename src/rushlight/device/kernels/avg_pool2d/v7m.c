/* avg_pool2d, plain C for Armv7-M and Armv8-M mainline: the long multiply requantises. */
#include "avg_pool2d/avg_pool2d.h"
#include "common/pool.h"

typedef struct pool_constants {
    const rl_avg_pool2d_params *p;
    const rl_channel *classes;
    const uint16_t *row_class;
    const uint16_t *col_class;
} pool_constants;

/* Adds the window's inputs of `count` (1 or 4) channels to their sums. */
static inline void sum(const rl_area *area, int32_t offset, int32_t count, int32_t *acc) {
    for (int32_t i = area->rows; i > 0; i--) {
        const int8_t *tap = area->image + offset;
        for (int32_t j = area->cols; j > 0; j--) {
            for (int32_t k = 0; k < count; k++) {
                acc[k] += tap[k];
            }
            tap += area->col_step;
        }
        offset = rl_area_next(area, offset);
    }
}

static inline int8_t finish(const rl_avg_pool2d_params *p, const rl_channel *m, int32_t acc) {
    acc = rl_requantize_v7m(acc, m->multiplier, m->shift, m->pre) + p->out_zero_point;
    return (int8_t)rl_clamp(acc, p->out_min, p->out_max);
}

static void pixel(const rl_area *area, int32_t row, int32_t col, int8_t *y, void *context) {
    const pool_constants *k = context;
    const rl_avg_pool2d_params *p = k->p;
    const rl_channel *m = &k->classes[k->row_class[row] * p->col_classes + k->col_class[col]];
    const int32_t channels = p->window.in_c;
    int32_t c = 0;
    for (; c + 4 <= channels; c += 4) {
        int32_t acc[4] = {m->bias, m->bias, m->bias, m->bias};
        sum(area, area->offset + c, 4, acc);
        for (int32_t i = 0; i < 4; i++) {
            y[c + i] = finish(p, m, acc[i]);
        }
    }
    for (; c < channels; c++) {
        int32_t acc = m->bias;
        sum(area, area->offset + c, 1, &acc);
        y[c] = finish(p, m, acc);
    }
}

void rl_avg_pool2d_s8_v7m(const rl_avg_pool2d_params *p, const int8_t *x, const rl_channel *classes,
                          const uint16_t *row_class, const uint16_t *col_class, int8_t *y) {
    pool_constants constants = {p, classes, row_class, col_class};
    rl_pool_walk(&p->window, x, y, pixel, &constants);
}
