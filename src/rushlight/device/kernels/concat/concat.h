/* concat: copies runs of each input to their places in each row of the output. A function for each
 * number of pointers; those not needed have runs of 0. */
#ifndef RUSHLIGHT_KERNELS_CONCAT_CONCAT_H
#define RUSHLIGHT_KERNELS_CONCAT_CONCAT_H

#include <stdint.h>

/* y: [outer][row]; input i: [outer][run[i]] at offset[i] of each row. table[i]: the number of the
 * 256-entry table that its values pass through, or -1. */
typedef struct rl_concat2_params {
    int32_t outer;
    int32_t row;
    int32_t run[2];
    int32_t offset[2];
    int16_t table[2];
} rl_concat2_params;

typedef struct rl_concat4_params {
    int32_t outer;
    int32_t row;
    int32_t run[4];
    int32_t offset[4];
    int16_t table[4];
} rl_concat4_params;

typedef struct rl_concat8_params {
    int32_t outer;
    int32_t row;
    int32_t run[8];
    int32_t offset[8];
    int16_t table[8];
} rl_concat8_params;

typedef struct rl_concat16_params {
    int32_t outer;
    int32_t row;
    int32_t run[16];
    int32_t offset[16];
    int16_t table[16];
} rl_concat16_params;

typedef struct rl_concat32_params {
    int32_t outer;
    int32_t row;
    int32_t run[32];
    int32_t offset[32];
    int16_t table[32];
} rl_concat32_params;

/* The inputs as parameters of a function, and as the values of an array. */
#define RL_INPUTS2 const int8_t *x0, const int8_t *x1
#define RL_INPUTS4 RL_INPUTS2, const int8_t *x2, const int8_t *x3
#define RL_INPUTS8 \
    RL_INPUTS4, const int8_t *x4, const int8_t *x5, const int8_t *x6, const int8_t *x7
#define RL_INPUTS16                                                                       \
    RL_INPUTS8, const int8_t *x8, const int8_t *x9, const int8_t *x10, const int8_t *x11, \
        const int8_t *x12, const int8_t *x13, const int8_t *x14, const int8_t *x15
#define RL_INPUTS32                                                                          \
    RL_INPUTS16, const int8_t *x16, const int8_t *x17, const int8_t *x18, const int8_t *x19, \
        const int8_t *x20, const int8_t *x21, const int8_t *x22, const int8_t *x23,          \
        const int8_t *x24, const int8_t *x25, const int8_t *x26, const int8_t *x27,          \
        const int8_t *x28, const int8_t *x29, const int8_t *x30, const int8_t *x31

#define RL_CONCAT_DECLARE(n)                                                             \
    void rl_concat##n##_s8_v6m(const rl_concat##n##_params *p, RL_INPUTS##n, int8_t *y); \
    void rl_concat##n##_table_s8_v6m(const rl_concat##n##_params *p, RL_INPUTS##n,       \
                                     const int8_t *tables, int8_t *y);

RL_CONCAT_DECLARE(2)
RL_CONCAT_DECLARE(4)
RL_CONCAT_DECLARE(8)
RL_CONCAT_DECLARE(16)
RL_CONCAT_DECLARE(32)

#endif
