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

/* Rows are as they lie in x, columns are not (NCHW to NHWC, matrices): four columns at a time, then
 * three or one, each read from its own pointer. */
static void transpose_s8(const rl_permute_params *p, const int8_t *x, int8_t *y) {
    const int32_t columns = p->columns, stride = p->column_stride;
    int32_t column = 0;
    while (column < columns) {
        const int32_t left = columns - column, step = left >= 4 ? 4 : left == 3 ? 3 : 1;
        const int8_t *x0 = x, *x1 = step > 1 ? x0 + stride : x0;
        const int8_t *x2 = step > 1 ? x1 + stride : x0, *x3 = step > 3 ? x2 + stride : x0;
        int8_t *to = y + column;
        for (int32_t row = 0; row < p->rows; row++) {
            to[0] = *x0++;
            if (step >= 3) {
                to[1] = *x1++;
                to[2] = *x2++;
            }
            if (step == 4) {
                to[3] = *x3++;
            }
            to += columns;
        }
        column += step;
        x += step * stride;
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
        } else if (p->row_stride == 1) {
            transpose_s8(p, x, y);
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
