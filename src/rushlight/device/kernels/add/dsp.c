/* add with the DSP extension: four outputs from two words, SMLAD on pairs (a, b). */
#include "add/add.h"
#include "common/simd_dsp.h"

/* The last steps: saturate, pack, clamp. */
static inline uint32_t finish(int32_t y0, int32_t y1, int32_t y2, int32_t y3, uint32_t low,
                              uint32_t high) {
    const uint32_t quad = rl_pack4(rl_ssat8(y0), rl_ssat8(y1), rl_ssat8(y2), rl_ssat8(y3));
    return rl_min_quad(rl_max_quad(quad, low), high);
}

static inline uint32_t splat(int32_t value) {
    return ((uint32_t)value & 0xffu) * 0x01010101u;
}

static void add_run(const rl_add_params *p, const int8_t *a, const int8_t *b, int8_t *y) {
    const uint32_t m = rl_pack_low((uint32_t)p->a_multiplier, (uint32_t)p->b_multiplier);
    const uint32_t low = splat(p->out_min), high = splat(p->out_max);
    const int32_t offset = p->offset, shift = p->shift;
    int32_t left = p->walk.inner;
    for (; left >= 4; left -= 4) {
        const uint32_t qa = rl_load4(a), qb = rl_load4(b);
        const uint32_t a02 = rl_sxtb16(qa), a13 = rl_sxtb16_ror8(qa);
        const uint32_t b02 = rl_sxtb16(qb), b13 = rl_sxtb16_ror8(qb);
        const int32_t y0 = rl_smlad(rl_pack_low(a02, b02), m, offset) >> shift;
        const int32_t y1 = rl_smlad(rl_pack_low(a13, b13), m, offset) >> shift;
        const int32_t y2 = rl_smlad(rl_pack_high(a02, b02), m, offset) >> shift;
        const int32_t y3 = rl_smlad(rl_pack_high(a13, b13), m, offset) >> shift;
        rl_store4(y, finish(y0, y1, y2, y3, low, high));
        a += 4;
        b += 4;
        y += 4;
    }
    for (; left > 0; left--) {
        const int32_t sum = *a++ * p->a_multiplier + *b++ * p->b_multiplier + offset;
        *y++ = (int8_t)rl_clamp(sum >> shift, p->out_min, p->out_max);
    }
}

/* One operand is a single value, its part in offset already. */
static void scale_run(const rl_add_params *p, const int8_t *x, int32_t multiplier, int32_t offset,
                      int8_t *y) {
    const uint32_t m = (uint32_t)multiplier, low = splat(p->out_min), high = splat(p->out_max);
    const int32_t shift = p->shift;
    int32_t left = p->walk.inner;
    for (; left >= 4; left -= 4) {
        const uint32_t quad = rl_load4(x);
        const uint32_t x02 = rl_sxtb16(quad), x13 = rl_sxtb16_ror8(quad);
        const int32_t y0 = rl_smlabb(x02, m, offset) >> shift;
        const int32_t y1 = rl_smlabb(x13, m, offset) >> shift;
        const int32_t y2 = rl_smlatb(x02, m, offset) >> shift;
        const int32_t y3 = rl_smlatb(x13, m, offset) >> shift;
        rl_store4(y, finish(y0, y1, y2, y3, low, high));
        x += 4;
        y += 4;
    }
    for (; left > 0; left--) {
        *y++ = (int8_t)rl_clamp((*x++ * multiplier + offset) >> shift, p->out_min, p->out_max);
    }
}

void rl_add_s8_dsp(const rl_add_params *p, const int8_t *a, const int8_t *b, int8_t *y) {
    int32_t index[RL_BROADCAST_OUTER] = {0};
    do {
        if (p->walk.a_inner == 0) {
            scale_run(p, b, p->b_multiplier, p->offset + *a * p->a_multiplier, y);
        } else if (p->walk.b_inner == 0) {
            scale_run(p, a, p->a_multiplier, p->offset + *b * p->b_multiplier, y);
        } else {
            add_run(p, a, b, y);
        }
    } while (rl_broadcast_next(&p->walk, index, &a, &b, &y));
}
