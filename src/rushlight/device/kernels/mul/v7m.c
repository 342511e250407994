/* mul, plain C for Armv7-M and Armv8-M mainline: the long multiply requantises. */
#include "common/requant.h"
#include "mul/mul.h"

static inline int8_t finish(const rl_mul_params *p, int32_t acc) {
    const int32_t y = rl_requantize_v7m(acc, p->multiplier, (uint32_t)p->shift, (uint32_t)p->pre);
    return (int8_t)rl_clamp(y + p->out_zero_point, p->out_min, p->out_max);
}

static void mul_run(const rl_mul_params *p, const int8_t *a, const int8_t *b, int8_t *y) {
    const int32_t za = p->a_zero_point, zb = p->b_zero_point;
    for (int32_t i = 0; i < p->walk.inner; i++) {
        y[i] = finish(p, (a[i] - za) * (b[i] - zb));
    }
}

/* One operand is a single value. */
static void scale_run(const rl_mul_params *p, const int8_t *x, int32_t zero_point, int32_t factor,
                      int8_t *y) {
    for (int32_t i = 0; i < p->walk.inner; i++) {
        y[i] = finish(p, (x[i] - zero_point) * factor);
    }
}

void rl_mul_s8_v7m(const rl_mul_params *p, const int8_t *a, const int8_t *b, int8_t *y) {
    int32_t index[RL_BROADCAST_OUTER] = {0};
    do {
        if (p->walk.a_inner == 0) {
            scale_run(p, b, p->b_zero_point, *a - p->a_zero_point, y);
        } else if (p->walk.b_inner == 0) {
            scale_run(p, a, p->a_zero_point, *b - p->b_zero_point, y);
        } else {
            mul_run(p, a, b, y);
        }
    } while (rl_broadcast_next(&p->walk, index, &a, &b, &y));
}
