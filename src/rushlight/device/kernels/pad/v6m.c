/* pad in portable C. */
#include "common/odometer.h"
#include "pad/pad.h"

void rl_pad_s8_v6m(const rl_pad_params *p, const int8_t *x, int8_t *y) {
    int32_t index[RL_PAD_OUTER] = {0}, axis = 0;
    int32_t from = p->x_start, to = p->y_start, done = 0;
    for (;;) {
        __builtin_memset(y + done, p->fill, (uint32_t)(to - done));
        __builtin_memcpy(y + to, x + from, (uint32_t)p->run);
        done = to + p->run;
        axis = rl_odometer_next(index, p->outer, RL_PAD_OUTER);
        if (axis < 0) {
            break;
        }
        from += p->x_step[axis];
        to += p->y_step[axis];
    }
    __builtin_memset(y + done, p->fill, (uint32_t)(p->total - done));
}
