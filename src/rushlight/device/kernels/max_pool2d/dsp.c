/* max_pool2d for the DSP extension: four channels a word, SSUB8 and SEL. The last word overlaps the
 * one before where the channels are not a multiple of four. */
#include "common/pool.h"
#include "common/simd_dsp.h"
#include "max_pool2d/max_pool2d.h"

static inline void pixel(const rl_area *area, int32_t row, int32_t col, int8_t *y,
                         const void *context) {
    const rl_max_pool2d_params *p = context;
    const int32_t channels = p->window.in_c;
    (void)row;
    (void)col;
    for (int32_t c = 0; c < channels; c += 4) {
        c = c > channels - 4 ? channels - 4 : c;
        int32_t offset = area->offset + c;
        uint32_t most = 0x80808080u;
        for (int32_t i = area->rows; i > 0; i--) {
            const int8_t *tap = area->image + offset;
            for (int32_t j = area->cols; j > 0; j--) {
                most = rl_max_quad(most, rl_load4(tap));
                tap += area->col_step;
            }
            offset = rl_area_next(area, offset);
        }
        rl_store4(y + c, most);
    }
}

void rl_max_pool2d_s8_dsp(const rl_max_pool2d_params *p, const int8_t *x, int8_t *y) {
    rl_pool_walk(&p->window, x, y, pixel, p);
}
