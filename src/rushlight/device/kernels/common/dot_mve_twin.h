/* Plain-C bodies of the loops in dot_mve.h, which alone includes this. */
#ifndef RUSHLIGHT_KERNELS_COMMON_DOT_MVE_TWIN_H
#define RUSHLIGHT_KERNELS_COMMON_DOT_MVE_TWIN_H

/* Here the turns are the steps. */
static inline rl_turns rl_turns_2x4(int32_t depth) {
    const rl_turns turns = {rl_whole_steps(depth) / RL_STEP, 0};
    return turns;
}
static inline rl_turns rl_turns_1x8(int32_t depth) {
    return rl_turns_2x4(depth);
}

/* One pass: adds to sums[channel] the row's products with `channels` whose weights alternate. */
static inline const int8_t *rl_twin_pass(const int8_t *x, const int8_t *w, int32_t steps,
                                         int32_t back, int32_t channels, int32_t *sums) {
    for (int32_t step = 0; step < steps; step++) {
        const int8_t *from = x + (back ? steps - 1 - step : step) * RL_STEP;
        for (int32_t channel = 0; channel < channels; channel++) {
            for (int32_t k = 0; k < RL_STEP; k++) {
                sums[channel] += from[k] * *w++;
            }
        }
    }
    return w;
}

static inline rl_s32x4 rl_twin_requantize(const rl_channels_mve *c, rl_s32x4 v) {
    return rl_requantize_mve(v, rl_vldrwq_s32(c->multiplier_high), rl_vldrwq_s32(c->right));
}

static inline const int8_t *rl_twin_row_of_4(const rl_fit_2x4 *fit, int32_t steps, const int8_t *x,
                                             const int8_t *w, const rl_channels_mve *c, int8_t *y) {
    int32_t on[2] = {0}, back[2] = {0};
    w = rl_twin_pass(x, w, steps, 0, 2, on);
    w = rl_twin_pass(x, w, steps, 1, 2, back);
    const int32_t sums[4] = {on[0], back[0], on[1], back[1]};
    const rl_s32x4 acc = rl_vaddq_s32(rl_vldrwq_s32(sums), rl_vldrwq_s32(c->bias));
    const rl_s32x4 v = rl_vaddq_s32(rl_twin_requantize(c, acc), fit->zero_point);
    rl_vstrbq_s32(y, rl_vminq_s32(rl_vmaxq_s32(v, fit->low), fit->high));
    return w;
}

static inline void rl_blocks_2x4(const rl_fit_2x4 *fit, rl_turns turns, int32_t blocks,
                                 int32_t back, const int8_t *x0, const int8_t *x1, const int8_t *w,
                                 const rl_channels_mve *c, int8_t *y0, int8_t *y1) {
    for (int32_t block = 0; block < blocks + (back != 0); block++) {
        const int32_t at = 4 * block + (block < blocks ? 0 : back);
        rl_twin_row_of_4(fit, turns.count, x0, w, c, y0 + at);
        w = rl_twin_row_of_4(fit, turns.count, x1, w, c, y1 + at);
        c++;
    }
}

static inline void rl_blocks_1x8(const rl_fit_1x8 *fit, rl_turns turns, int32_t blocks,
                                 int32_t back, int32_t half, const int8_t *x, const int8_t *w,
                                 const rl_channels_mve *c, int8_t *y) {
    for (int32_t block = 0; block < blocks + (back != 0); block++) {
        rl_s16x8 v = rl_vdupq_n_s16(0);
        for (int32_t odd = 0; odd < (half ? 1 : 2); odd++) {
            int32_t sums[4] = {c->bias[0], c->bias[1], c->bias[2], c->bias[3]};
            w = rl_twin_pass(x, w, turns.count, odd, 4, sums);
            const rl_s32x4 four = rl_twin_requantize(c, rl_vldrwq_s32(sums));
            v = odd ? rl_vqmovntq_s32(v, four) : rl_vqmovnbq_s32(v, four);
            c++;
        }
        v = rl_vqaddq_s16(v, fit->zero_point);
        rl_vstrbq_s16(y + 8 * block + (block < blocks ? 0 : back),
                      rl_vminq_s16(rl_vmaxq_s16(v, fit->low), fit->high));
    }
}

#endif
