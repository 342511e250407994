/* conv2d for Helium. */
#include "common/simd_mve.h"
#include "conv2d/walk.h"

static inline void copy(int8_t *to, const int8_t *from, int32_t size) {
    for (; size > 0; size -= 16) {
        const rl_pred lanes = rl_vctp8q((uint32_t)size);
        rl_vstrbq_p_s8(to, rl_vldrbq_z_s8(from, lanes), lanes);
        to += 16;
        from += 16;
    }
}

void rl_conv2d_s8_mve(const rl_conv2d_params *p, const int8_t *x, const int8_t *weights,
                      const rl_channels_mve *channels, int8_t *y, void *scratch) {
    const rl_conv2d_tier tier = {rl_tile_mve, copy,
                                 (p->group_out + 3) / 4 * (int32_t)sizeof *channels};
    const rl_tile t = rl_conv2d_tile(p, 0);
    rl_conv2d_walk(p, &tier, &t, x, weights, channels, y, scratch);
}
