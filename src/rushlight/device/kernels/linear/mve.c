/* linear for Helium. */
#include "linear/rows.h"

void rl_linear_s8_mve(const rl_linear_params *p, const int8_t *x, const int8_t *weights,
                      const rl_channels_mve *channels, int8_t *y, void *scratch) {
    rl_linear_rows(p, x, weights, channels, y, scratch, rl_tile_mve);
}
