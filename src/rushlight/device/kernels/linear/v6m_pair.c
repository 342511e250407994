/* linear for Armv6-M, two output channels a multiply. */
#include "linear/pair_rows.h"

#if defined(__thumb__)

/* clang-format off */
/* Four channels of a tap: word in w, pair's sum and word's sum in high registers. */
#define RL_WORD(w, word_sum, pair_sum) \
    "lsrs r2, " w ", #8\n\t"           \
    "ands r2, r7\n\t"                  \
    "muls " w ", r3, " w "\n\t"        \
    "add " word_sum ", " w "\n\t"      \
    "muls r2, r3, r2\n\t"              \
    "add " pair_sum ", r2\n\t"

/* Flushes the sums of a word, whose totals and highs come from r7 and go back. */
#define RL_FLUSH(word_sum, pair_sum) \
    "ldmia r7!, {r0-r3}\n\t"         \
    "mov r4, " pair_sum "\n\t"       \
    "lsls r4, r4, #8\n\t"            \
    "rsbs r4, r4, #0\n\t"            \
    "add r4, " word_sum "\n\t"       \
    "adds r0, r0, r4\n\t"            \
    "asrs r4, r4, #16\n\t"           \
    "adcs r1, r1, r4\n\t"            \
    "mov r4, " pair_sum "\n\t"       \
    "adds r2, r2, r4\n\t"            \
    "asrs r4, r4, #16\n\t"           \
    "adcs r3, r3, r4\n\t"            \
    "subs r7, #16\n\t"               \
    "stmia r7!, {r0-r3}\n\t"

/* Stack: 0 total and high of 4 pairs, 32 sums. r5 weights, r6 x, r7 mask, r8-r11 sums of words and
 * pairs, r12 mask, lr prefix sums. 15 instructions a tap of 8 products, 47 a group; the shift's carry
 * rounds. */
RL_NAKED static const uint32_t *dot(RL_UNUSED const uint32_t *weights, RL_UNUSED const int8_t *x,
                                    RL_UNUSED const uint32_t *prefix, RL_UNUSED uint32_t sums[8]) {
    __asm__(
        ".syntax unified\n\t"
        "push {r4-r7, lr}\n\t"
        "mov r4, r8\n\t"
        "mov r5, r9\n\t"
        "mov r6, r10\n\t"
        "mov r7, r11\n\t"
        "push {r4-r7}\n\t"
        "sub sp, #36\n\t"
        "mov r5, r0\n\t"
        "mov r6, r1\n\t"
        "mov lr, r2\n\t"
        "str r3, [sp, #32]\n\t"
        "mov r7, sp\n\t"
        "ldmia r3!, {r0-r2, r4}\n\t"
        "stmia r7!, {r0-r2, r4}\n\t"
        "ldmia r3!, {r0-r2, r4}\n\t"
        "stmia r7!, {r0-r2, r4}\n\t"
        "movs r7, #255\n\t"
        "lsls r0, r7, #16\n\t"
        "orrs r7, r0\n\t"
        "mov r12, r7\n"

        "1:\n\t"
        "ldmia r5!, {r0, r1}\n\t"
        "cmp r0, #0\n\t"
        "bge 2f\n\t"
        "b 3f\n"
        "2:\n\t" /* a pair's sum starts from the difference of prefix sums, a word's from 257 times it */
        "mov r2, lr\n\t"
        "ldr r3, [r2]\n\t"
        "ldr r4, [r2, r1]\n\t"
        "add lr, r1\n\t"
        "subs r3, r3, r4\n\t"
        "lsls r4, r3, #8\n\t"
        "adds r4, r4, r3\n\t"
        "mov r8, r4\n\t"
        "mov r9, r3\n\t"
        "mov r10, r4\n\t"
        "mov r11, r3\n\t"
        "mov r7, r12\n\t"
        "movs r4, #0\n\t"
        "add pc, r0\n\t" /* into the run of taps, 30 bytes each, one instruction on */
        "nop\n\t"
        ".rept 10\n\t"
        "ldmia r5!, {r0, r1}\n\t"
        "ldrsb r3, [r6, r4]\n\t"
        "adds r6, #1\n\t"
        RL_WORD("r0", "r8", "r9")
        RL_WORD("r1", "r10", "r11")
        ".endr\n\t"
        "mov r7, sp\n\t"
        RL_FLUSH("r8", "r9")
        RL_FLUSH("r10", "r11")
        "b 1b\n"

        "3:\n\t"
        "mov r7, sp\n\t"
        "ldr r6, [sp, #32]\n\t"
        "ldmia r7!, {r0-r3}\n\t"
        "stmia r6!, {r0-r3}\n\t"
        "ldmia r7!, {r0-r3}\n\t"
        "stmia r6!, {r0-r3}\n\t"
        "mov r0, r5\n\t"
        "add sp, #36\n\t"
        "pop {r4-r7}\n\t"
        "mov r8, r4\n\t"
        "mov r9, r5\n\t"
        "mov r10, r6\n\t"
        "mov r11, r7\n\t"
        "pop {r4-r7, pc}");
}
/* clang-format on */

#else

static const uint32_t *dot(const uint32_t *w, const int8_t *x, const uint32_t *prefix,
                           uint32_t sums[8]) {
    while ((int32_t)w[0] >= 0) {
        const int32_t taps = (int32_t)w[1] / 4;
        w = rl_linear_pair_group(w + 2, x, taps, prefix[0] - prefix[taps], 0x8000u, sums);
        x += taps;
        prefix += taps;
    }
    return w + 2;
}

#endif

void rl_linear_s8_v6m_pair(const rl_linear_pair_params *p, const int8_t *x, const uint32_t *weights,
                           const rl_channel *channels, int8_t *y, void *scratch) {
    const rl_linear_pair_tier tier = {dot, rl_requantize_v6m, 0u};
    rl_linear_pair_rows(p, &tier, x, weights, channels, y, scratch);
}
