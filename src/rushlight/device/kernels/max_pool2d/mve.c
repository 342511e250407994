/* max_pool2d for MVE: 16 channels at once. */
#include "common/pool.h"
#include "common/simd_mve.h"
#include "max_pool2d/max_pool2d.h"

static inline void pixel(const rl_area *area, int32_t row, int32_t col, int8_t *y,
                         const void *context) {
    const rl_max_pool2d_params *p = context;
    const int32_t channels = p->window.in_c;
    (void)row;
    (void)col;
    for (int32_t c = 0; c < channels; c += 16) {
        const rl_pred lanes = rl_vctp8q((uint32_t)(channels - c));
        int32_t offset = area->offset + c;
        rl_s8x16 most = rl_vdupq_n_s8(-128);
        for (int32_t i = area->rows; i > 0; i--) {
            const int8_t *tap = area->image + offset;
            for (int32_t j = area->cols; j > 0; j--) {
                most = rl_vmaxq_s8(most, rl_vldrbq_z_s8(tap, lanes));
                tap += area->col_step;
            }
            offset = rl_area_next(area, offset);
        }
        rl_vstrbq_p_s8(y + c, most, lanes);
    }
}

void rl_max_pool2d_s8_mve(const rl_max_pool2d_params *p, const int8_t *x, int8_t *y) {
    rl_pool_walk(&p->window, x, y, pixel, p);
}
