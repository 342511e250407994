/* dequantize in portable C. */
#include "dequantize/dequantize.h"

void rl_dequantize_s8_v6m(const rl_dequantize_params *p, const int8_t *x, float *y) {
    for (int32_t i = 0; i < p->count; i++) {
        y[i] = (float)(x[i] - p->zero_point) * p->scale;
    }
}
