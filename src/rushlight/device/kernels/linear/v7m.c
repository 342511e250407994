/* linear, plain C for Armv7-M and Armv8-M mainline: the long multiply requantises. */
#include "linear/rows.h"

void rl_linear_s8_v7m(const rl_linear_params *p, const int8_t *x, const int8_t *weights,
                      const rl_channel *channels, int8_t *y, void *scratch) {
    rl_linear_rows(p, x, weights, channels, y, scratch, rl_tile_v7m);
}
