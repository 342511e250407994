/* Copies runs of bytes by vectors, not a byte more than they have. */
#ifndef RUSHLIGHT_KERNELS_COMMON_COPY_MVE_H
#define RUSHLIGHT_KERNELS_COMMON_COPY_MVE_H

#include <stdint.h>

#include "common/simd_mve.h"

/* Steps in bytes from one run to the next, and from one group of runs to the next. */
typedef struct rl_steps {
    int32_t run, group;
} rl_steps;

/* groups >= 1 of runs >= 1 of size >= 1 bytes. Not inlined, as it takes nearly all registers. */
__attribute__((noinline)) static void rl_copy_runs(int8_t *to, rl_steps to_steps,
                                                   const int8_t *from, rl_steps from_steps,
                                                   int32_t size, int32_t runs, int32_t groups) {
#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 1) && defined(__OPTIMIZE__)
    const int32_t moved = (size + 15) & -16;
    int32_t run;
    __asm__ volatile(
        "1:\n\t"
        "mov %[run], %[runs]\n"
        "2:\n\t"
        "dlstp.8 lr, %[size]\n"
        "3:\n\t"
        "vldrb.8 q0, [%[from]], #16\n\t"
        "vstrb.8 q0, [%[to]], #16\n\t"
        "letp lr, 3b\n\t"
        "subs %[run], #1\n\t"
        "add %[from], %[from_run]\n\t"
        "add %[to], %[to_run]\n\t"
        "bne 2b\n\t"
        "subs %[groups], #1\n\t"
        "add %[from], %[from_group]\n\t"
        "add %[to], %[to_group]\n\t"
        "bne 1b"
        : [to] "+r"(to), [from] "+r"(from), [groups] "+r"(groups), [run] "=&r"(run)
        : [to_run] "r"(to_steps.run - moved), [from_run] "r"(from_steps.run - moved),
          [to_group] "r"(to_steps.group - runs * to_steps.run),
          [from_group] "r"(from_steps.group - runs * from_steps.run), [size] "r"(size),
          [runs] "r"(runs)
        : "q0", "lr", "cc", "memory");
#else
    for (int32_t group = 0; group < groups; group++) {
        for (int32_t run = 0; run < runs; run++) {
            for (int32_t i = 0; i < size; i++) {
                to[group * to_steps.group + run * to_steps.run + i] =
                    from[group * from_steps.group + run * from_steps.run + i];
            }
        }
    }
#endif
}

#endif
