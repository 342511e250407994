/* softmax with Helium: sixteen values a step for the maximum, four gathered exponentials a step for
 * the sum and the outputs. */
#include "common/simd_mve.h"
#include "softmax/softmax.h"

static int32_t maximum(const int8_t *x, int32_t count) {
    int8_t best = -128;
    for (; count >= 16; count -= 16) {
        best = rl_vmaxvq_s8(best, rl_vldrbq_s8(x));
        x += 16;
    }
    for (; count > 0; count--) {
        best = *x > best ? *x : best;
        x++;
    }
    return best;
}

/* The exponentials of four values; the table's index is best - x. */
static inline rl_s32x4 look_up(const int8_t *x, rl_s32x4 best, const uint16_t *exponentials,
                               rl_pred mask) {
    const rl_s32x4 index = rl_vsubq_s32(best, rl_vldrbq_z_s32(x, mask));
    return rl_vldrhq_gather_shifted_offset_z_u32(exponentials, index, mask);
}

static uint32_t sum(const int8_t *x, rl_s32x4 best, const uint16_t *exponentials, int32_t count) {
    int32_t total = 0;
    for (; count > 0; count -= 4) {
        total = rl_vaddvaq_s32(total, look_up(x, best, exponentials, rl_vctp32q((uint32_t)count)));
        x += 4;
    }
    return (uint32_t)total;
}

void rl_softmax_s8_mve(const rl_softmax_params *p, const int8_t *x, const uint16_t *exponentials,
                       int8_t *y) {
    const int32_t multiplier = p->multiplier * 65536, right = 15 - p->shift;
    const int32_t columns = p->columns, zero_point = p->out_zero_point;
    const rl_s32x4 low = rl_vdupq_n_s32(p->out_min), high = rl_vdupq_n_s32(p->out_max);
    for (int32_t row = 0; row < p->rows; row++) {
        const rl_s32x4 best = rl_vdupq_n_s32(maximum(x, columns));
        const uint32_t reciprocal = 0xffffffffu / sum(x, best, exponentials, columns);
        const rl_s32x4 factor = rl_vdupq_n_s32((int32_t)reciprocal);
        for (int32_t i = 0; i < columns; i += 4) {
            const rl_pred mask = rl_vctp32q((uint32_t)(columns - i));
            const rl_s32x4 product = rl_vmulq_s32(look_up(x + i, best, exponentials, mask), factor);
            rl_s32x4 out = rl_requantize_mve_n(rl_vshlq_r_u32(product, -1), multiplier, right);
            out = rl_vaddq_n_s32(out, zero_point);
            rl_vstrbq_p_s32(y + i, rl_vminq_s32(rl_vmaxq_s32(out, low), high), mask);
        }
        x += columns;
        y += columns;
    }
}
