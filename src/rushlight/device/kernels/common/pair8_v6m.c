/* The tile of 8 pixels x 1 channel for Armv6-M: 10 instructions for 8 products, and 31 to flush
 * after each group. Assembly, as compilers take thrice as many; the plain-C twin has the same name
 * and results. */
#include "common/pair_v6m.h"

#if defined(__thumb__)

/* clang-format off */
/* A tap of 4 words: r5 words, r6 weights less words, sums in r8-r11. */
#define RL_LOAD_TAP          \
    "ldrsb r4, [r6, r5]\n\t" \
    "ldmia r5!, {r0-r3}\n\t" \
    "muls r0, r4, r0\n\t"    \
    "muls r1, r4, r1\n\t"    \
    "muls r2, r4, r2\n\t"    \
    "muls r3, r4, r3\n\t"

/* high += (acc + 0x8000) >> 16: bit 15 is the last bit shifted out, and added as the carry. */
#define RL_ADD_HIGH(high, acc) \
    "mov r4, " acc "\n\t"      \
    "asrs r4, r4, #16\n\t"     \
    "adcs " high ", " high ", r4\n\t"

#define RL_CLAMP(u)              \
    "cmp " u ", r9\n\t"          \
    "bls 7f\n\t"                 \
    "asrs " u ", " u ", #31\n\t" \
    "mvns " u ", " u "\n\t"      \
    "mov r2, r9\n\t"             \
    "ands " u ", " u ", r2\n"    \
    "7:\n\t"

#define RL_STORE(u)              \
    "add " u ", r8\n\t"          \
    "lsrs " u ", " u ", #24\n\t" \
    "strb " u ", [r5]\n\t"       \
    "add r5, r10\n\t"

#define RL_PUT(u)               \
    RL_CLAMP(u)                 \
    "muls " u ", r4, " u "\n\t" \
    RL_STORE(u)

#define RL_PUT_LOW(u)           \
    RL_CLAMP(u)                 \
    "mov r7, " u "\n\t"         \
    "muls r7, r6, r7\n\t"       \
    "add r7, r11\n\t"           \
    "lsrs r7, r3\n\t"           \
    "muls " u ", r4, " u "\n\t" \
    "adds " u ", " u ", r7\n\t" \
    RL_STORE(u)

/* The sums of word j, into r0 and r1. */
#define RL_SUMS(total, high)       \
    "ldr r0, [sp, #" total "]\n\t" \
    "ldr r1, [sp, #" high "]\n\t"  \
    "lsls r2, r1, #16\n\t"         \
    "subs r0, r0, r2\n\t"

#define RL_PUT_ALL(put)                     \
    RL_SUMS("0", "16") put("r0") put("r1")  \
    RL_SUMS("4", "20") put("r0") put("r1")  \
    RL_SUMS("8", "24") put("r0") put("r1")  \
    RL_SUMS("12", "28") put("r0") put("r1")

/* Stack: 0 total of 4 words, 16 high of 4 words, 32 x, 36 weights less x, 40 channel, 44 y,
 * 48 channels left, 52 step, 56 channels left in the block, 60 from its end to the next block,
 * 64 channel_bytes. lr is the stream, r12 the end of the channel's. */
RL_NAKED const int8_t *rl_pair8_tile_v6m(RL_UNUSED const rl_pair_layer *t,
                                        RL_UNUSED const uint32_t *x, RL_UNUSED const int8_t *stream,
                                        RL_UNUSED const void *channels, RL_UNUSED int8_t *y) {
    __asm__(
        ".syntax unified\n\t"
        "push {r4-r7, lr}\n\t"
        "mov r4, r8\n\t"
        "mov r5, r9\n\t"
        "mov r6, r10\n\t"
        "mov r7, r11\n\t"
        "push {r4-r7}\n\t"
        "sub sp, #68\n\t"
        "str r1, [sp, #32]\n\t"
        "str r3, [sp, #40]\n\t"
        "mov lr, r2\n\t"
        "ldmia r0!, {r2-r7}\n\t"
        "str r2, [sp, #48]\n\t"
        "str r3, [sp, #52]\n\t"
        "subs r6, r6, r1\n\t"
        "str r6, [sp, #36]\n\t"
        "lsls r5, r5, #4\n\t"
        "subs r5, #16\n\t"
        "str r5, [sp, #60]\n\t"
        "str r7, [sp, #64]\n\t"
        "ldr r4, [sp, #104]\n\t"
        "str r4, [sp, #44]\n\t"
        "movs r4, #16\n\t"
        "str r4, [sp, #56]\n"

        "1:\n\t" /* channel: high = bias, total = bias * 65537 */
        "mov r7, sp\n\t"
        "ldr r4, [sp, #40]\n\t"
        "ldr r4, [r4]\n\t"
        "lsls r0, r4, #16\n\t"
        "adds r0, r0, r4\n\t"
        "mov r1, r0\n\t"
        "mov r2, r0\n\t"
        "mov r3, r0\n\t"
        "stmia r7!, {r0-r3}\n\t"
        "mov r0, r4\n\t"
        "mov r1, r4\n\t"
        "mov r2, r4\n\t"
        "mov r3, r4\n\t"
        "stmia r7!, {r0-r3}\n\t"
        "mov r0, lr\n\t"
        "ldrb r1, [r0]\n\t"
        "adds r0, #1\n\t"
        "mov lr, r0\n\t"
        "adds r0, r0, r1\n\t"
        "mov r12, r0\n\t"
        "mov r7, sp\n\t"
        "ldr r5, [sp, #32]\n\t"
        "ldr r6, [sp, #36]\n"

        "2:\n\t" /* group: the first tap sets the sums */
        RL_LOAD_TAP
        "mov r8, r0\n\t"
        "mov r9, r1\n\t"
        "mov r10, r2\n\t"
        "mov r11, r3\n\t"
        "mov r0, lr\n\t"
        "ldrb r1, [r0]\n\t"
        "adds r0, #1\n\t"
        "mov lr, r0\n\t"
        "add pc, r1\n\t" /* into the run of taps, 20 bytes each, one instruction on */
        "nop\n\t"
        ".rept 12\n\t"
        RL_LOAD_TAP
        "add r8, r0\n\t"
        "add r9, r1\n\t"
        "add r10, r2\n\t"
        "add r11, r3\n\t"
        ".endr\n\t"
        "ldmia r7!, {r0-r3}\n\t"
        "add r0, r8\n\t"
        "add r1, r9\n\t"
        "add r2, r10\n\t"
        "add r3, r11\n\t"
        "subs r7, #16\n\t"
        "stmia r7!, {r0-r3}\n\t"
        "ldmia r7!, {r0-r3}\n\t"
        RL_ADD_HIGH("r0", "r8")
        RL_ADD_HIGH("r1", "r9")
        RL_ADD_HIGH("r2", "r10")
        RL_ADD_HIGH("r3", "r11")
        "subs r7, #16\n\t"
        "stmia r7!, {r0-r3}\n\t"
        "subs r7, #32\n\t"
        "cmp lr, r12\n\t"
        "beq 3f\n\t"
        "b 2b\n"

        "3:\n\t"
        "ldr r7, [sp, #40]\n\t"
        "ldr r5, [sp, #44]\n\t"
        "ldr r0, [sp, #52]\n\t"
        "mov r10, r0\n\t"
        "ldr r4, [r7, #8]\n\t"
        "ldr r0, [r7, #12]\n\t"
        "mov r8, r0\n\t"
        "ldr r0, [r7, #4]\n\t"
        "lsls r0, r0, #1\n\t"
        "bcs 4f\n\t"
        "lsrs r0, r0, #1\n\t"
        "mov r9, r0\n\t"
        RL_PUT_ALL(RL_PUT)
        "b 5f\n"

        "4:\n\t" /* with a lower part */
        "lsrs r0, r0, #1\n\t"
        "mov r9, r0\n\t"
        "ldr r6, [r7, #16]\n\t"
        "ldr r0, [r7, #20]\n\t"
        "mov r11, r0\n\t"
        "ldr r3, [r7, #24]\n\t"
        RL_PUT_ALL(RL_PUT_LOW)

        "5:\n\t"
        "ldr r0, [sp, #40]\n\t"
        "ldr r1, [sp, #64]\n\t"
        "adds r0, r0, r1\n\t"
        "ldr r1, [sp, #44]\n\t"
        "adds r1, #1\n\t"
        "str r0, [sp, #40]\n\t"
        "str r1, [sp, #44]\n\t"
        "ldr r0, [sp, #36]\n\t"
        "adds r0, #1\n\t"
        "ldr r1, [sp, #56]\n\t"
        "subs r1, #1\n\t"
        "bne 6f\n\t"
        "movs r1, #16\n\t"
        "ldr r2, [sp, #60]\n\t"
        "adds r0, r0, r2\n"
        "6:\n\t"
        "str r1, [sp, #56]\n\t"
        "str r0, [sp, #36]\n\t"
        "ldr r0, [sp, #48]\n\t"
        "subs r0, #1\n\t"
        "str r0, [sp, #48]\n\t"
        "beq 7f\n\t"
        "b 1b\n"
        "7:\n\t"
        "mov r0, lr\n\t"
        "add sp, #68\n\t"
        "pop {r4-r7}\n\t"
        "mov r8, r4\n\t"
        "mov r9, r5\n\t"
        "mov r10, r6\n\t"
        "mov r11, r7\n\t"
        "pop {r4-r7, pc}");
}
/* clang-format on */

#else

const int8_t *rl_pair8_tile_v6m(const rl_pair_layer *t, const uint32_t *x, const int8_t *stream,
                                const void *channels, int8_t *y) {
    return rl_pair_tile_twin(t, x, stream, channels, y, 13, 20);
}

#endif
