/* max_pool2d for MVE: 16 channels at once. */
#include "common/simd_mve.h"
#include "max_pool2d/walk.h"

enum { LANES = 16 };

static void greatest(const int8_t *const *taps, int8_t *y, int32_t channels) {
    const int8_t *t0 = taps[0], *t1 = taps[1], *t2 = taps[2], *t3 = taps[3];
    for (; channels >= LANES; channels -= LANES) {
        const rl_s8x16 a = rl_vmaxq_s8(rl_vldrbq_s8(t0), rl_vldrbq_s8(t1));
        const rl_s8x16 b = rl_vmaxq_s8(rl_vldrbq_s8(t2), rl_vldrbq_s8(t3));
        rl_vstrbq_s8(y, rl_vmaxq_s8(a, b));
        t0 += LANES;
        t1 += LANES;
        t2 += LANES;
        t3 += LANES;
        y += LANES;
    }
    if (channels > 0) {
        const rl_pred part = rl_vctp8q((uint32_t)channels);
        const rl_s8x16 a = rl_vmaxq_s8(rl_vldrbq_z_s8(t0, part), rl_vldrbq_z_s8(t1, part));
        const rl_s8x16 b = rl_vmaxq_s8(rl_vldrbq_z_s8(t2, part), rl_vldrbq_z_s8(t3, part));
        rl_vstrbq_p_s8(y, rl_vmaxq_s8(a, b), part);
    }
}

static void pixel(const rl_area *area, int32_t row, int32_t col, int8_t *y, void *context) {
    (void)row;
    (void)col;
    rl_max_pool_pixel(area, y, context, greatest);
}

void rl_max_pool2d_s8_mve(const rl_max_pool2d_params *p, const int8_t *x, int8_t *y) {
    rl_max_pool_state state = {{0}, p->window.in_c};
    rl_pool_walk(&p->window, x, y, pixel, &state);
}
