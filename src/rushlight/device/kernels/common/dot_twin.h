/* Plain C of the matrix tiles' innermost loops, for compilers of other machines. */
#ifndef RUSHLIGHT_KERNELS_COMMON_DOT_TWIN_H
#define RUSHLIGHT_KERNELS_COMMON_DOT_TWIN_H

#include <stdint.h>

static inline int32_t rl_dot(const int8_t *x, const int8_t *w, int32_t depth) {
    int32_t sum = 0;
    for (int32_t k = 0; k < depth; k++) {
        sum += x[k] * w[k];
    }
    return sum;
}

static inline void rl_dot_2x2(const int8_t *x0, const int8_t *x1, const int8_t *w0,
                              const int8_t *w1, int32_t depth, int32_t sums[4]) {
    sums[0] += rl_dot(x0, w0, depth);
    sums[1] += rl_dot(x0, w1, depth);
    sums[2] += rl_dot(x1, w0, depth);
    sums[3] += rl_dot(x1, w1, depth);
}

static inline void rl_dot_1x2(const int8_t *x, const int8_t *w0, const int8_t *w1, int32_t depth,
                              int32_t sums[2]) {
    sums[0] += rl_dot(x, w0, depth);
    sums[1] += rl_dot(x, w1, depth);
}

static inline void rl_dot_1x4(const int8_t *x, const int8_t *w0, const int8_t *w1, const int8_t *w2,
                              const int8_t *w3, int32_t depth, int32_t sums[4]) {
    rl_dot_1x2(x, w0, w1, depth, sums);
    rl_dot_1x2(x, w2, w3, depth, sums + 2);
}

#endif
