/* permute in portable C. */
#include "common/odometer.h"
#include "permute/permute.h"

/* Columns lie side by side in x too: whole rows are copied. */
static void copy_rows(const rl_permute_params *p, const uint8_t *x, uint8_t *y, int32_t size) {
    const uint32_t bytes = (uint32_t)(p->columns * size);
    for (int32_t row = 0; row < p->rows; row++) {
        __builtin_memcpy(y, x, bytes);
        x += p->row_stride * size;
        y += bytes;
    }
}

/* Three planes become triples (an image from NCHW to NHWC). */
static void interleave3(const rl_permute_params *p, const int8_t *x, int8_t *y) {
    const int8_t *second = x + p->column_stride, *third = second + p->column_stride;
    for (int32_t row = 0; row < p->rows; row++) {
        y[0] = *x++;
        y[1] = *second++;
        y[2] = *third++;
        y += 3;
    }
}

static void gather_s8(const rl_permute_params *p, const int8_t *x, int8_t *y) {
    for (int32_t row = 0; row < p->rows; row++) {
        const int8_t *from = x;
        for (int32_t column = 0; column < p->columns; column++) {
            *y++ = *from;
            from += p->column_stride;
        }
        x += p->row_stride;
    }
}

static void gather_f32(const rl_permute_params *p, const float *x, float *y) {
    for (int32_t row = 0; row < p->rows; row++) {
        const float *from = x;
        for (int32_t column = 0; column < p->columns; column++) {
            *y++ = *from;
            from += p->column_stride;
        }
        x += p->row_stride;
    }
}

void rl_permute_s8_v6m(const rl_permute_params *p, const int8_t *x, int8_t *y) {
    int32_t index[RL_PERMUTE_OUTER] = {0}, axis = 0;
    while (axis >= 0) {
        if (p->column_stride == 1) {
            copy_rows(p, (const uint8_t *)x, (uint8_t *)y, 1);
        } else if (p->columns == 3 && p->row_stride == 1) {
            interleave3(p, x, y);
        } else {
            gather_s8(p, x, y);
        }
        y += p->rows * p->columns;
        axis = rl_odometer_next(index, p->outer, RL_PERMUTE_OUTER);
        x += axis >= 0 ? p->step[axis] : 0;
    }
}

void rl_permute_f32_v6m(const rl_permute_params *p, const float *x, float *y) {
    int32_t index[RL_PERMUTE_OUTER] = {0}, axis = 0;
    while (axis >= 0) {
        if (p->column_stride == 1) {
            copy_rows(p, (const uint8_t *)x, (uint8_t *)y, (int32_t)sizeof(float));
        } else {
            gather_f32(p, x, y);
        }
        y += p->rows * p->columns;
        axis = rl_odometer_next(index, p->outer, RL_PERMUTE_OUTER);
        x += axis >= 0 ? p->step[axis] : 0;
    }
}
