/* max_pool2d, plain C, one byte at a time: no unaligned load, any core. */
#include "max_pool2d/walk.h"

static inline int32_t greater(int32_t a, int32_t b) {
    return a > b ? a : b;
}

static void greatest(const int8_t *const *taps, int8_t *y, int32_t channels) {
    const int8_t *t0 = taps[0], *t1 = taps[1], *t2 = taps[2], *t3 = taps[3];
    for (int32_t c = 0; c < channels; c++) {
        y[c] = (int8_t)greater(greater(t0[c], t1[c]), greater(t2[c], t3[c]));
    }
}

static void pixel(const rl_area *area, int32_t row, int32_t col, int8_t *y, void *context) {
    (void)row;
    (void)col;
    rl_max_pool_pixel(area, y, context, greatest);
}

void rl_max_pool2d_s8_v6m(const rl_max_pool2d_params *p, const int8_t *x, int8_t *y) {
    rl_max_pool_state state = {{0}, p->window.in_c};
    rl_pool_walk(&p->window, x, y, pixel, &state);
}
