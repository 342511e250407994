/* avg_pool2d, plain C for Armv7-M and Armv8-M mainline: the long multiply requantises. */
#include "avg_pool2d/avg_pool2d.h"
#include "common/pool.h"

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

static inline quad_sums sum_quad(const rl_area *area, int32_t offset, int32_t bias) {
    quad_sums s = {bias, bias, bias, bias};
    const int32_t step = area->col_step;
    for (int32_t i = area->rows; i > 0; i--) {
        const int8_t *tap = area->image + offset;
        for (int32_t j = area->cols; j > 0; j--) {
            s.s0 += tap[0];
            s.s1 += tap[1];
            s.s2 += tap[2];
            s.s3 += tap[3];
            tap += step;
        }
        offset = rl_area_next(area, offset);
    }
    return s;
}

static inline int32_t sum_one(const rl_area *area, int32_t offset, int32_t bias) {
    for (int32_t i = area->rows; i > 0; i--) {
        const int8_t *tap = area->image + offset;
        for (int32_t j = area->cols; j > 0; j--) {
            bias += *tap;
            tap += area->col_step;
        }
        offset = rl_area_next(area, offset);
    }
    return bias;
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
        const quad_sums s = sum_quad(area, area->offset + c, m->bias);
        y[c] = finish(p, m, s.s0);
        y[c + 1] = finish(p, m, s.s1);
        y[c + 2] = finish(p, m, s.s2);
        y[c + 3] = finish(p, m, s.s3);
    }
    for (; c < channels; c++) {
        y[c] = finish(p, m, sum_one(area, area->offset + c, m->bias));
    }
}

void rl_avg_pool2d_s8_v7m(const rl_avg_pool2d_params *p, const int8_t *x, const rl_channel *classes,
                          const uint16_t *row_class, const uint16_t *col_class, int8_t *y) {
    pool_constants constants = {p, classes, row_class, col_class};
    rl_pool_walk(&p->window, x, y, pixel, &constants);
}
