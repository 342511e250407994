/* add with Helium: four outputs at once, the tail under a predicate. */
#include "add/add.h"
#include "common/simd_mve.h"

static void add_run(const rl_add_params *p, const int8_t *a, const int8_t *b, int8_t *y) {
    const rl_s32x4 low = rl_vdupq_n_s32(p->out_min), high = rl_vdupq_n_s32(p->out_max);
    const rl_s32x4 offset = rl_vdupq_n_s32(p->offset);
    const int32_t ma = p->a_multiplier, mb = p->b_multiplier, right = -p->shift;
    for (int32_t left = p->walk.inner; left > 0; left -= 4) {
        const rl_pred mask = rl_vctp32q((uint32_t)left);
        rl_s32x4 sum = rl_vmlaq_n_s32(offset, rl_vldrbq_z_s32(a, mask), ma);
        sum = rl_vshlq_r_s32(rl_vmlaq_n_s32(sum, rl_vldrbq_z_s32(b, mask), mb), right);
        rl_vstrbq_p_s32(y, rl_vminq_s32(rl_vmaxq_s32(sum, low), high), mask);
        a += 4;
        b += 4;
        y += 4;
    }
}

/* One operand is a single value, its part in offset already. */
static void scale_run(const rl_add_params *p, const int8_t *x, int32_t m, int32_t offset,
                      int8_t *y) {
    const rl_s32x4 low = rl_vdupq_n_s32(p->out_min), high = rl_vdupq_n_s32(p->out_max);
    const rl_s32x4 start = rl_vdupq_n_s32(offset);
    const int32_t right = -p->shift;
    for (int32_t left = p->walk.inner; left > 0; left -= 4) {
        const rl_pred mask = rl_vctp32q((uint32_t)left);
        const rl_s32x4 sum = rl_vmlaq_n_s32(start, rl_vldrbq_z_s32(x, mask), m);
        const rl_s32x4 out = rl_vshlq_r_s32(sum, right);
        rl_vstrbq_p_s32(y, rl_vminq_s32(rl_vmaxq_s32(out, low), high), mask);
        x += 4;
        y += 4;
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
