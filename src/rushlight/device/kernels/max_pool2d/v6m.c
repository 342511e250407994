/* max_pool2d, plain C, one byte at a time: no unaligned load, any core. */
#include "common/pool.h"
#include "max_pool2d/max_pool2d.h"

static inline void pixel(const rl_area *area, int32_t row, int32_t col, int8_t *y,
                         const void *context) {
    const rl_max_pool2d_params *p = context;
    (void)row;
    (void)col;
    for (int32_t c = 0; c < p->window.in_c; c++) {
        int32_t offset = area->offset + c;
        int32_t most = -128;
        for (int32_t i = area->rows; i > 0; i--) {
            const int8_t *tap = area->image + offset;
            for (int32_t j = area->cols; j > 0; j--) {
                most = *tap > most ? *tap : most;
                tap += area->col_step;
            }
            offset = rl_area_next(area, offset);
        }
        y[c] = (int8_t)most;
    }
}

void rl_max_pool2d_s8_v6m(const rl_max_pool2d_params *p, const int8_t *x, int8_t *y) {
    rl_pool_walk(&p->window, x, y, pixel, p);
}
