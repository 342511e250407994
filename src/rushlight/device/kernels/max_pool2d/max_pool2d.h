/* max_pool2d: the greatest input of each window, channel by channel; padding never wins. */
#ifndef RUSHLIGHT_KERNELS_MAX_POOL2D_H
#define RUSHLIGHT_KERNELS_MAX_POOL2D_H

#include <stdint.h>

#include "common/window.h"

typedef struct rl_max_pool2d_params {
    rl_window window;
} rl_max_pool2d_params;

void rl_max_pool2d_s8_v6m(const rl_max_pool2d_params *p, const int8_t *x, int8_t *y);
/* These two: at least 4 channels. */
void rl_max_pool2d_s8_v7m(const rl_max_pool2d_params *p, const int8_t *x, int8_t *y);
void rl_max_pool2d_s8_dsp(const rl_max_pool2d_params *p, const int8_t *x, int8_t *y);
void rl_max_pool2d_s8_mve(const rl_max_pool2d_params *p, const int8_t *x, int8_t *y);

#endif
