/* quantize in portable C. */
#include "quantize/quantize.h"

/* 1.5 * 2^23: added to a float of small magnitude, it leaves the nearest integer (halves to even)
 * in the low bits of the sum, without a library call and without a conversion instruction. */
#define RL_ROUND_MAGIC 12582912.0f
#define RL_ROUND_MAGIC_BITS 0x4B400000

void rl_quantize_s8_v6m(const rl_quantize_params *p, const float *x, int8_t *y) {
    for (int32_t i = 0; i < p->count; i++) {
        union {
            float real;
            int32_t bits;
        } v;
        v.real = x[i] * p->inverse_scale;
        v.real = v.real > p->low ? v.real : p->low; /* false for NaN */
        v.real = v.real < p->high ? v.real : p->high;
        v.real += RL_ROUND_MAGIC;
        y[i] = (int8_t)(v.bits - RL_ROUND_MAGIC_BITS + p->zero_point);
    }
}
