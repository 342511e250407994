/* mul, plain C for Armv7-M and Armv8-M mainline: the long multiply requantises. */
#include "common/requant.h"
#include "mul/mul.h"

/* The block's values as locals: a store of int8 could change the block for all the compiler knows.
 */
typedef struct output {
    int32_t multiplier, zero_point, low, high;
    uint32_t shift, pre;
} output;

static inline output output_of(const rl_mul_params *p) {
    const output out = {p->multiplier, p->out_zero_point,  p->out_min,
                        p->out_max,    (uint32_t)p->shift, (uint32_t)p->pre};
    return out;
}

static inline int8_t finish(const output *out, int32_t acc) {
    const int32_t y = rl_requantize_v7m(acc, out->multiplier, out->shift, out->pre);
    return (int8_t)rl_clamp(y + out->zero_point, out->low, out->high);
}

static void mul_run(const rl_mul_params *p, const int8_t *a, const int8_t *b, int8_t *y) {
    const output out = output_of(p);
    const int32_t za = p->a_zero_point, zb = p->b_zero_point;
    for (int32_t left = p->walk.inner; left > 0; left--) {
        *y++ = finish(&out, (*a++ - za) * (*b++ - zb));
    }
}

/* One operand is a single value. */
static void scale_run(const rl_mul_params *p, const int8_t *x, int32_t zero_point, int32_t factor,
                      int8_t *y) {
    const output out = output_of(p);
    for (int32_t left = p->walk.inner; left > 0; left--) {
        *y++ = finish(&out, (*x++ - zero_point) * factor);
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
