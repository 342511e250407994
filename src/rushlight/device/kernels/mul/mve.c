/* mul with Helium: eight outputs at once, the tail under a predicate. */
#include "common/simd_mve.h"
#include "mul/mul.h"

/* Requantises the products of even and odd lanes, narrows, clamps. Saturation on the way is beyond
 * any int8 bound, so that it changes no output. */
static inline rl_s16x8 finish(const rl_mul_params *p, rl_s32x4 even, rl_s32x4 odd) {
    const int32_t multiplier = p->multiplier * 65536, right = 15 - p->shift;
    rl_s16x8 y = rl_vdupq_n_s16(0);
    y = rl_vqmovnbq_s32(y, rl_requantize_mve_n(even, multiplier, right));
    y = rl_vqmovntq_s32(y, rl_requantize_mve_n(odd, multiplier, right));
    y = rl_vqaddq_n_s16(y, p->out_zero_point);
    return rl_vminq_s16(rl_vmaxq_s16(y, rl_vdupq_n_s16(p->out_min)), rl_vdupq_n_s16(p->out_max));
}

static inline rl_s16x8 less_zero(const int8_t *x, int16_t minus, rl_pred mask) {
    return rl_vaddq_n_s16(rl_vldrbq_z_s16(x, mask), minus);
}

static void mul_run(const rl_mul_params *p, const int8_t *a, const int8_t *b, int8_t *y) {
    const int16_t za = (int16_t)-p->a_zero_point, zb = (int16_t)-p->b_zero_point;
    for (int32_t left = p->walk.inner; left > 0; left -= 8) {
        const rl_pred mask = rl_vctp16q((uint32_t)left);
        const rl_s16x8 va = less_zero(a, za, mask), vb = less_zero(b, zb, mask);
        const rl_s16x8 out = finish(p, rl_vmullbq_int_s16(va, vb), rl_vmulltq_int_s16(va, vb));
        rl_vstrbq_p_s16(y, out, mask);
        a += 8;
        b += 8;
        y += 8;
    }
}

/* One operand is a single value. */
static void scale_run(const rl_mul_params *p, const int8_t *x, int32_t zero_point, int32_t factor,
                      int8_t *y) {
    const rl_s16x8 f = rl_vdupq_n_s16((int16_t)factor);
    for (int32_t left = p->walk.inner; left > 0; left -= 8) {
        const rl_pred mask = rl_vctp16q((uint32_t)left);
        const rl_s16x8 v = less_zero(x, (int16_t)-zero_point, mask);
        rl_vstrbq_p_s16(y, finish(p, rl_vmullbq_int_s16(v, f), rl_vmulltq_int_s16(v, f)), mask);
        x += 8;
        y += 8;
    }
}

void rl_mul_s8_mve(const rl_mul_params *p, const int8_t *a, const int8_t *b, int8_t *y) {
    int32_t index[RL_BROADCAST_OUTER] = {0};
    do {
        if (p->walk.a_inner == 0) {
            scale_run(p, b, p->b_zero_point, *a - p->a_zero_point, y);
        } else if (p->walk.b_inner == 0) {
            scale_run(p, a, p->a_zero_point, *b - p->b_zero_point, y);
        } else {
            mul_run(p, a, b, y);
        }
    } while (rl_broadcast_next(&p->walk, index, &a, &b, &y));
}
