/* depthwise_conv2d for MVE: one pixel, 16 channels at once. Products are summed in 16-bit lanes
 * over runs of taps that the compiler has proved to fit, then widened. */
#include "common/simd_mve.h"
#include "depthwise_conv2d/walk.h"

enum { PIXELS = 1, LANES = 16 };

typedef struct mve_constants {
    const int8_t *weights;
    const int32_t *terms;
    const uint8_t *groups;
} mve_constants;

/* Sums of 16 channels. Widening takes even and odd lanes apart, so the channels lie as 0 4 8 12,
 * 2 6 10 14, 1 5 9 13, 3 7 11 15. */
typedef struct block_sums {
    rl_s32x4 s0, s1, s2, s3;
} block_sums;

static inline rl_s32x4 finish(rl_s32x4 acc, const int32_t *terms) {
    return rl_requantize_mve(acc, rl_vldrwq_s32(terms + 4), rl_vldrwq_s32(terms + 8));
}

/* Narrows to 16 channels in order, adds the zero point and clamps. Narrowing writes every other
 * lane, twice, so what it starts from does not matter. */
static inline rl_s8x16 narrow(const rl_depthwise_conv2d_params *p, const block_sums *s,
                              const int32_t *terms) {
    const rl_s32x4 a = finish(s->s0, terms), b = finish(s->s2, terms + 24);
    rl_s16x8 even = rl_vqmovnbq_s32(rl_vreinterpretq_s16_s32(a), a);
    rl_s16x8 odd = rl_vqmovnbq_s32(rl_vreinterpretq_s16_s32(b), b);
    even = rl_vqmovntq_s32(even, finish(s->s1, terms + 12));
    odd = rl_vqmovntq_s32(odd, finish(s->s3, terms + 36));
    even = rl_vqaddq_n_s16(even, p->out_zero_point);
    odd = rl_vqaddq_n_s16(odd, p->out_zero_point);
    rl_s8x16 out = rl_vqmovnbq_s16(rl_vreinterpretq_s8_s16(even), even);
    out = rl_vqmovntq_s16(out, odd);
    if (p->clamps != 0) {
        out = rl_vmaxq_s8(out, rl_vdupq_n_s8((int8_t)p->out_min));
        out = rl_vminq_s8(out, rl_vdupq_n_s8((int8_t)p->out_max));
    }
    return out;
}

static inline rl_s8x16 load(const int8_t *x, rl_pred lanes, int part) {
    return part ? rl_vldrbq_z_s8(x, lanes) : rl_vldrbq_s8(x);
}

/* One block of channels from c on; `part` says that not all lanes are there. */
static inline void block(const rl_depthwise_conv2d_params *p, const int8_t *const *slot, int32_t c,
                         const int8_t *w, const int32_t *terms, const uint8_t *group, int8_t *y,
                         int part) {
    const rl_pred lanes = rl_vctp8q((uint32_t)(p->window.in_c - c));
    block_sums s = {rl_vldrwq_s32(terms), rl_vldrwq_s32(terms + 12), rl_vldrwq_s32(terms + 24),
                    rl_vldrwq_s32(terms + 36)};
    int32_t length = *group++;
    do {
        rl_s8x16 x = load(*slot++ + c, lanes, part), weight = rl_vldrbq_s8(w);
        rl_s16x8 even = rl_vmullbq_int_s8(x, weight), odd = rl_vmulltq_int_s8(x, weight);
        w += LANES;
        if (part) {
            while (--length > 0) {
                x = load(*slot++ + c, lanes, part);
                weight = rl_vldrbq_s8(w);
                even = rl_vaddq_s16(even, rl_vmullbq_int_s8(x, weight));
                odd = rl_vaddq_s16(odd, rl_vmulltq_int_s8(x, weight));
                w += LANES;
            }
        } else {
            rl_mve_sum_products(&even, &odd, &slot, c, &w, length - 1);
        }
        s.s0 = rl_vaddq_s32(s.s0, rl_vmovlbq_s16(even));
        s.s1 = rl_vaddq_s32(s.s1, rl_vmovltq_s16(even));
        s.s2 = rl_vaddq_s32(s.s2, rl_vmovlbq_s16(odd));
        s.s3 = rl_vaddq_s32(s.s3, rl_vmovltq_s16(odd));
        length = *group++;
    } while (length > 0);
    const rl_s8x16 out = narrow(p, &s, terms);
    if (part) {
        rl_vstrbq_p_s8(y + c, out, lanes);
    } else {
        rl_vstrbq_s8(y + c, out);
    }
}

static RL_DW_NOINLINE void tile(const rl_depthwise_conv2d_params *p, const int8_t *const *slots,
                                int8_t *const *outputs, const void *constants) {
    const mve_constants *k = constants;
    const int32_t channels = p->window.in_c;
    const int8_t *w = k->weights;
    const int32_t *terms = k->terms;
    const uint8_t *group = k->groups;
    if (channels < LANES) {
        block(p, slots, 0, w, terms, group, outputs[0], 1);
        return;
    }
    for (int32_t c = 0; c < channels; c += LANES) {
        c = c > channels - LANES ? channels - LANES : c;
        block(p, slots, c, w, terms, group, outputs[0], 0);
        w += LANES * p->taps;
        terms += 3 * LANES;
        group += p->plan_stride;
    }
}

void rl_depthwise_conv2d_s8_mve(const rl_depthwise_conv2d_params *p, const int8_t *x,
                                const int8_t *weights, const int32_t *terms, const uint8_t *groups,
                                int8_t *y, void *scratch) {
    const mve_constants constants = {weights, terms, groups};
    rl_dw_walk(p, x, y, scratch, PIXELS, tile, &constants);
}
