/* linear for Armv7-M and Armv8-M mainline without DSP, two output channels a multiply. */
#include "linear/pair_rows.h"

#if defined(__thumb2__)

/* clang-format off */
/* A tap of 8 channels; the words' addends are those of the first tap, or the sums themselves. */
#define RL_TAP(a0, a1, a2, a3)   \
    "ldrd r0, r1, [r9], #8\n\t"  \
    "ldrsb r8, [r10], #1\n\t"    \
    "mla r4, r0, r8, " a0 "\n\t" \
    "and r3, r2, r0, lsr #8\n\t" \
    "mla r5, r3, r8, " a1 "\n\t" \
    "mla r6, r1, r8, " a2 "\n\t" \
    "and r3, r2, r1, lsr #8\n\t" \
    "mla r7, r3, r8, " a3 "\n\t"

/* Stack: 0 total and high of 4 pairs, 32 prefix sums, 36 sums. r9 weights, r10 x, lr the group's
 * length, r11 addend of a pair's sum, r12 addend of a word's. 8 instructions a tap of 8 products, 25
 * a group. */
RL_NAKED static const uint32_t *dot(RL_UNUSED const uint32_t *weights, RL_UNUSED const int8_t *x,
                                    RL_UNUSED const uint32_t *prefix, RL_UNUSED uint32_t sums[8]) {
    __asm__(
        "push {r4-r11, lr}\n\t"
        "sub sp, #44\n\t"
        "mov r9, r0\n\t"
        "mov r10, r1\n\t"
        "strd r2, r3, [sp, #32]\n\t"
        "ldm r3, {r0-r7}\n\t"
        "stm sp, {r0-r7}\n\t"
        "ldr lr, [r9], #4\n"
        "1:\n\t"
        "ldr r12, [sp, #32]\n\t"
        "mov r2, #0x00ff00ff\n\t"
        "ldr r3, [r12]\n\t"
        "add r12, r12, lr, lsl #2\n\t"
        "ldr r11, [r12]\n\t"
        "str r12, [sp, #32]\n\t"
        "sub r11, r3, r11\n\t"
        "add r11, r11, #0x8000\n\t"
        "add r12, r11, r11, lsl #8\n\t"
        RL_TAP("r12", "r11", "r12", "r11")
        "tbb [pc, lr]\n\t" /* the other taps: into the run below, 16 halfwords a tap */
        ".byte 0, 6+144, 6+128, 6+112, 6+96, 6+80, 6+64, 6+48, 6+32, 6+16, 6, 0\n\t"
        ".rept 9\n\t"
        RL_TAP("r4", "r5", "r6", "r7")
        ".endr\n\t"
        "sub r4, r4, r5, lsl #8\n\t"
        "sub r6, r6, r7, lsl #8\n\t"
        "ldm sp, {r0-r3, r8, r11, r12, lr}\n\t"
        "add r0, r0, r4\n\t"
        "add r1, r1, r4, asr #16\n\t"
        "add r2, r2, r5\n\t"
        "add r3, r3, r5, asr #16\n\t"
        "add r8, r8, r6\n\t"
        "add r11, r11, r6, asr #16\n\t"
        "add r12, r12, r7\n\t"
        "add lr, lr, r7, asr #16\n\t"
        "stm sp, {r0-r3, r8, r11, r12, lr}\n\t"
        "ldr lr, [r9], #4\n\t"
        "cmp lr, #0\n\t"
        "bne 1b\n\t"
        "ldm sp, {r0-r7}\n\t"
        "ldr r8, [sp, #36]\n\t"
        "stm r8, {r0-r7}\n\t"
        "mov r0, r9\n\t"
        "add sp, #44\n\t"
        "pop {r4-r11, pc}");
}
/* clang-format on */

#else

static const uint32_t *dot(const uint32_t *w, const int8_t *x, const uint32_t *prefix,
                           uint32_t sums[8]) {
    for (int32_t taps = (int32_t)*w++; taps > 0; taps = (int32_t)*w++) {
        const uint32_t pair = prefix[0] - prefix[taps] + 0x8000u;
        w = rl_linear_pair_group(w, x, taps, pair, 0u, sums);
        x += taps;
        prefix += taps;
    }
    return w;
}

#endif

void rl_linear_s8_v7m_pair(const rl_linear_pair_params *p, const int8_t *x, const uint32_t *weights,
                           const rl_channel *channels, int8_t *y, void *scratch) {
    const rl_linear_pair_tier tier = {dot, rl_requantize_v7m, 0x8000u};
    rl_linear_pair_rows(p, &tier, x, weights, channels, y, scratch);
}
