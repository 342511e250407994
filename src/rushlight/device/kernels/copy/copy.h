/* copy: bytes of any element type. */
#ifndef RUSHLIGHT_KERNELS_COPY_COPY_H
#define RUSHLIGHT_KERNELS_COPY_COPY_H

#include <stdint.h>

typedef struct rl_copy_params {
    int32_t bytes;
} rl_copy_params;

void rl_copy_v6m(const rl_copy_params *p, const void *x, void *y);

#endif
