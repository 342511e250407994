/* add: y = clamp((a * a_multiplier + b * b_multiplier + offset) >> shift), all in 32 bits; also
 * subtraction, by the sign of a multiplier. 1 <= shift <= 23. */
#ifndef RUSHLIGHT_KERNELS_ADD_ADD_H
#define RUSHLIGHT_KERNELS_ADD_ADD_H

#include <stdint.h>

#include "common/broadcast.h"

typedef struct rl_add_params {
    rl_broadcast walk;
    int32_t offset; /* zero points and rounding */
    int16_t a_multiplier;
    int16_t b_multiplier;
    int16_t shift;
    int16_t out_min;
    int16_t out_max;
    int16_t reserved;
} rl_add_params;

/* y may be an operand of the same shape. */
void rl_add_s8_v6m(const rl_add_params *p, const int8_t *a, const int8_t *b, int8_t *y);
void rl_add_s8_dsp(const rl_add_params *p, const int8_t *a, const int8_t *b, int8_t *y);
void rl_add_s8_mve(const rl_add_params *p, const int8_t *a, const int8_t *b, int8_t *y);

#endif
