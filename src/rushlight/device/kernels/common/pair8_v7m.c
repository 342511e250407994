/* The tile of 8 pixels x 1 channel for Armv7-M and Armv8-M mainline: 6 instructions for 8 products,
 * and 15 to flush after each group. Assembly, as both compilers spill here and take twice as many;
 * the plain-C twin has the same name and results. */
#include "common/pair_v7m.h"

#if defined(__thumb2__)

/* clang-format off */
#define RL_LOAD_TAP        \
    "ldm r9!, {r0-r3}\n\t" \
    "ldrsb r8, [r10], #1\n\t"

/* Requantises the sum in u; r9 multiplier << 16, r10 addend, r11 shift - 16. */
#define RL_PUT(u)                    \
    "smull r8, " u ", " u ", r9\n\t" \
    "add " u ", " u ", r10\n\t"      \
    "asr " u ", " u ", r11\n\t"      \
    "ssat " u ", #8, " u "\n\t"

/* Stack: 0 total of 4 words, 16 high of 4 words, 32 x, 36 channel, 40 y, 44 channels left, 48 step,
 * 52 zero_term, 56 stream. */
RL_NAKED const int8_t *rl_pair8_tile_v7m(RL_UNUSED const rl_pair_layer *t,
                                        RL_UNUSED const uint32_t *x, RL_UNUSED const int8_t *stream,
                                        RL_UNUSED const void *channels, RL_UNUSED int8_t *y) {
    __asm__(
        "push {r4-r11, lr}\n\t"
        "sub sp, #60\n\t"
        "strd r1, r3, [sp, #32]\n\t"
        "ldr r3, [sp, #96]\n\t"
        "ldm r0, {r4-r6}\n\t"
        "strd r3, r4, [sp, #40]\n\t"
        "strd r5, r6, [sp, #48]\n\t"
        "mov r10, r2\n"

        "1:\n\t" /* channel: high = bias, total = bias * 65537 - groups * 0x8000 */
        "ldr r1, [sp, #36]\n\t"
        "ldrd r8, r0, [r1]\n\t"
        "ldr r9, [sp, #32]\n\t"
        "lsr r0, r0, #24\n\t"
        "add r1, r8, r8, lsl #16\n\t"
        "sub r0, r1, r0, lsl #15\n\t"
        "mov r1, r0\n\t"
        "mov r2, r0\n\t"
        "mov r3, r0\n\t"
        "mov r11, r8\n\t"
        "mov r12, r8\n\t"
        "mov lr, r8\n\t"
        "stm sp, {r0-r3, r8, r11, r12, lr}\n\t"
        "ldrb r12, [r10], #1\n\t"
        "mov r11, #0x8000\n"

        "2:\n\t" /* group: the first tap adds to 0x8000, so that the shift rounds */
        RL_LOAD_TAP
        "mla r4, r0, r8, r11\n\t"
        "mla r5, r1, r8, r11\n\t"
        "mla r6, r2, r8, r11\n\t"
        "mla r7, r3, r8, r11\n\t"
        "tbb [pc, r12]\n\t" /* the other taps: into the run below, 12 halfwords a tap */
        ".byte 0, 9+180, 9+168, 9+156, 9+144, 9+132, 9+120, 9+108, 9+96\n\t"
        ".byte 9+84, 9+72, 9+60, 9+48, 9+36, 9+24, 9+12, 9, 0\n\t"
        ".rept 15\n\t"
        RL_LOAD_TAP
        "mla r4, r0, r8, r4\n\t"
        "mla r5, r1, r8, r5\n\t"
        "mla r6, r2, r8, r6\n\t"
        "mla r7, r3, r8, r7\n\t"
        ".endr\n\t"
        "ldm sp, {r0-r3, r8, r11, r12, lr}\n\t"
        "add r0, r0, r4\n\t"
        "add r1, r1, r5\n\t"
        "add r2, r2, r6\n\t"
        "add r3, r3, r7\n\t"
        "add r8, r8, r4, asr #16\n\t"
        "add r11, r11, r5, asr #16\n\t"
        "add r12, r12, r6, asr #16\n\t"
        "add lr, lr, r7, asr #16\n\t"
        "stm sp, {r0-r3, r8, r11, r12, lr}\n\t"
        "ldrb r12, [r10], #1\n\t"
        "mov r11, #0x8000\n\t"
        "cmp r12, #0\n\t"
        "bne 2b\n\t"

        "str r10, [sp, #56]\n\t"
        "ldm sp, {r0-r7}\n\t"
        "ldrd r8, r12, [sp, #36]\n\t"
        "ldr r9, [r8, #4]\n\t"
        "add r8, r8, #8\n\t"
        "add lr, r12, #1\n\t"
        "strd r8, lr, [sp, #36]\n\t"
        "ldrd lr, r10, [sp, #48]\n\t"
        "ubfx r11, r9, #16, #8\n\t"
        "lsl r9, r9, #16\n\t"
        "lsl r10, r10, r11\n\t"
        "add r11, r11, #1\n\t"
        "sub r0, r0, r4, lsl #16\n\t"
        "sub r1, r1, r5, lsl #16\n\t"
        "sub r2, r2, r6, lsl #16\n\t"
        "sub r3, r3, r7, lsl #16\n\t"
        RL_PUT("r0")
        "strb r0, [r12]\n\t"
        RL_PUT("r4")
        "strb r4, [r12, lr]\n\t"
        RL_PUT("r1")
        "strb r1, [r12, lr, lsl #1]\n\t"
        "add r12, r12, lr, lsl #1\n\t"
        RL_PUT("r5")
        "strb r5, [r12, lr]\n\t"
        RL_PUT("r2")
        "strb r2, [r12, lr, lsl #1]\n\t"
        "add r12, r12, lr, lsl #1\n\t"
        RL_PUT("r6")
        "strb r6, [r12, lr]\n\t"
        RL_PUT("r3")
        "strb r3, [r12, lr, lsl #1]\n\t"
        "add r12, r12, lr, lsl #1\n\t"
        RL_PUT("r7")
        "strb r7, [r12, lr]\n\t"
        "ldr r0, [sp, #44]\n\t"
        "ldr r10, [sp, #56]\n\t"
        "subs r0, r0, #1\n\t"
        "str r0, [sp, #44]\n\t"
        "bne 1b\n\t"
        "mov r0, r10\n\t"
        "add sp, #60\n\t"
        "pop {r4-r11, pc}");
}
/* clang-format on */

#else

const int8_t *rl_pair8_tile_v7m(const rl_pair_layer *t, const uint32_t *x, const int8_t *stream,
                                const void *channels, int8_t *y) {
    return rl_pair_tile_twin(t, x, stream, channels, y);
}

#endif
