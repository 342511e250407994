/* dequantize: int8 to float32, (x - zero_point) * scale in one float32 product. */
#ifndef RUSHLIGHT_KERNELS_DEQUANTIZE_DEQUANTIZE_H
#define RUSHLIGHT_KERNELS_DEQUANTIZE_DEQUANTIZE_H

#include <stdint.h>

typedef struct rl_dequantize_params {
    int32_t count;
    float scale;
    int32_t zero_point;
} rl_dequantize_params;

void rl_dequantize_s8_v6m(const rl_dequantize_params *p, const int8_t *x, float *y);

#endif
