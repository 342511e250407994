/* Requantisation: the only copy. ARITHMETIC.md, "Requantise", states the formula:
 *
 *     y = clamp(zero_point + (((acc << pre) * multiplier + 2^(shift-1)) >> shift))
 *
 * with the exact product and one rounding; 0 <= multiplier < 2^15, 17 <= shift <= 39. The compiler
 * has proved that acc << pre stays in 32 bits. Signed right shifts are arithmetic on every compiler
 * that Rushlight supports. */
#ifndef RUSHLIGHT_KERNELS_COMMON_REQUANT_H
#define RUSHLIGHT_KERNELS_COMMON_REQUANT_H

#include <stdint.h>

/* What belongs to one output channel of a weighted operator. The input's zero point is in the bias
 * already. */
typedef struct rl_channel {
    int32_t bias;
    int16_t multiplier;
    uint8_t shift;
    uint8_t pre;
} rl_channel;

static inline int32_t rl_clamp(int32_t value, int32_t low, int32_t high) {
    value = value < low ? low : value;
    return value > high ? high : value;
}

/* acc << pre without the undefined behaviour of shifting a negative number. */
static inline int32_t rl_shift_left(int32_t acc, uint32_t pre) {
    return (int32_t)((uint32_t)acc << pre);
}

/* floor(acc * multiplier / 2^16) in two 32-bit multiplies, for cores without a long one. */
static inline int32_t rl_multiply_high_v6m(int32_t acc, int32_t multiplier) {
    const uint32_t low = ((uint32_t)acc & 0xffffu) * (uint32_t)multiplier;
    return (acc >> 16) * multiplier + (int32_t)(low >> 16);
}

/* The same by the long multiply of Armv7-M and Armv8-M mainline. */
static inline int32_t rl_multiply_high_v7m(int32_t acc, int32_t multiplier) {
    return (int32_t)(((int64_t)acc * multiplier) >> 16);
}

/* The rounding second half: floor twice is floor once, so the result is the definition's. */
static inline int32_t rl_round_shift(int32_t high, uint32_t shift) {
    return (high + (int32_t)(1u << (shift - 17u))) >> (shift - 16u);
}

static inline int32_t rl_requantize_v6m(int32_t acc, int32_t multiplier, uint32_t shift,
                                        uint32_t pre) {
    return rl_round_shift(rl_multiply_high_v6m(rl_shift_left(acc, pre), multiplier), shift);
}

static inline int32_t rl_requantize_v7m(int32_t acc, int32_t multiplier, uint32_t shift,
                                        uint32_t pre) {
    return rl_round_shift(rl_multiply_high_v7m(rl_shift_left(acc, pre), multiplier), shift);
}

#endif
