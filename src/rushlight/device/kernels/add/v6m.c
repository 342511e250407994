/* add in portable C. */
#include "add/add.h"
#include "common/requant.h"

static void add_run(const rl_add_params *p, const int8_t *a, const int8_t *b, int8_t *y) {
    const int32_t ma = p->a_multiplier, mb = p->b_multiplier, offset = p->offset;
    const int32_t shift = p->shift, low = p->out_min, high = p->out_max;
    for (int32_t left = p->walk.inner; left > 0; left--) {
        *y++ = (int8_t)rl_clamp((*a++ * ma + *b++ * mb + offset) >> shift, low, high);
    }
}

/* One operand is a single value, its part in offset already. */
static void scale_run(const rl_add_params *p, const int8_t *x, int32_t m, int32_t offset,
                      int8_t *y) {
    const int32_t shift = p->shift, low = p->out_min, high = p->out_max;
    for (int32_t left = p->walk.inner; left > 0; left--) {
        *y++ = (int8_t)rl_clamp((*x++ * m + offset) >> shift, low, high);
    }
}

void rl_add_s8_v6m(const rl_add_params *p, const int8_t *a, const int8_t *b, int8_t *y) {
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
