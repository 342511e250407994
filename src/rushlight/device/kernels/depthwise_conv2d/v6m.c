/* depthwise_conv2d, plain C for Armv6-M. One pixel, four channels at once; the
 * last four channels overlap those before where the channels are not a multiple of four. */
#include "depthwise_conv2d/walk.h"

enum { PIXELS = 1, UNROLL = 3 };

typedef struct scalar_constants {
    const int8_t *weights; /* four bytes a tap */
    const rl_dw_terms *terms;
} scalar_constants;

typedef struct quad_sums {
    int32_t s0, s1, s2, s3;
} quad_sums;

static inline void tap(quad_sums *sums, const int8_t *x, const int8_t *w) {
    sums->s0 += x[0] * w[0];
    sums->s1 += x[1] * w[1];
    sums->s2 += x[2] * w[2];
    sums->s3 += x[3] * w[3];
}

/* rl_requantize_v6m with its constants made by the compiler. */
static inline int8_t finish(const rl_depthwise_conv2d_params *p, int32_t acc,
                            const rl_dw_terms *t) {
    acc = rl_multiply_high_v6m(acc, t->multiplier);
    return (int8_t)rl_clamp((acc + t->addend) >> t->right, p->out_min, p->out_max);
}

static RL_DW_NOINLINE void tile(const rl_depthwise_conv2d_params *p, const int8_t *const *slots,
                                int8_t *const *outputs, const void *constants) {
    const scalar_constants *k = constants;
    const int32_t channels = p->window.in_c;
    const int8_t *w = k->weights;
    const rl_dw_terms *t = k->terms;
    for (int32_t c = 0; c < channels; c += 4, t += 4) {
        c = c > channels - 4 ? channels - 4 : c;
        quad_sums s = {t[0].bias, t[1].bias, t[2].bias, t[3].bias};
        const int8_t *const *slot = slots;
        for (const int8_t *end = w + 4 * p->taps; w < end; w += 4 * UNROLL, slot += UNROLL) {
            tap(&s, slot[0] + c, w);
            tap(&s, slot[1] + c, w + 4);
            tap(&s, slot[2] + c, w + 8);
        }
        int8_t *y = outputs[0] + c;
        y[0] = finish(p, s.s0, &t[0]);
        y[1] = finish(p, s.s1, &t[1]);
        y[2] = finish(p, s.s2, &t[2]);
        y[3] = finish(p, s.s3, &t[3]);
    }
}

void rl_depthwise_conv2d_s8_v6m(const rl_depthwise_conv2d_params *p, const int8_t *x,
                                const int8_t *weights, const int32_t *terms, int8_t *y,
                                void *scratch) {
    const scalar_constants constants = {weights, (const rl_dw_terms *)terms};
    rl_dw_walk(p, x, y, scratch, PIXELS, tile, &constants);
}
