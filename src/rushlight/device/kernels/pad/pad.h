/* pad: the output from its first byte to its last, runs copied from x and the gaps between them
 * filled. See README.md here. */
#ifndef RUSHLIGHT_KERNELS_PAD_PAD_H
#define RUSHLIGHT_KERNELS_PAD_PAD_H

#include <stdint.h>

enum { RL_PAD_OUTER = 5 };

/* [outer...] runs of run bytes; the first is at x_start and y_start, the steps between them are for
 * rl_odometer_next. total: bytes of y. */
typedef struct rl_pad_params {
    int32_t outer[RL_PAD_OUTER];
    int32_t x_step[RL_PAD_OUTER];
    int32_t y_step[RL_PAD_OUTER];
    int32_t run;
    int32_t x_start;
    int32_t y_start;
    int32_t total;
    int32_t fill;
} rl_pad_params;

void rl_pad_s8_v6m(const rl_pad_params *p, const int8_t *x, int8_t *y);

#endif
