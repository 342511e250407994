/* mul: y = clamp(zero point + requantize((a - za) * (b - zb))). */
#ifndef RUSHLIGHT_KERNELS_MUL_MUL_H
#define RUSHLIGHT_KERNELS_MUL_MUL_H

#include <stdint.h>

#include "common/broadcast.h"

typedef struct rl_mul_params {
    rl_broadcast walk;
    int16_t a_zero_point;
    int16_t b_zero_point;
    int16_t out_zero_point;
    int16_t out_min;
    int16_t out_max;
    int16_t multiplier;
    int16_t shift;
    int16_t pre; /* 0 for dsp and mve */
} rl_mul_params;

/* y may be an operand of the same shape. */
void rl_mul_s8_v6m(const rl_mul_params *p, const int8_t *a, const int8_t *b, int8_t *y);
void rl_mul_s8_v7m(const rl_mul_params *p, const int8_t *a, const int8_t *b, int8_t *y);
void rl_mul_s8_dsp(const rl_mul_params *p, const int8_t *a, const int8_t *b, int8_t *y);
void rl_mul_s8_mve(const rl_mul_params *p, const int8_t *a, const int8_t *b, int8_t *y);

#endif
