/* The tile of 4 pixels x 1 channel for Armv6-M: 6 instructions for 4 products, and 13 to flush after
 * each group, as all sums are in registers. */
#include "common/pair_v6m.h"

#if defined(__thumb__)

/* clang-format off */
/* A tap of 2 words: r5 words, r6 weights less words, sums in r8 and r9. */
#define RL_LOAD_TAP          \
    "ldrsb r4, [r6, r5]\n\t" \
    "ldmia r5!, {r0, r1}\n\t" \
    "muls r0, r4, r0\n\t"    \
    "muls r1, r4, r1\n\t"

/* high += (acc + 0x8000) >> 16: bit 15 is the last bit shifted out, and added as the carry. */
#define RL_ADD_HIGH(high, acc) \
    "mov r4, " acc "\n\t"      \
    "asrs r4, r4, #16\n\t"     \
    "adcs " high ", " high ", r4\n\t"

#define RL_CLAMP(u, free)        \
    "cmp " u ", r9\n\t"          \
    "bls 7f\n\t"                 \
    "asrs " u ", " u ", #31\n\t" \
    "mvns " u ", " u "\n\t"      \
    "mov " free ", r9\n\t"       \
    "ands " u ", " free "\n"     \
    "7:\n\t"

#define RL_STORE(u)              \
    "add " u ", r8\n\t"          \
    "lsrs " u ", " u ", #24\n\t" \
    "strb " u ", [r5]\n\t"       \
    "add r5, r10\n\t"

#define RL_PUT(u)               \
    RL_CLAMP(u, "r6")           \
    "muls " u ", r4, " u "\n\t" \
    RL_STORE(u)

/* The same with a lower part; the temporary register is r7, as r6 is in use. */
#define RL_PUT_LOW(u)           \
    RL_CLAMP(u, "r7")           \
    "mov r7, " u "\n\t"         \
    "muls r7, r6, r7\n\t"       \
    "add r7, r11\n\t"           \
    "lsrs r7, r3\n\t"           \
    "muls " u ", r4, " u "\n\t" \
    "adds " u ", " u ", r7\n\t" \
    RL_STORE(u)

/* Stack: 0 three sums, 16 x, 20 weights less x, 24 channel, 28 y, 32 channels left, 36 step, 40
 * channels left in the block, 44 from its end to the next block, 48 channel_bytes. r2, r3 high and
 * r10, r11 total of the words, r7 stream, r12 the end of the channel's. */
RL_NAKED const int8_t *rl_pair4_tile_v6m(RL_UNUSED const rl_pair_layer *t,
                                         RL_UNUSED const uint32_t *x,
                                         RL_UNUSED const int8_t *stream,
                                         RL_UNUSED const void *channels, RL_UNUSED int8_t *y) {
    __asm__(
        ".syntax unified\n\t"
        "push {r4-r7, lr}\n\t"
        "mov r4, r8\n\t"
        "mov r5, r9\n\t"
        "mov r6, r10\n\t"
        "mov r7, r11\n\t"
        "push {r4-r7}\n\t"
        "sub sp, #52\n\t"
        "str r1, [sp, #16]\n\t"
        "str r3, [sp, #24]\n\t"
        "mov lr, r2\n\t"
        "ldmia r0!, {r2-r7}\n\t"
        "str r2, [sp, #32]\n\t"
        "str r3, [sp, #36]\n\t"
        "subs r6, r6, r1\n\t"
        "str r6, [sp, #20]\n\t"
        "lsls r5, r5, #3\n\t"
        "subs r5, #8\n\t"
        "str r5, [sp, #44]\n\t"
        "str r7, [sp, #48]\n\t"
        "ldr r4, [sp, #88]\n\t"
        "str r4, [sp, #28]\n\t"
        "movs r4, #8\n\t"
        "str r4, [sp, #40]\n\t"
        "mov r7, lr\n\t"
        "1:\n\t" /* channel: high = bias, total = bias * 65537 */
        "ldr r4, [sp, #24]\n\t"
        "ldr r2, [r4]\n\t"
        "mov r3, r2\n\t"
        "lsls r0, r2, #16\n\t"
        "adds r0, r0, r2\n\t"
        "mov r10, r0\n\t"
        "mov r11, r0\n\t"
        "ldrb r0, [r7]\n\t"
        "adds r7, #1\n\t"
        "adds r0, r0, r7\n\t"
        "mov r12, r0\n\t"
        "ldr r5, [sp, #16]\n\t"
        "ldr r6, [sp, #20]\n\t"
        "2:\n\t" /* group: the first tap sets the sums */
        RL_LOAD_TAP
        "mov r8, r0\n\t"
        "mov r9, r1\n\t"
        "ldrb r0, [r7]\n\t"
        "adds r7, #1\n\t"
        "add pc, r0\n\t" /* into the run of taps, 12 bytes each, one instruction on */
        "nop\n\t"
        ".rept 15\n\t"
        RL_LOAD_TAP
        "add r8, r0\n\t"
        "add r9, r1\n\t"
        ".endr\n\t"
        "add r10, r8\n\t"
        "add r11, r9\n\t"
        RL_ADD_HIGH("r2", "r8")
        RL_ADD_HIGH("r3", "r9")
        "cmp r7, r12\n\t"
        "bne 2b\n\t"
        "mov r0, r10\n\t"
        "lsls r1, r2, #16\n\t"
        "subs r0, r0, r1\n\t"
        "mov r1, r11\n\t"
        "lsls r4, r3, #16\n\t"
        "subs r1, r1, r4\n\t"
        "mov lr, r7\n\t"
        "ldr r7, [sp, #24]\n\t"
        "ldr r5, [sp, #28]\n\t"
        "ldr r6, [sp, #36]\n\t"
        "mov r10, r6\n\t"
        "ldr r4, [r7, #8]\n\t"
        "ldr r6, [r7, #12]\n\t"
        "mov r8, r6\n\t"
        "ldr r6, [r7, #4]\n\t"
        "lsls r6, r6, #1\n\t"
        "bcs 4f\n\t"
        "lsrs r6, r6, #1\n\t"
        "mov r9, r6\n\t"
        RL_PUT("r0")
        RL_PUT("r2")
        RL_PUT("r1")
        RL_PUT("r3")
        "b 5f\n"
        "4:\n\t" /* with a lower part */
        "lsrs r6, r6, #1\n\t"
        "mov r9, r6\n\t"
        "str r1, [sp]\n\t"
        "str r2, [sp, #4]\n\t"
        "str r3, [sp, #8]\n\t"
        "ldr r6, [r7, #16]\n\t"
        "ldr r3, [r7, #20]\n\t"
        "mov r11, r3\n\t"
        "ldr r3, [r7, #24]\n\t"
        RL_PUT_LOW("r0")
        "ldr r0, [sp, #4]\n\t"
        RL_PUT_LOW("r0")
        "ldr r0, [sp]\n\t"
        RL_PUT_LOW("r0")
        "ldr r0, [sp, #8]\n\t"
        RL_PUT_LOW("r0")
        "5:\n\t"
        "mov r7, lr\n\t"
        "ldr r0, [sp, #24]\n\t"
        "ldr r1, [sp, #48]\n\t"
        "adds r0, r0, r1\n\t"
        "ldr r1, [sp, #28]\n\t"
        "adds r1, #1\n\t"
        "str r0, [sp, #24]\n\t"
        "str r1, [sp, #28]\n\t"
        "ldr r0, [sp, #20]\n\t"
        "adds r0, #1\n\t"
        "ldr r1, [sp, #40]\n\t"
        "subs r1, #1\n\t"
        "bne 6f\n\t"
        "movs r1, #8\n\t"
        "ldr r2, [sp, #44]\n\t"
        "adds r0, r0, r2\n"
        "6:\n\t"
        "str r1, [sp, #40]\n\t"
        "str r0, [sp, #20]\n\t"
        "ldr r0, [sp, #32]\n\t"
        "subs r0, #1\n\t"
        "str r0, [sp, #32]\n\t"
        "beq 7f\n\t"
        "b 1b\n"
        "7:\n\t"
        "mov r0, r7\n\t"
        "add sp, #52\n\t"
        "pop {r4-r7}\n\t"
        "mov r8, r4\n\t"
        "mov r9, r5\n\t"
        "mov r10, r6\n\t"
        "mov r11, r7\n\t"
        "pop {r4-r7, pc}");
}
/* clang-format on */

#else

const int8_t *rl_pair4_tile_v6m(const rl_pair_layer *t, const uint32_t *x, const int8_t *stream,
                                const void *channels, int8_t *y) {
    return rl_pair_tile_twin(t, x, stream, channels, y, 16, 12);
}

#endif
