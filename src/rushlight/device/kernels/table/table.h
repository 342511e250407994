/* table: y[i] = table[(uint8_t)x[i]]. See README.md here for the order of the entries. */
#ifndef RUSHLIGHT_KERNELS_TABLE_TABLE_H
#define RUSHLIGHT_KERNELS_TABLE_TABLE_H

#include <stdint.h>

typedef struct rl_table_params {
    int32_t count;
} rl_table_params;

/* y may be x. */
void rl_table_s8_v6m(const rl_table_params *p, const int8_t *x, const int8_t *table, int8_t *y);
void rl_table_s8_mve(const rl_table_params *p, const int8_t *x, const int8_t *table, int8_t *y);

#endif
