/* The matrix tile for Helium: 2 rows x 4 channels. */
#include "common/dot_mve.h"
#include "common/tile.h"

/* channels >= 4: where the last ones are less than a block, it is that of the last four of all, so
 * that some are computed twice. Not inlined, as compilers would make several of it. */
__attribute__((noinline)) static void fours(const rl_tile *t, int32_t rows, const int8_t *x,
                                            int32_t x_step, const int8_t *weights,
                                            const rl_channels_mve *c, int8_t *y, int32_t y_step) {
    const rl_fit_2x4 fit = {rl_vdupq_n_s32(t->zero_point), rl_vdupq_n_s32(t->low),
                            rl_vdupq_n_s32(t->high)};
    const rl_turns turns = rl_turns_2x4(t->depth);
    const int32_t left = t->channels & 3;
    const int32_t blocks = t->channels >> 2;
    for (; rows > 0; rows -= 2) {
        /* A row alone is computed twice. */
        const int8_t *x1 = rows > 1 ? x + x_step : x;
        int8_t *y1 = rows > 1 ? y + y_step : y;
        rl_blocks_2x4(&fit, turns, blocks, left > 0 ? left - 4 : 0, x, x1, weights, c, y, y1);
        x += 2 * x_step;
        y += 2 * y_step;
    }
}

void rl_tile_mve(const rl_tile *t, int32_t rows, const int8_t *x, int32_t x_step,
                 const int8_t *weights, const rl_channels_mve *channels, int8_t *y,
                 int32_t y_step) {
    if (t->channels >= 4) {
        fours(t, rows, x, x_step, weights, channels, y, y_step);
        return;
    }
    rl_tile t4 = *t;
    t4.channels = 4;
    for (; rows > 0; rows--) {
        int8_t four[4];
        fours(&t4, 1, x, x_step, weights, channels, four, y_step);
        for (int32_t o = 0; o < t->channels; o++) {
            y[o] = four[o];
        }
        x += x_step;
        y += y_step;
    }
}
