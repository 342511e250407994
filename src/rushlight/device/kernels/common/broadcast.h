/* Two operands broadcast to one output, as runs: add and mul. */
#ifndef RUSHLIGHT_KERNELS_COMMON_BROADCAST_H
#define RUSHLIGHT_KERNELS_COMMON_BROADCAST_H

#include <stdint.h>

#include "common/odometer.h"

enum { RL_BROADCAST_OUTER = 5 };

/* y: [outer...][inner], dense. Within a run of inner an operand moves on with y (a_inner, b_inner is
 * 1) or is one value (0; never both, but where inner is 1). Steps are for rl_odometer_next. */
typedef struct rl_broadcast {
    int32_t outer[RL_BROADCAST_OUTER];
    int32_t a_step[RL_BROADCAST_OUTER];
    int32_t b_step[RL_BROADCAST_OUTER];
    int32_t inner;
    int16_t a_inner;
    int16_t b_inner;
} rl_broadcast;

/* Moves all three pointers to the next run; 0 after the last. */
static inline int rl_broadcast_next(const rl_broadcast *w, int32_t *index, const int8_t **a,
                                    const int8_t **b, int8_t **y) {
    const int32_t axis = rl_odometer_next(index, w->outer, RL_BROADCAST_OUTER);
    if (axis < 0) {
        return 0;
    }
    *a += w->a_step[axis];
    *b += w->b_step[axis];
    *y += w->inner;
    return 1;
}

#endif
