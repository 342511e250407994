/* softmax over rows: exponentials from a table of differences to the row's maximum, one division a
 * row. README.md here states the formula. */
#ifndef RUSHLIGHT_KERNELS_SOFTMAX_SOFTMAX_H
#define RUSHLIGHT_KERNELS_SOFTMAX_SOFTMAX_H

#include <stdint.h>

typedef struct rl_softmax_params {
    int32_t rows;
    int32_t columns; /* at most 65536 */
    int16_t multiplier;
    int16_t shift;
    int16_t out_zero_point;
    int16_t out_min;
    int16_t out_max;
    int16_t reserved;
} rl_softmax_params;

/* x, y: [rows][columns]; exponentials: [256]. y may be x. */
void rl_softmax_s8_v6m(const rl_softmax_params *p, const int8_t *x, const uint16_t *exponentials,
                       int8_t *y);
void rl_softmax_s8_v7m(const rl_softmax_params *p, const int8_t *x, const uint16_t *exponentials,
                       int8_t *y);
void rl_softmax_s8_dsp(const rl_softmax_params *p, const int8_t *x, const uint16_t *exponentials,
                       int8_t *y);
void rl_softmax_s8_mve(const rl_softmax_params *p, const int8_t *x, const uint16_t *exponentials,
                       int8_t *y);

#endif
