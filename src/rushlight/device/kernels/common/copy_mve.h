/* Copies runs of bytes by vectors, without a byte more than they have. */
#ifndef RUSHLIGHT_KERNELS_COMMON_COPY_MVE_H
#define RUSHLIGHT_KERNELS_COMMON_COPY_MVE_H

#include <stdint.h>

#include "common/simd_mve.h"

/* runs >= 1 runs of size >= 1 bytes; steps are from one run's start to the next one's. */
static inline void rl_copy_runs(int8_t *to, int32_t to_step, const int8_t *from, int32_t from_step,
                                int32_t size, int32_t runs) {
#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 1)
    const int32_t moved = (size + 15) & -16;
    __asm__ volatile(
        "1:\n\t"
        "dlstp.8 lr, %[size]\n"
        "2:\n\t"
        "vldrb.8 q0, [%[from]], #16\n\t"
        "vstrb.8 q0, [%[to]], #16\n\t"
        "letp lr, 2b\n\t"
        "add %[from], %[from_step]\n\t"
        "add %[to], %[to_step]\n\t"
        "subs %[runs], #1\n\t"
        "bne 1b"
        : [to] "+r"(to), [from] "+r"(from), [runs] "+r"(runs)
        : [to_step] "r"(to_step - moved), [from_step] "r"(from_step - moved), [size] "r"(size)
        : "q0", "lr", "cc", "memory");
#else
    for (; runs > 0; runs--) {
        for (int32_t i = 0; i < size; i++) {
            to[i] = from[i];
        }
        to += to_step;
        from += from_step;
    }
#endif
}

#endif
