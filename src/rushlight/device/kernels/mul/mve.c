/* mul with Helium: eight outputs at once, the tail under a predicate. */
#include "common/simd_mve.h"
#include "mul/mul.h"

typedef struct output {
    rl_s16x8 low, high;
    int32_t multiplier, right;
    int16_t zero_point;
} output;

static inline output output_of(const rl_mul_params *p) {
    const output out = {rl_vdupq_n_s16(p->out_min), rl_vdupq_n_s16(p->out_max),
                        p->multiplier * 65536, 15 - p->shift, p->out_zero_point};
    return out;
}

/* Multiplies, requantises even and odd lanes, narrows, clamps. Saturation on the way is beyond any
 * int8 bound, so that it changes no output. */
static inline rl_s16x8 product(const output *out, rl_s16x8 a, rl_s16x8 b) {
    const rl_s32x4 even = rl_vmullbq_int_s16(a, b), odd = rl_vmulltq_int_s16(a, b);
    rl_s16x8 y = a;
    y = rl_vqmovnbq_s32(y, rl_requantize_mve_n(even, out->multiplier, out->right));
    y = rl_vqmovntq_s32(y, rl_requantize_mve_n(odd, out->multiplier, out->right));
    y = rl_vqaddq_n_s16(y, out->zero_point);
    return rl_vminq_s16(rl_vmaxq_s16(y, out->low), out->high);
}

static void mul_run(const rl_mul_params *p, const int8_t *a, const int8_t *b, int8_t *y) {
    const output out = output_of(p);
    const int16_t za = (int16_t)-p->a_zero_point, zb = (int16_t)-p->b_zero_point;
    int32_t left = p->walk.inner;
    for (; left >= 8; left -= 8) {
        const rl_s16x8 va = rl_vaddq_n_s16(rl_vldrbq_s16(a), za);
        const rl_s16x8 vb = rl_vaddq_n_s16(rl_vldrbq_s16(b), zb);
        rl_vstrbq_s16(y, product(&out, va, vb));
        a += 8;
        b += 8;
        y += 8;
    }
    if (left > 0) {
        const rl_pred mask = rl_vctp16q((uint32_t)left);
        const rl_s16x8 va = rl_vaddq_n_s16(rl_vldrbq_z_s16(a, mask), za);
        const rl_s16x8 vb = rl_vaddq_n_s16(rl_vldrbq_z_s16(b, mask), zb);
        rl_vstrbq_p_s16(y, product(&out, va, vb), mask);
    }
}

/* One operand is a single value. */
static void scale_run(const rl_mul_params *p, const int8_t *x, int32_t zero_point, int32_t factor,
                      int8_t *y) {
    const output out = output_of(p);
    const rl_s16x8 f = rl_vdupq_n_s16((int16_t)factor);
    const int16_t z = (int16_t)-zero_point;
    int32_t left = p->walk.inner;
    for (; left >= 8; left -= 8) {
        rl_vstrbq_s16(y, product(&out, rl_vaddq_n_s16(rl_vldrbq_s16(x), z), f));
        x += 8;
        y += 8;
    }
    if (left > 0) {
        const rl_pred mask = rl_vctp16q((uint32_t)left);
        const rl_s16x8 v = rl_vaddq_n_s16(rl_vldrbq_z_s16(x, mask), z);
        rl_vstrbq_p_s16(y, product(&out, v, f), mask);
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
