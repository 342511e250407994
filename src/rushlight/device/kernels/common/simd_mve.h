/* The only way to MVE (Helium) instructions. Each helper has the name of its ACLE intrinsic with
 * rl_ in front, and a plain-C body for compilers without MVE, so that mve.c kernels run, fuzz and
 * sanitise on the host. Vectors have 16 bytes: rl_s8x16, rl_u8x16, rl_s16x8, rl_s32x4. A predicate
 * (rl_pred) has a bit a byte.
 *
 * Loads: vldrb_<type> reads one byte a lane and widens it; _z reads only the predicate's lanes and
 * makes the others 0 (their addresses are not touched). Stores: vstrb_<type> writes the low byte of
 * each lane; _p only the predicate's lanes. Byte accesses need no alignment; vldrh needs 2 bytes,
 * vldrw and vstrw need 4. "b" (bottom) names the even lanes, "t" (top) the odd ones. */
#ifndef RUSHLIGHT_KERNELS_COMMON_SIMD_MVE_H
#define RUSHLIGHT_KERNELS_COMMON_SIMD_MVE_H

#include <stdint.h>

#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 1)

#include <arm_mve.h>

typedef int8x16_t rl_s8x16;
typedef uint8x16_t rl_u8x16;
typedef int16x8_t rl_s16x8;
typedef int32x4_t rl_s32x4;
typedef mve_pred16_t rl_pred;

/* One line each: result type, name, typed parameters, arguments. */
#define RL_MVE(result, name, parameters, arguments) \
    static inline result rl_##name parameters {     \
        return name arguments;                      \
    }
#define RL_MVE_VOID(name, parameters, arguments) \
    static inline void rl_##name parameters {    \
        name arguments;                          \
    }

/* Predicates: the first n lanes of 1, 2 or 4 bytes. */
RL_MVE(rl_pred, vctp8q, (uint32_t n), (n))
RL_MVE(rl_pred, vctp16q, (uint32_t n), (n))
RL_MVE(rl_pred, vctp32q, (uint32_t n), (n))

RL_MVE(rl_s8x16, vldrbq_s8, (const int8_t *p), (p))
RL_MVE(rl_u8x16, vldrbq_u8, (const uint8_t *p), (p))
RL_MVE(rl_s16x8, vldrbq_s16, (const int8_t *p), (p))
RL_MVE(rl_s32x4, vldrbq_s32, (const int8_t *p), (p))
RL_MVE(rl_s16x8, vldrhq_s16, (const int16_t *p), (p))
RL_MVE(rl_s32x4, vldrhq_s32, (const int16_t *p), (p))
RL_MVE(rl_s32x4, vldrwq_s32, (const int32_t *p), (p))
RL_MVE(rl_s8x16, vldrbq_z_s8, (const int8_t *p, rl_pred m), (p, m))
RL_MVE(rl_u8x16, vldrbq_z_u8, (const uint8_t *p, rl_pred m), (p, m))
RL_MVE(rl_s16x8, vldrbq_z_s16, (const int8_t *p, rl_pred m), (p, m))
RL_MVE(rl_s32x4, vldrbq_z_s32, (const int8_t *p, rl_pred m), (p, m))
RL_MVE(rl_s32x4, vldrwq_z_s32, (const int32_t *p, rl_pred m), (p, m))
RL_MVE(rl_u8x16, vldrbq_gather_offset_u8, (const uint8_t *p, rl_u8x16 o), (p, o))

RL_MVE_VOID(vstrbq_s8, (int8_t *p, rl_s8x16 v), (p, v))
RL_MVE_VOID(vstrbq_u8, (uint8_t *p, rl_u8x16 v), (p, v))
RL_MVE_VOID(vstrbq_s16, (int8_t *p, rl_s16x8 v), (p, v))
RL_MVE_VOID(vstrbq_s32, (int8_t *p, rl_s32x4 v), (p, v))
RL_MVE_VOID(vstrwq_s32, (int32_t *p, rl_s32x4 v), (p, v))
/* GCC 12 takes a predicated store for one of all 16 bytes and drops earlier stores to the bytes
 * that keep their values. The empty assembly reads them, so they stay. */
#define RL_MVE_KEEP(p, bytes) __asm__ volatile("" : : "m"(*(const uint8_t(*)[bytes])(p)))
#define RL_MVE_PART(name, element, vector, bytes)                   \
    static inline void rl_##name(element *p, vector v, rl_pred m) { \
        RL_MVE_KEEP(p, bytes);                                      \
        name(p, v, m);                                              \
    }

RL_MVE_PART(vstrbq_p_s8, int8_t, rl_s8x16, 16)
RL_MVE_PART(vstrbq_p_u8, uint8_t, rl_u8x16, 16)
RL_MVE_PART(vstrbq_p_s16, int8_t, rl_s16x8, 8)
RL_MVE_PART(vstrbq_p_s32, int8_t, rl_s32x4, 4)
RL_MVE_PART(vstrwq_p_s32, int32_t, rl_s32x4, 16)

#undef RL_MVE_KEEP
#undef RL_MVE_PART

RL_MVE(rl_s8x16, vdupq_n_s8, (int8_t a), (a))
RL_MVE(rl_u8x16, vdupq_n_u8, (uint8_t a), (a))
RL_MVE(rl_s16x8, vdupq_n_s16, (int16_t a), (a))
RL_MVE(rl_s32x4, vdupq_n_s32, (int32_t a), (a))

RL_MVE(rl_s8x16, vaddq_s8, (rl_s8x16 a, rl_s8x16 b), (a, b))
RL_MVE(rl_s16x8, vaddq_s16, (rl_s16x8 a, rl_s16x8 b), (a, b))
RL_MVE(rl_s32x4, vaddq_s32, (rl_s32x4 a, rl_s32x4 b), (a, b))
RL_MVE(rl_s16x8, vsubq_s16, (rl_s16x8 a, rl_s16x8 b), (a, b))
RL_MVE(rl_s32x4, vsubq_s32, (rl_s32x4 a, rl_s32x4 b), (a, b))
RL_MVE(rl_s16x8, vmulq_s16, (rl_s16x8 a, rl_s16x8 b), (a, b))
RL_MVE(rl_s32x4, vmulq_s32, (rl_s32x4 a, rl_s32x4 b), (a, b))
RL_MVE(rl_s16x8, vaddq_n_s16, (rl_s16x8 a, int16_t b), (a, b))
RL_MVE(rl_s32x4, vaddq_n_s32, (rl_s32x4 a, int32_t b), (a, b))
RL_MVE(rl_s32x4, vmulq_n_s32, (rl_s32x4 a, int32_t b), (a, b))
RL_MVE(rl_s32x4, vmlaq_n_s32, (rl_s32x4 a, rl_s32x4 b, int32_t c), (a, b, c)) /* a + b * c */
RL_MVE(rl_s16x8, vqaddq_s16, (rl_s16x8 a, rl_s16x8 b), (a, b))
RL_MVE(rl_s16x8, vqaddq_n_s16, (rl_s16x8 a, int16_t b), (a, b))
RL_MVE(rl_s8x16, vmaxq_s8, (rl_s8x16 a, rl_s8x16 b), (a, b))
RL_MVE(rl_s8x16, vminq_s8, (rl_s8x16 a, rl_s8x16 b), (a, b))
RL_MVE(rl_s16x8, vmaxq_s16, (rl_s16x8 a, rl_s16x8 b), (a, b))
RL_MVE(rl_s16x8, vminq_s16, (rl_s16x8 a, rl_s16x8 b), (a, b))
RL_MVE(rl_s32x4, vmaxq_s32, (rl_s32x4 a, rl_s32x4 b), (a, b))
RL_MVE(rl_s32x4, vminq_s32, (rl_s32x4 a, rl_s32x4 b), (a, b))

RL_MVE(rl_s16x8, vmullbq_int_s8, (rl_s8x16 a, rl_s8x16 b), (a, b))
RL_MVE(rl_s16x8, vmulltq_int_s8, (rl_s8x16 a, rl_s8x16 b), (a, b))
RL_MVE(rl_s32x4, vmullbq_int_s16, (rl_s16x8 a, rl_s16x8 b), (a, b))
RL_MVE(rl_s32x4, vmulltq_int_s16, (rl_s16x8 a, rl_s16x8 b), (a, b))
RL_MVE(rl_s16x8, vmovlbq_s8, (rl_s8x16 a), (a))
RL_MVE(rl_s16x8, vmovltq_s8, (rl_s8x16 a), (a))
RL_MVE(rl_s32x4, vmovlbq_s16, (rl_s16x8 a), (a))
RL_MVE(rl_s32x4, vmovltq_s16, (rl_s16x8 a), (a))
/* Narrowing with saturation of b into the even (odd) lanes of a. */
RL_MVE(rl_s8x16, vqmovnbq_s16, (rl_s8x16 a, rl_s16x8 b), (a, b))
RL_MVE(rl_s8x16, vqmovntq_s16, (rl_s8x16 a, rl_s16x8 b), (a, b))
RL_MVE(rl_s16x8, vqmovnbq_s32, (rl_s16x8 a, rl_s32x4 b), (a, b))
RL_MVE(rl_s16x8, vqmovntq_s32, (rl_s16x8 a, rl_s32x4 b), (a, b))

/* Sums over all lanes: a + sum of b (times c). */
RL_MVE(int32_t, vmladavaq_s8, (int32_t a, rl_s8x16 b, rl_s8x16 c), (a, b, c))
RL_MVE(int32_t, vmladavaq_p_s8, (int32_t a, rl_s8x16 b, rl_s8x16 c, rl_pred m), (a, b, c, m))
RL_MVE(int32_t, vmladavaq_s16, (int32_t a, rl_s16x8 b, rl_s16x8 c), (a, b, c))
RL_MVE(int32_t, vaddvaq_s8, (int32_t a, rl_s8x16 b), (a, b))
RL_MVE(int32_t, vaddvaq_s32, (int32_t a, rl_s32x4 b), (a, b))
RL_MVE(int8_t, vmaxvq_s8, (int8_t a, rl_s8x16 b), (a, b))

/* vqdmulh: high half of 2 * a * b, saturated. vshl, vrshl: shift left by b, right if negative. */
RL_MVE(rl_s32x4, vqdmulhq_s32, (rl_s32x4 a, rl_s32x4 b), (a, b))
RL_MVE(rl_s32x4, vqdmulhq_n_s32, (rl_s32x4 a, int32_t b), (a, b))
RL_MVE(rl_s32x4, vshlq_s32, (rl_s32x4 a, rl_s32x4 b), (a, b))
RL_MVE(rl_s32x4, vshlq_r_s32, (rl_s32x4 a, int32_t b), (a, b))
RL_MVE(rl_s32x4, vrshlq_s32, (rl_s32x4 a, rl_s32x4 b), (a, b))
RL_MVE(rl_s32x4, vrshlq_n_s32, (rl_s32x4 a, int32_t b), (a, b))

/* The same bytes as other lanes. */
RL_MVE(rl_u8x16, vreinterpretq_u8_s8, (rl_s8x16 a), (a))
RL_MVE(rl_s8x16, vreinterpretq_s8_u8, (rl_u8x16 a), (a))
RL_MVE(rl_s8x16, vreinterpretq_s8_s16, (rl_s16x8 a), (a))
RL_MVE(rl_s16x8, vreinterpretq_s16_s32, (rl_s32x4 a), (a))

/* Unsigned forms on the signed type. The gather reads the halfwords p[o], 0 where m is off. */
static inline rl_s32x4 rl_vldrhq_gather_shifted_offset_z_u32(const uint16_t *p, rl_s32x4 o,
                                                             rl_pred m) {
    return vreinterpretq_s32_u32(
        vldrhq_gather_shifted_offset_z_u32(p, vreinterpretq_u32_s32(o), m));
}
static inline rl_s32x4 rl_vshlq_r_u32(rl_s32x4 a, int32_t b) {
    return vreinterpretq_s32_u32(vshlq_r_u32(vreinterpretq_u32_s32(a), b));
}

/* Sums of products in 16-bit lanes over a run of taps: tap i reads 16 bytes at slots[i] + offset
 * and 16 weights at weights + 16 * i. Adds to even and odd lanes; moves slots and weights on by
 * count. Assembly, as GCC makes no low-overhead loop of it at -O2. */
static inline void rl_mve_sum_products(rl_s16x8 *even, rl_s16x8 *odd, const int8_t *const **slots,
                                       int32_t offset, const int8_t **weights, int32_t count) {
    rl_s8x16 x, weight;
    rl_s16x8 product;
    const int8_t *from;
    __asm__ volatile(
        "wls lr, %[count], 2f\n"
        "1:\n\t"
        "ldr %[from], [%[slots]], #4\n\t"
        "vldrb.8 %q[weight], [%[weights]], #16\n\t"
        "add %[from], %[offset]\n\t"
        "vldrb.8 %q[x], [%[from]]\n\t"
        "vmullb.s8 %q[product], %q[x], %q[weight]\n\t"
        "vmullt.s8 %q[x], %q[x], %q[weight]\n\t"
        "vadd.i16 %q[even], %q[even], %q[product]\n\t"
        "vadd.i16 %q[odd], %q[odd], %q[x]\n\t"
        "le lr, 1b\n"
        "2:"
        : [even] "+w"(*even), [odd] "+w"(*odd), [slots] "+r"(*slots), [weights] "+r"(*weights),
          [x] "=&w"(x), [weight] "=&w"(weight), [product] "=&w"(product), [from] "=&r"(from)
        : [offset] "r"(offset), [count] "r"(count)
        : "lr", "memory");
}

#undef RL_MVE
#undef RL_MVE_VOID

#else
#include "common/simd_mve_twin.h"
#endif

/* Requantise four sums (requant.h states the formula, without zero point and clamp; pre must be 0):
 * exact for 17 <= shift <= 39. multiplier_high is multiplier << 16, right is 15 - shift (negative):
 * vqdmulh gives floor(acc * m / 2^15), vrshl rounds the rest, and floor twice is floor once. */
static inline rl_s32x4 rl_requantize_mve(rl_s32x4 acc, rl_s32x4 multiplier_high, rl_s32x4 right) {
    return rl_vrshlq_s32(rl_vqdmulhq_s32(acc, multiplier_high), right);
}

/* The same with one multiplier and shift for all lanes. */
static inline rl_s32x4 rl_requantize_mve_n(rl_s32x4 acc, int32_t multiplier_high, int32_t right) {
    return rl_vrshlq_n_s32(rl_vqdmulhq_n_s32(acc, multiplier_high), right);
}

#endif
