/* The DSP extension's instructions that kernels use, each with a plain-C body of the same name and
 * result: dsp.c files run, fuzz and sanitise on any host. This is the only way to them.
 *
 * A "pair" is a uint32_t of two int16 lanes, the first in the low half; a "quad" one of four int8
 * lanes, the first lowest. Sums wrap as on the chip. */
#ifndef RUSHLIGHT_KERNELS_COMMON_SIMD_DSP_H
#define RUSHLIGHT_KERNELS_COMMON_SIMD_DSP_H

#include <stdint.h>

#include "common/requant.h"
#include "common/word.h"

#if defined(__ARM_FEATURE_DSP) && __ARM_FEATURE_DSP
#include <arm_acle.h>

/* The pair of bytes 0 and 2, sign-extended. */
static inline uint32_t rl_sxtb16(uint32_t quad) {
    return (uint32_t)__sxtb16((int8x4_t)quad);
}

/* The pair of bytes 1 and 3. Assembly, as GCC does not fold the rotation into SXTB16. */
static inline uint32_t rl_sxtb16_ror8(uint32_t quad) {
    uint32_t pair;
    __asm__("sxtb16 %0, %1, ror #8" : "=r"(pair) : "r"(quad));
    return pair;
}

/* The pair of bytes 0 and 2, or 1 and 3, added lane by lane to another. */
static inline uint32_t rl_sxtab16(uint32_t pair, uint32_t quad) {
    return (uint32_t)__sxtab16((int16x2_t)pair, (int8x4_t)quad);
}

static inline uint32_t rl_sxtab16_ror8(uint32_t pair, uint32_t quad) {
    uint32_t sum;
    __asm__("sxtab16 %0, %1, %2, ror #8" : "=r"(sum) : "r"(pair), "r"(quad));
    return sum;
}

/* acc + a0*b0 + a1*b1; the second with b's lanes exchanged. */
static inline int32_t rl_smlad(uint32_t a, uint32_t b, int32_t acc) {
    return __smlad((int16x2_t)a, (int16x2_t)b, acc);
}

static inline int32_t rl_smladx(uint32_t a, uint32_t b, int32_t acc) {
    return __smladx((int16x2_t)a, (int16x2_t)b, acc);
}

/* acc + one lane of a times one of b: B is the low one, T the high one. */
static inline int32_t rl_smlabb(uint32_t a, uint32_t b, int32_t acc) {
    return __smlabb((int32_t)a, (int32_t)b, acc);
}

static inline int32_t rl_smlabt(uint32_t a, uint32_t b, int32_t acc) {
    return __smlabt((int32_t)a, (int32_t)b, acc);
}

static inline int32_t rl_smlatb(uint32_t a, uint32_t b, int32_t acc) {
    return __smlatb((int32_t)a, (int32_t)b, acc);
}

static inline int32_t rl_smlatt(uint32_t a, uint32_t b, int32_t acc) {
    return __smlatt((int32_t)a, (int32_t)b, acc);
}

/* addend + floor(acc * (low lane of multiplier) / 2^16). */
static inline int32_t rl_smlawb(int32_t acc, int32_t multiplier, int32_t addend) {
    return __smlawb(acc, multiplier, addend);
}

/* Clamps to -128..127. Assembly, as GCC's __ssat does not compile under -Wsign-conversion. */
static inline int32_t rl_ssat8(int32_t value) {
    int32_t out;
    __asm__("ssat %0, #8, %1" : "=r"(out) : "r"(value));
    return out;
}

/* Low lanes (PKHBT) or high lanes (PKHTB, in the order first, second) of two words as a pair. */
static inline uint32_t rl_pack_low(uint32_t first, uint32_t second) {
    uint32_t pair;
    __asm__("pkhbt %0, %1, %2, lsl #16" : "=r"(pair) : "r"(first), "r"(second));
    return pair;
}

static inline uint32_t rl_pack_high(uint32_t first, uint32_t second) {
    uint32_t pair;
    __asm__("pkhtb %0, %1, %2, asr #16" : "=r"(pair) : "r"(second), "r"(first));
    return pair;
}

static inline uint32_t rl_sadd16(uint32_t a, uint32_t b) {
    return (uint32_t)__sadd16((int16x2_t)a, (int16x2_t)b);
}

/* Lane by lane the greater (or lesser) of two quads of int8. One assembly block each, because SEL
 * reads the flags that the subtraction leaves. */
static inline uint32_t rl_max_quad(uint32_t a, uint32_t b) {
    uint32_t out;
    __asm__("ssub8 %0, %1, %2\n\tsel %0, %1, %2" : "=&r"(out) : "r"(a), "r"(b) : "cc");
    return out;
}

static inline uint32_t rl_min_quad(uint32_t a, uint32_t b) {
    uint32_t out;
    __asm__("ssub8 %0, %1, %2\n\tsel %0, %2, %1" : "=&r"(out) : "r"(a), "r"(b) : "cc");
    return out;
}

#else

static inline int32_t rl_lane_low(uint32_t pair) {
    return (int16_t)(uint16_t)pair;
}

static inline int32_t rl_lane_high(uint32_t pair) {
    return (int16_t)(uint16_t)(pair >> 16);
}

static inline uint32_t rl_pair(int32_t low, int32_t high) {
    return ((uint32_t)low & 0xffffu) | ((uint32_t)high << 16);
}

static inline int32_t rl_wrapping_add(int32_t a, int32_t b) {
    return (int32_t)((uint32_t)a + (uint32_t)b);
}

static inline uint32_t rl_sxtb16(uint32_t quad) {
    return rl_pair((int8_t)(uint8_t)quad, (int8_t)(uint8_t)(quad >> 16));
}

static inline uint32_t rl_sxtb16_ror8(uint32_t quad) {
    return rl_sxtb16(quad >> 8);
}

static inline uint32_t rl_sadd16(uint32_t a, uint32_t b) {
    return rl_pair(rl_lane_low(a) + rl_lane_low(b), rl_lane_high(a) + rl_lane_high(b));
}

static inline uint32_t rl_sxtab16(uint32_t pair, uint32_t quad) {
    return rl_sadd16(pair, rl_sxtb16(quad));
}

static inline uint32_t rl_sxtab16_ror8(uint32_t pair, uint32_t quad) {
    return rl_sadd16(pair, rl_sxtb16_ror8(quad));
}

static inline int32_t rl_smlabb(uint32_t a, uint32_t b, int32_t acc) {
    return rl_wrapping_add(acc, rl_lane_low(a) * rl_lane_low(b));
}

static inline int32_t rl_smlabt(uint32_t a, uint32_t b, int32_t acc) {
    return rl_wrapping_add(acc, rl_lane_low(a) * rl_lane_high(b));
}

static inline int32_t rl_smlatb(uint32_t a, uint32_t b, int32_t acc) {
    return rl_wrapping_add(acc, rl_lane_high(a) * rl_lane_low(b));
}

static inline int32_t rl_smlatt(uint32_t a, uint32_t b, int32_t acc) {
    return rl_wrapping_add(acc, rl_lane_high(a) * rl_lane_high(b));
}

static inline int32_t rl_smlad(uint32_t a, uint32_t b, int32_t acc) {
    return rl_smlatt(a, b, rl_smlabb(a, b, acc));
}

static inline int32_t rl_smladx(uint32_t a, uint32_t b, int32_t acc) {
    return rl_smlatb(a, b, rl_smlabt(a, b, acc));
}

static inline int32_t rl_smlawb(int32_t acc, int32_t multiplier, int32_t addend) {
    return rl_wrapping_add((int32_t)(((int64_t)acc * (int16_t)multiplier) >> 16), addend);
}

static inline int32_t rl_ssat8(int32_t value) {
    return rl_clamp(value, -128, 127);
}

static inline uint32_t rl_pack_low(uint32_t first, uint32_t second) {
    return (first & 0xffffu) | (second << 16);
}

static inline uint32_t rl_pack_high(uint32_t first, uint32_t second) {
    return (first >> 16) | (second & 0xffff0000u);
}

static inline int32_t rl_quad_lane(uint32_t quad, uint32_t lane) {
    return (int8_t)(uint8_t)(quad >> (8u * lane));
}

static inline uint32_t rl_max_quad(uint32_t a, uint32_t b) {
    uint32_t out = 0;
    for (uint32_t i = 0; i < 4; i++) {
        const uint32_t from = rl_quad_lane(a, i) >= rl_quad_lane(b, i) ? a : b;
        out |= from & (0xffu << (8u * i));
    }
    return out;
}

static inline uint32_t rl_min_quad(uint32_t a, uint32_t b) {
    uint32_t out = 0;
    for (uint32_t i = 0; i < 4; i++) {
        const uint32_t from = rl_quad_lane(a, i) >= rl_quad_lane(b, i) ? b : a;
        out |= from & (0xffu << (8u * i));
    }
    return out;
}

#endif

/* The zero point and the rounding of rl_requantize_dsp in one constant. It fits: |zero_point| <=
 * 128 and shift <= 39 keep it within 2^30 + 2^22. */
static inline int32_t rl_requantize_addend(int32_t zero_point, uint32_t shift) {
    return (int32_t)(((uint32_t)zero_point << (shift - 16u)) + (1u << (shift - 17u)));
}

/* The definition in requant.h plus the zero point (not yet clamped), for pre == 0: SMLAWB and one
 * shift. |acc * multiplier| / 2^16 < 2^30, so the sum with the addend stays in 32 bits. */
static inline int32_t rl_requantize_dsp(int32_t acc, int32_t multiplier, uint32_t shift,
                                        int32_t addend) {
    return rl_smlawb(acc, multiplier, addend) >> (shift - 16u);
}

/* Four values of -128..127 as a quad: rl_pack4 in fewer instructions. */
static inline uint32_t rl_pack_quad(int32_t b0, int32_t b1, int32_t b2, int32_t b3) {
    const uint32_t even = rl_pack_low((uint32_t)b0, (uint32_t)b2) & 0x00ff00ffu;
    const uint32_t odd = rl_pack_low((uint32_t)b1, (uint32_t)b3) & 0x00ff00ffu;
    return even | (odd << 8);
}

#endif
