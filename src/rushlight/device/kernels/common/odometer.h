/* Counting through nested dimensions without nested loops: permute, pad and broadcasting operators
 * walk their outer dimensions with it. */
#ifndef RUSHLIGHT_KERNELS_COMMON_ODOMETER_H
#define RUSHLIGHT_KERNELS_COMMON_ODOMETER_H

#include <stdint.h>

/* Moves index[0..count-1] (zeroed at first) on by one, the last fastest. Returns the axis that
 * grew, those behind it being 0 again; -1 after the last. The compiler gives each operand a step
 * for each axis: what its pointer grows by then. */
static inline int32_t rl_odometer_next(int32_t *index, const int32_t *sizes, int32_t count) {
    for (int32_t axis = count - 1; axis >= 0; axis--) {
        if (++index[axis] < sizes[axis]) {
            return axis;
        }
        index[axis] = 0;
    }
    return -1;
}

#endif
