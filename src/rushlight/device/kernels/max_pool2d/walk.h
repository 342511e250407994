/* Collects the taps of each window four at a time, for the tiers' functions that take the greatest
 * of four rows of channels. */
#ifndef RUSHLIGHT_KERNELS_MAX_POOL2D_WALK_H
#define RUSHLIGHT_KERNELS_MAX_POOL2D_WALK_H

#include "common/pool.h"
#include "max_pool2d/max_pool2d.h"

enum { RL_MAX_POOL_TAPS = 4 };

/* y = the greatest of four rows of channels; y may be one of them. */
typedef void rl_greatest(const int8_t *const *taps, int8_t *y, int32_t channels);

/* The taps of the last pixel, which move on where the next window is like it. */
typedef struct rl_max_pool_state {
    const int8_t *taps[RL_MAX_POOL_TAPS];
    int32_t channels;
} rl_max_pool_state;

/* Missing taps repeat the last, which changes nothing; after the first four, y stands for all
 * before. */
static inline void rl_max_pool_pixel(const rl_area *area, int8_t *y, rl_max_pool_state *state,
                                     rl_greatest *greatest) {
    const int8_t **taps = state->taps;
    const int32_t channels = state->channels;
    if (area->moved != 0 && area->rows * area->cols <= RL_MAX_POOL_TAPS) {
        taps[0] += area->moved;
        taps[1] += area->moved;
        taps[2] += area->moved;
        taps[3] += area->moved;
        greatest(taps, y, channels);
        return;
    }
    int32_t count = 0, offset = area->offset;
    for (int32_t i = area->rows; i > 0; i--) {
        const int8_t *tap = area->image + offset;
        for (int32_t j = area->cols; j > 0; j--) {
            if (count == RL_MAX_POOL_TAPS) {
                greatest(taps, y, channels);
                taps[0] = y;
                count = 1;
            }
            taps[count++] = tap;
            tap += area->col_step;
        }
        offset = rl_area_next(area, offset);
    }
    for (; count < RL_MAX_POOL_TAPS; count++) {
        taps[count] = taps[count - 1];
    }
    greatest(taps, y, channels);
}

#endif
