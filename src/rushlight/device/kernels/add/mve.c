/* add with Helium: four outputs at once, the tail under a predicate. */
#include "add/add.h"
#include "common/simd_mve.h"

typedef struct output {
    rl_s32x4 low, high;
    int32_t right;
} output;

static inline output output_of(const rl_add_params *p) {
    const output out = {rl_vdupq_n_s32(p->out_min), rl_vdupq_n_s32(p->out_max), -p->shift};
    return out;
}

static inline rl_s32x4 finish(const output *out, rl_s32x4 sum) {
    return rl_vminq_s32(rl_vmaxq_s32(rl_vshlq_r_s32(sum, out->right), out->low), out->high);
}

static void add_run(const rl_add_params *p, const int8_t *a, const int8_t *b, int8_t *y) {
    const output out = output_of(p);
    const rl_s32x4 offset = rl_vdupq_n_s32(p->offset);
    const int32_t ma = p->a_multiplier, mb = p->b_multiplier;
    int32_t left = p->walk.inner;
    for (; left >= 4; left -= 4) {
        const rl_s32x4 part = rl_vmlaq_n_s32(offset, rl_vldrbq_s32(a), ma);
        rl_vstrbq_s32(y, finish(&out, rl_vmlaq_n_s32(part, rl_vldrbq_s32(b), mb)));
        a += 4;
        b += 4;
        y += 4;
    }
    if (left > 0) {
        const rl_pred mask = rl_vctp32q((uint32_t)left);
        const rl_s32x4 part = rl_vmlaq_n_s32(offset, rl_vldrbq_z_s32(a, mask), ma);
        const rl_s32x4 sum = rl_vmlaq_n_s32(part, rl_vldrbq_z_s32(b, mask), mb);
        rl_vstrbq_p_s32(y, finish(&out, sum), mask);
    }
}

/* One operand is a single value, its part in offset already. */
static void scale_run(const rl_add_params *p, const int8_t *x, int32_t m, int32_t offset,
                      int8_t *y) {
    const output out = output_of(p);
    const rl_s32x4 start = rl_vdupq_n_s32(offset);
    int32_t left = p->walk.inner;
    for (; left >= 4; left -= 4) {
        rl_vstrbq_s32(y, finish(&out, rl_vmlaq_n_s32(start, rl_vldrbq_s32(x), m)));
        x += 4;
        y += 4;
    }
    if (left > 0) {
        const rl_pred mask = rl_vctp32q((uint32_t)left);
        const rl_s32x4 sum = rl_vmlaq_n_s32(start, rl_vldrbq_z_s32(x, mask), m);
        rl_vstrbq_p_s32(y, finish(&out, sum), mask);
    }
}

void rl_add_s8_mve(const rl_add_params *p, const int8_t *a, const int8_t *b, int8_t *y) {
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
