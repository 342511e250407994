/* max_pool2d for the DSP extension: four channels a word, SSUB8 and SEL. The last word overlaps the
 * one before where the channels are not a multiple of four. */
#include "common/simd_dsp.h"
#include "max_pool2d/walk.h"

static void greatest(const int8_t *const *taps, int8_t *y, int32_t channels) {
    const int8_t *t0 = taps[0], *t1 = taps[1], *t2 = taps[2], *t3 = taps[3];
    for (int32_t c = 0; c < channels; c += 4) {
        c = c > channels - 4 ? channels - 4 : c;
        const uint32_t a = rl_max_quad(rl_load4(t0 + c), rl_load4(t1 + c));
        const uint32_t b = rl_max_quad(rl_load4(t2 + c), rl_load4(t3 + c));
        rl_store4(y + c, rl_max_quad(a, b));
    }
}

static void pixel(const rl_area *area, int32_t row, int32_t col, int8_t *y, void *context) {
    (void)row;
    (void)col;
    rl_max_pool_pixel(area, y, context, greatest);
}

void rl_max_pool2d_s8_dsp(const rl_max_pool2d_params *p, const int8_t *x, int8_t *y) {
    rl_max_pool_state state = {{0}, p->window.in_c};
    rl_pool_walk(&p->window, x, y, pixel, &state);
}
