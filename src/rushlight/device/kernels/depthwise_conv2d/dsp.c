/* depthwise_conv2d for the DSP extension: one pixel, four channels at once, SXTB16 and SMLAxy. The
 * last four channels overlap those before where the channels are not a multiple of four. Two pixels
 * at once would share the weights' loads, but then neither compiler keeps the sums in registers. */
#include "common/simd_dsp.h"
#include "depthwise_conv2d/walk.h"

enum { PIXELS = 1, UNROLL = 3 };

typedef struct dsp_constants {
    const rl_word *weights; /* two words a tap: w0 w2, w1 w3 */
    const rl_dw_terms *terms;
} dsp_constants;

typedef struct quad_sums {
    int32_t s0, s1, s2, s3;
} quad_sums;

static inline void tap(quad_sums *sums, const int8_t *x, const rl_word *w) {
    const uint32_t quad = rl_load4(x), w02 = w[0], w13 = w[1];
    const uint32_t even = rl_sxtb16(quad), odd = rl_sxtb16_ror8(quad);
    sums->s0 = rl_smlabb(even, w02, sums->s0);
    sums->s2 = rl_smlatt(even, w02, sums->s2);
    sums->s1 = rl_smlabb(odd, w13, sums->s1);
    sums->s3 = rl_smlatt(odd, w13, sums->s3);
}

/* rl_requantize_dsp with its constants made by the compiler. */
static inline int32_t finish(int32_t acc, const rl_dw_terms *t) {
    return rl_ssat8(rl_smlawb(acc, t->multiplier, t->addend) >> t->right);
}

static RL_DW_NOINLINE void tile(const rl_depthwise_conv2d_params *p, const int8_t *const *slots,
                                int8_t *const *outputs, const void *constants) {
    const dsp_constants *k = constants;
    const int32_t channels = p->window.in_c;
    const uint32_t low = rl_pack4(p->out_min, p->out_min, p->out_min, p->out_min);
    const uint32_t high = rl_pack4(p->out_max, p->out_max, p->out_max, p->out_max);
    const rl_word *w = k->weights;
    const rl_dw_terms *t = k->terms;
    int8_t *y = outputs[0];
    for (int32_t c = 0; c < channels; c += 4, t += 4) {
        c = c > channels - 4 ? channels - 4 : c;
        quad_sums s = {t[0].bias, t[1].bias, t[2].bias, t[3].bias};
        const int8_t *const *slot = slots;
        for (const rl_word *end = w + 2 * p->taps; w < end; w += 2 * UNROLL, slot += UNROLL) {
            tap(&s, slot[0] + c, w);
            tap(&s, slot[1] + c, w + 2);
            tap(&s, slot[2] + c, w + 4);
        }
        uint32_t quad = rl_pack_quad(finish(s.s0, &t[0]), finish(s.s1, &t[1]), finish(s.s2, &t[2]),
                                     finish(s.s3, &t[3]));
        if (p->clamps != 0) {
            quad = rl_min_quad(rl_max_quad(quad, low), high);
        }
        rl_store4(y + c, quad);
    }
}

void rl_depthwise_conv2d_s8_dsp(const rl_depthwise_conv2d_params *p, const int8_t *x,
                                const int16_t *weights, const int32_t *terms, int8_t *y,
                                void *scratch) {
    const dsp_constants constants = {(const rl_word *)weights, (const rl_dw_terms *)terms};
    rl_dw_walk(p, x, y, scratch, PIXELS, tile, &constants);
}
