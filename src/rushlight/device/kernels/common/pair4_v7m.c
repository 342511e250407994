/* The tile of 4 pixels x 1 channel for Armv7-M and Armv8-M mainline: 4 instructions for 4 products,
 * and 8 to flush after each group, as all sums are in registers. */
#include "common/pair_v7m.h"

#if defined(__thumb2__)

/* clang-format off */
#define RL_LOAD_TAP           \
    "ldrd r0, r1, [r9], #8\n\t" \
    "ldrsb r8, [r10], #1\n\t"

/* Requantises the sum in u; r9 multiplier << 16, r12 addend, lr shift - 16. */
#define RL_PUT(u)                    \
    "smull r8, " u ", " u ", r9\n\t" \
    "add " u ", " u ", r12\n\t"      \
    "asr " u ", " u ", lr\n\t"      \
    "ssat " u ", #8, " u "\n\t"

/* Stack: 0 x, 4 channel, 8 y, 12 channels left, 16 step, 20 zero_term. r2, r3 high and r6, r7 total
 * of the words, r9 x, r10 stream, r12 the group's length. */
RL_NAKED const int8_t *rl_pair4_tile_v7m(RL_UNUSED const rl_pair_layer *t,
                                         RL_UNUSED const uint32_t *x,
                                         RL_UNUSED const int8_t *stream,
                                         RL_UNUSED const void *channels, RL_UNUSED int8_t *y) {
    __asm__(
        "push {r4-r11, lr}\n\t"
        "sub sp, #28\n\t"
        "strd r1, r3, [sp]\n\t"
        "ldr r3, [sp, #64]\n\t"
        "ldm r0, {r4-r6}\n\t"
        "strd r3, r4, [sp, #8]\n\t"
        "strd r5, r6, [sp, #16]\n\t"
        "mov r10, r2\n\t"
        "mov r11, #0x8000\n\t"
        "1:\n\t" /* channel: high = bias, total = bias * 65537 - groups * 0x8000 */
        "ldrd r9, r1, [sp]\n\t"
        "ldrd r2, r0, [r1]\n\t"
        "lsr r0, r0, #24\n\t"
        "add r6, r2, r2, lsl #16\n\t"
        "sub r6, r6, r0, lsl #15\n\t"
        "mov r7, r6\n\t"
        "mov r3, r2\n\t"
        "ldrb r12, [r10], #1\n\t"
        "2:\n\t" /* group: the first tap adds to 0x8000, so that the shift rounds */
        RL_LOAD_TAP
        "mla r4, r0, r8, r11\n\t"
        "mla r5, r1, r8, r11\n\t"
        "tbb [pc, r12]\n\t" /* the other taps: into the run below, 8 halfwords a tap */
        ".byte 0, 9+120, 9+112, 9+104, 9+96, 9+88, 9+80, 9+72, 9+64\n\t"
        ".byte 9+56, 9+48, 9+40, 9+32, 9+24, 9+16, 9+8, 9, 0\n\t"
        ".rept 15\n\t"
        RL_LOAD_TAP
        "mla r4, r0, r8, r4\n\t"
        "mla r5, r1, r8, r5\n\t"
        ".endr\n\t"
        "add r6, r6, r4\n\t"
        "add r7, r7, r5\n\t"
        "add r2, r2, r4, asr #16\n\t"
        "add r3, r3, r5, asr #16\n\t"
        "ldrb r12, [r10], #1\n\t"
        "cmp r12, #0\n\t"
        "bne 2b\n\t"
        "sub r6, r6, r2, lsl #16\n\t"
        "sub r7, r7, r3, lsl #16\n\t"
        "ldrd r4, r0, [sp, #4]\n\t"
        "ldr r9, [r4, #4]\n\t"
        "add r4, r4, #8\n\t"
        "add r5, r0, #1\n\t"
        "strd r4, r5, [sp, #4]\n\t"
        "ldrd r1, r12, [sp, #16]\n\t"
        "ubfx lr, r9, #16, #8\n\t"
        "lsl r9, r9, #16\n\t"
        "lsl r12, r12, lr\n\t"
        "add lr, lr, #1\n\t"
        RL_PUT("r6")
        "strb r6, [r0]\n\t"
        RL_PUT("r2")
        "strb r2, [r0, r1]\n\t"
        RL_PUT("r7")
        "strb r7, [r0, r1, lsl #1]\n\t"
        "add r0, r0, r1, lsl #1\n\t"
        RL_PUT("r3")
        "strb r3, [r0, r1]\n\t"
        "ldr r0, [sp, #12]\n\t"
        "subs r0, r0, #1\n\t"
        "str r0, [sp, #12]\n\t"
        "bne 1b\n\t"
        "mov r0, r10\n\t"
        "add sp, #28\n\t"
        "pop {r4-r11, pc}");
}
/* clang-format on */

#else

const int8_t *rl_pair4_tile_v7m(const rl_pair_layer *t, const uint32_t *x, const int8_t *stream,
                                const void *channels, int8_t *y) {
    return rl_pair_tile_twin(t, x, stream, channels, y);
}

#endif
