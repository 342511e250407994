/* quantize: float32 to int8, halves to the even neighbour, NaN to the lowest value. */
#ifndef RUSHLIGHT_KERNELS_QUANTIZE_QUANTIZE_H
#define RUSHLIGHT_KERNELS_QUANTIZE_QUANTIZE_H

#include <stdint.h>

typedef struct rl_quantize_params {
    int32_t count;
    float inverse_scale;
    float low;  /* the lowest int8 in use less the zero point */
    float high; /* the highest likewise */
    int32_t zero_point;
} rl_quantize_params;

void rl_quantize_s8_v6m(const rl_quantize_params *p, const float *x, int8_t *y);

#endif
