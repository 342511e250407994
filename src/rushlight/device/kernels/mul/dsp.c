/* mul with the DSP extension: zero points come off in the SXTAB16 that widens, SMLAWB requantises.
 */
#include "common/simd_dsp.h"
#include "mul/mul.h"

typedef struct output {
    int32_t multiplier, addend;
    uint32_t shift, low, high;
} output;

static inline uint32_t splat(int32_t value) {
    return ((uint32_t)value & 0xffu) * 0x01010101u;
}

static inline uint32_t minus(int32_t zero_point) {
    return rl_pack_low((uint32_t)-zero_point, (uint32_t)-zero_point);
}

static inline int32_t one(const output *out, int32_t acc) {
    return rl_ssat8(rl_requantize_dsp(acc, out->multiplier, out->shift, out->addend));
}

static inline uint32_t four(const output *out, int32_t y0, int32_t y1, int32_t y2, int32_t y3) {
    const uint32_t quad = rl_pack4(one(out, y0), one(out, y1), one(out, y2), one(out, y3));
    return rl_min_quad(rl_max_quad(quad, out->low), out->high);
}

static void mul_run(const rl_mul_params *p, const output *to, const int8_t *a, const int8_t *b,
                    int8_t *y) {
    const output out = *to;
    const uint32_t za = minus(p->a_zero_point), zb = minus(p->b_zero_point);
    int32_t left = p->walk.inner;
    for (; left >= 4; left -= 4) {
        const uint32_t qa = rl_load4(a), qb = rl_load4(b);
        const uint32_t a02 = rl_sxtab16(za, qa), a13 = rl_sxtab16_ror8(za, qa);
        const uint32_t b02 = rl_sxtab16(zb, qb), b13 = rl_sxtab16_ror8(zb, qb);
        rl_store4(y, four(&out, rl_smlabb(a02, b02, 0), rl_smlabb(a13, b13, 0),
                          rl_smlatt(a02, b02, 0), rl_smlatt(a13, b13, 0)));
        a += 4;
        b += 4;
        y += 4;
    }
    for (; left > 0; left--) {
        const int32_t acc = (*a++ - p->a_zero_point) * (*b++ - p->b_zero_point);
        *y++ = (int8_t)rl_clamp(one(&out, acc), p->out_min, p->out_max);
    }
}

/* One operand is a single value. */
static void scale_run(const rl_mul_params *p, const output *to, const int8_t *x, int32_t zero_point,
                      int32_t factor, int8_t *y) {
    const output out = *to;
    const uint32_t z = minus(zero_point), f = (uint32_t)factor;
    int32_t left = p->walk.inner;
    for (; left >= 4; left -= 4) {
        const uint32_t quad = rl_load4(x);
        const uint32_t x02 = rl_sxtab16(z, quad), x13 = rl_sxtab16_ror8(z, quad);
        rl_store4(y, four(&out, rl_smlabb(x02, f, 0), rl_smlabb(x13, f, 0), rl_smlatb(x02, f, 0),
                          rl_smlatb(x13, f, 0)));
        x += 4;
        y += 4;
    }
    for (; left > 0; left--) {
        const int32_t acc = (*x++ - zero_point) * factor;
        *y++ = (int8_t)rl_clamp(one(&out, acc), p->out_min, p->out_max);
    }
}

void rl_mul_s8_dsp(const rl_mul_params *p, const int8_t *a, const int8_t *b, int8_t *y) {
    const uint32_t shift = (uint32_t)p->shift;
    const output out = {p->multiplier, rl_requantize_addend(p->out_zero_point, shift), shift,
                        splat(p->out_min), splat(p->out_max)};
    int32_t index[RL_BROADCAST_OUTER] = {0};
    do {
        if (p->walk.a_inner == 0) {
            scale_run(p, &out, b, p->b_zero_point, *a - p->a_zero_point, y);
        } else if (p->walk.b_inner == 0) {
            scale_run(p, &out, a, p->a_zero_point, *b - p->b_zero_point, y);
        } else {
            mul_run(p, &out, a, b, y);
        }
    } while (rl_broadcast_next(&p->walk, index, &a, &b, &y));
}
