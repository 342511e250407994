/* permute: the elements of y in order, gathered from x by strides. See README.md here. */
#ifndef RUSHLIGHT_KERNELS_PERMUTE_PERMUTE_H
#define RUSHLIGHT_KERNELS_PERMUTE_PERMUTE_H

#include <stdint.h>

enum { RL_PERMUTE_OUTER = 4 };

/* y: [outer...][rows][columns]. Strides and steps are of x, in elements; a step is what x grows by
 * when that outer axis moves on (common/odometer.h). */
typedef struct rl_permute_params {
    int32_t outer[RL_PERMUTE_OUTER];
    int32_t step[RL_PERMUTE_OUTER];
    int32_t rows;
    int32_t columns;
    int32_t row_stride;
    int32_t column_stride;
} rl_permute_params;

void rl_permute_s8_v6m(const rl_permute_params *p, const int8_t *x, int8_t *y);
void rl_permute_f32_v6m(const rl_permute_params *p, const float *x, float *y);

#endif
