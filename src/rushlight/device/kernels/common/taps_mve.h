/* Pooling's innermost loops for MVE: the taps of a window's row, `step` bytes apart, at least one,
 * go into accumulators for neighbouring channels; or all of a small window. Assembly, as GCC makes no low-overhead loops and
 * moves the accumulators; the plain C is for compilers without MVE. */
#ifndef RUSHLIGHT_KERNELS_COMMON_TAPS_MVE_H
#define RUSHLIGHT_KERNELS_COMMON_TAPS_MVE_H

#include "common/simd_mve.h"

#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 1) && defined(__OPTIMIZE__)

/* The greatest of 16 channels. */
static inline void rl_mve_max_16(rl_s8x16 *a, const int8_t *tap, int32_t step, int32_t taps) {
    rl_s8x16 x;
    __asm__ volatile(
        "dls lr, %[taps]\n"
        "1:\n\t"
        "vldrb.8 %q[x], [%[tap]]\n\t"
        "add %[tap], %[step]\n\t"
        "vmax.s8 %q[a], %q[a], %q[x]\n\t"
        "le lr, 1b"
        : [a] "+w"(*a), [tap] "+r"(tap), [x] "=&w"(x)
        : [step] "r"(step), [taps] "r"(taps)
        : "lr", "memory");
}

/* The greatest of 64 channels. */
static inline void rl_mve_max_64(rl_s8x16 a[4], const int8_t *tap, int32_t step, int32_t taps) {
    rl_s8x16 x, z;
    __asm__ volatile(
        "dls lr, %[taps]\n"
        "1:\n\t"
        "vldrb.8 %q[x], [%[tap]]\n\t"
        "vldrb.8 %q[z], [%[tap], #16]\n\t"
        "vmax.s8 %q[a0], %q[a0], %q[x]\n\t"
        "vldrb.8 %q[x], [%[tap], #32]\n\t"
        "vmax.s8 %q[a1], %q[a1], %q[z]\n\t"
        "vldrb.8 %q[z], [%[tap], #48]\n\t"
        "vmax.s8 %q[a2], %q[a2], %q[x]\n\t"
        "add %[tap], %[step]\n\t"
        "vmax.s8 %q[a3], %q[a3], %q[z]\n\t"
        "le lr, 1b"
        : [a0] "+w"(a[0]), [a1] "+w"(a[1]), [a2] "+w"(a[2]), [a3] "+w"(a[3]), [tap] "+r"(tap),
          [x] "=&w"(x), [z] "=&w"(z)
        : [step] "r"(step), [taps] "r"(taps)
        : "lr", "memory");
}

/* The greatest of four taps for 16 channels of each of a run of pixels, at least one. */
static inline void rl_mve_max_four(const int8_t *const taps[4], int32_t step, int8_t *y,
                                   int32_t out_step, int32_t pixels) {
    const int8_t *t0 = taps[0], *t1 = taps[1], *t2 = taps[2], *t3 = taps[3];
    rl_s8x16 x, z;
    __asm__ volatile(
        "dls lr, %[pixels]\n"
        "1:\n\t"
        "vldrb.8 %q[x], [%[t0]]\n\t"
        "add %[t0], %[step]\n\t"
        "vldrb.8 %q[z], [%[t1]]\n\t"
        "add %[t1], %[step]\n\t"
        "vmax.s8 %q[x], %q[x], %q[z]\n\t"
        "vldrb.8 %q[z], [%[t2]]\n\t"
        "add %[t2], %[step]\n\t"
        "vmax.s8 %q[x], %q[x], %q[z]\n\t"
        "vldrb.8 %q[z], [%[t3]]\n\t"
        "add %[t3], %[step]\n\t"
        "vmax.s8 %q[x], %q[x], %q[z]\n\t"
        "vstrb.8 %q[x], [%[y]]\n\t"
        "add %[y], %[out_step]\n\t"
        "le lr, 1b"
        : [t0] "+r"(t0), [t1] "+r"(t1), [t2] "+r"(t2), [t3] "+r"(t3), [y] "+r"(y), [x] "=&w"(x),
          [z] "=&w"(z)
        : [step] "r"(step), [out_step] "r"(out_step), [pixels] "r"(pixels)
        : "lr", "memory");
}

/* The sums of 16 channels. Widening loads take a low register. */
static inline void rl_mve_add_16(rl_s16x8 a[2], const int8_t *tap, int32_t step, int32_t taps) {
    rl_s16x8 x, z;
    __asm__ volatile(
        "dls lr, %[taps]\n"
        "1:\n\t"
        "vldrb.s16 %q[x], [%[tap]]\n\t"
        "vldrb.s16 %q[z], [%[tap], #8]\n\t"
        "vadd.i16 %q[a0], %q[a0], %q[x]\n\t"
        "add %[tap], %[step]\n\t"
        "vadd.i16 %q[a1], %q[a1], %q[z]\n\t"
        "le lr, 1b"
        : [a0] "+w"(a[0]), [a1] "+w"(a[1]), [tap] "+l"(tap), [x] "=&w"(x), [z] "=&w"(z)
        : [step] "r"(step), [taps] "r"(taps)
        : "lr", "memory");
}

/* The sums of 32 channels. */
static inline void rl_mve_add_32(rl_s16x8 a[4], const int8_t *tap, int32_t step, int32_t taps) {
    rl_s16x8 x, z;
    __asm__ volatile(
        "dls lr, %[taps]\n"
        "1:\n\t"
        "vldrb.s16 %q[x], [%[tap]]\n\t"
        "vldrb.s16 %q[z], [%[tap], #8]\n\t"
        "vadd.i16 %q[a0], %q[a0], %q[x]\n\t"
        "vldrb.s16 %q[x], [%[tap], #16]\n\t"
        "vadd.i16 %q[a1], %q[a1], %q[z]\n\t"
        "vldrb.s16 %q[z], [%[tap], #24]\n\t"
        "vadd.i16 %q[a2], %q[a2], %q[x]\n\t"
        "add %[tap], %[step]\n\t"
        "vadd.i16 %q[a3], %q[a3], %q[z]\n\t"
        "le lr, 1b"
        : [a0] "+w"(a[0]), [a1] "+w"(a[1]), [a2] "+w"(a[2]), [a3] "+w"(a[3]), [tap] "+l"(tap),
          [x] "=&w"(x), [z] "=&w"(z)
        : [step] "r"(step), [taps] "r"(taps)
        : "lr", "memory");
}

#else

static inline void rl_mve_max_16(rl_s8x16 *a, const int8_t *tap, int32_t step, int32_t taps) {
    for (; taps > 0; taps--, tap += step) {
        *a = rl_vmaxq_s8(*a, rl_vldrbq_s8(tap));
    }
}

static inline void rl_mve_max_64(rl_s8x16 a[4], const int8_t *tap, int32_t step, int32_t taps) {
    for (int32_t i = 0; i < 4; i++) {
        rl_mve_max_16(&a[i], tap + 16 * i, step, taps);
    }
}

static inline void rl_mve_max_four(const int8_t *const taps[4], int32_t step, int8_t *y,
                                   int32_t out_step, int32_t pixels) {
    for (int32_t i = 0; i < pixels; i++) {
        const rl_s8x16 a =
            rl_vmaxq_s8(rl_vldrbq_s8(taps[0] + i * step), rl_vldrbq_s8(taps[1] + i * step));
        const rl_s8x16 b =
            rl_vmaxq_s8(rl_vldrbq_s8(taps[2] + i * step), rl_vldrbq_s8(taps[3] + i * step));
        rl_vstrbq_s8(y, rl_vmaxq_s8(a, b));
        y += out_step;
    }
}

static inline void rl_mve_add_16(rl_s16x8 a[2], const int8_t *tap, int32_t step, int32_t taps) {
    for (; taps > 0; taps--, tap += step) {
        a[0] = rl_vaddq_s16(a[0], rl_vldrbq_s16(tap));
        a[1] = rl_vaddq_s16(a[1], rl_vldrbq_s16(tap + 8));
    }
}

static inline void rl_mve_add_32(rl_s16x8 a[4], const int8_t *tap, int32_t step, int32_t taps) {
    rl_mve_add_16(a, tap, step, taps);
    rl_mve_add_16(a + 2, tap + 16, step, taps);
}

#endif

#endif
