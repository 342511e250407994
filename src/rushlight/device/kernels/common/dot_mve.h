/* The loops of the MVE matrix tiles, over blocks of output channels: sums of products of rows of
 * bytes, 16 taps (a step) at a time, then requantisation and stores.
 *
 * Rows lie at any alignment; weights are filled up with zeros to whole steps and packed in the order
 * of reading, so that one pointer passes over them once. A block is computed in two passes, the
 * first through the rows from their first step to their last, the second back, so that the rows'
 * pointers need not be set back either. A pass is a loop of four steps that is entered behind those
 * that are too many in its first turn.
 *
 * Assembly, as no compiler makes such loops; VMLADAVA's sum sits in an even register (constraint
 * Te). The plain-C twins have the same names and results. */
#ifndef RUSHLIGHT_KERNELS_COMMON_DOT_MVE_H
#define RUSHLIGHT_KERNELS_COMMON_DOT_MVE_H

#include <stdint.h>

#include "common/simd_mve.h"
#include "common/tile.h"

enum { RL_STEP = 16 };

/* depth, filled up to whole steps. */
static inline int32_t rl_whole_steps(int32_t depth) {
    return (depth + RL_STEP - 1) & -RL_STEP;
}

typedef struct rl_turns {
    int32_t count;
    int32_t skip; /* bytes of code */
} rl_turns;

/* Zero point and clamp in all lanes: of a block of 2 rows x 4 channels, of 1 row x 8. */
typedef struct rl_fit_2x4 {
    rl_s32x4 zero_point, low, high;
} rl_fit_2x4;
typedef struct rl_fit_1x8 {
    rl_s16x8 zero_point, low, high;
} rl_fit_1x8;

/* Without optimisation there are no registers to spare. */
#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 1) && defined(__OPTIMIZE__)

/* steps may be 0: then the loop's LE (4 bytes) is skipped too. A step is step_bytes of code; ADD PC
 * counts from two bytes behind its own end. */
static inline rl_turns rl_turns_of(int32_t steps, int32_t step_bytes) {
    const int32_t count = (steps + 3) / 4;
    const int32_t skip = steps > 0 ? (4 * count - steps) * step_bytes : 4 * step_bytes + 4;
    const rl_turns turns = {count, skip - 2};
    return turns;
}

/* clang-format off */
#define RL_TURNS(step)           \
    "ldr lr, [sp]\n\t"            \
    "add pc, %[skip]\n"          \
    "1:\n\t" step step step step \
    "le lr, 1b\n\t"

/* 2 rows and 2 channels: 8 instructions for 64 products. Sums: r4 and r6 of row 0, r8 and
 * r10 of row 1. */
#define RL_STEP_2X2(mac, from0, from1) \
    "vldrb.8 q0, " from0 "\n\t"        \
    "vldrb.8 q1, [r0], #16\n\t"         \
    mac " r4, q0, q1\n\t"          \
    "vldrb.8 q2, " from1 "\n\t"        \
    mac " r8, q2, q1\n\t"          \
    "vldrb.8 q1, [r0], #16\n\t"         \
    mac " r6, q0, q1\n\t"          \
    mac " r10, q2, q1\n\t"
/* The first step, which sets the sums, is apart from the turns. */
#define RL_PASS_2X2(from0, from1)             \
    RL_STEP_2X2("vmladav.s8", from0, from1)   \
    RL_TURNS(RL_STEP_2X2("vmladava.s8", from0, from1))

/* The same for both rows. */
#define RL_BOTH(instruction, operands) \
    instruction " %q[v0], %q[v0], " operands "\n\t" instruction " %q[v1], %q[v1], " operands "\n\t"

/* Goes through the loop at 2 once more if back, on the stack, is not 0. */
#define RL_LAST_BLOCK(move)  \
    "ldr r4, [sp, #4]\n\t"   \
    "cbz r4, 4f\n\t"         \
    "str r11, [sp, #4]\n\t"  \
    "add r1, r4\n\t" move    \
    "mov r11, #1\n\t"        \
    "b 2b\n"                 \
    "4:\n\t"                 \
    "add sp, #8"

/* Two rows with blocks >= 1 of four channels and, if back is not 0, one more whose outputs begin
 * `back` (negative) from where the last ones end. */
static inline void rl_blocks_2x4(const rl_fit_2x4 *fit, rl_turns turns, int32_t blocks, int32_t back,
                                 const int8_t *x0, const int8_t *x1, const int8_t *w,
                                 const rl_channels_mve *c, int8_t *y0, int8_t *y1) {
    /* All registers there are but r7, which may hold the frame; narrow stores need low ones. The
     * turns' count and back are on the stack. */
    const int32_t count = turns.count, skip = turns.skip;
    register const int8_t *r0 __asm__("r0") = w;
    register int8_t *r1 __asm__("r1") = y0;
    register const rl_channels_mve *r2 __asm__("r2") = c;
    register int8_t *r3 __asm__("r3") = y1;
    register int32_t r4 __asm__("r4") = count;
    register const int8_t *r5 __asm__("r5") = x0;
    register int32_t r6 __asm__("r6") = back;
    register const int8_t *r9 __asm__("r9") = x1;
    register int32_t r11 __asm__("r11") = blocks;
    register int32_t r12 __asm__("r12") = skip;
    rl_s32x4 v0, v1;
    __asm__ volatile(
        "push {r4, r6}\n"
        "2:\n\t"
        RL_PASS_2X2("[r5], #16", "[r9], #16")
        "vmov %q[v0][2], %q[v0][0], r4, r6\n\t"
        "vmov %q[v1][2], %q[v1][0], r8, r10\n\t"
        RL_PASS_2X2("[r5, #-16]!", "[r9, #-16]!")
        "vldrw.32 q0, [r2], #16\n\t"
        "vmov %q[v0][3], %q[v0][1], r4, r6\n\t"
        "vmov %q[v1][3], %q[v1][1], r8, r10\n\t"
        RL_BOTH("vadd.i32", "q0")
        "vldrw.32 q1, [r2], #16\n\t"
        RL_BOTH("vqdmulh.s32", "q1")
        "vldrw.32 q2, [r2], #16\n\t"
        RL_BOTH("vrshl.s32", "q2")
        RL_BOTH("vadd.i32", "%q[zero_point]")
        RL_BOTH("vmax.s32", "%q[low]")
        RL_BOTH("vmin.s32", "%q[high]")
        "subs r11, #1\n\t"
        "vstrb.32 %q[v0], [r1], #4\n\t"
        "vstrb.32 %q[v1], [r3], #4\n\t"
        "bne 2b\n\t"
        RL_LAST_BLOCK("add r3, r4\n\t")
        : "+r"(r0), "+r"(r1), "+r"(r2), "+r"(r3), "+r"(r4), "+r"(r5), "+r"(r6), "+r"(r9),
          "+r"(r11), [v0] "=&w"(v0), [v1] "=&w"(v1)
        : [skip] "r"(r12), [zero_point] "w"(fit->zero_point), [low] "w"(fit->low),
          [high] "w"(fit->high)
        : "r8", "r10", "q0", "q1", "q2", "lr", "cc", "memory");
}

/* 1 row and 4 channels: 9 instructions for 64 products. Sums: r4, r6, r8, r10. */
#define RL_STEP_1X4(from)        \
    "vldrb.8 q0, " from "\n\t"   \
    "vldrb.8 q1, [r0], #16\n\t"  \
    "vmladava.s8 r4, q0, q1\n\t" \
    "vldrb.8 q2, [r0], #16\n\t"  \
    "vmladava.s8 r6, q0, q2\n\t" \
    "vldrb.8 q1, [r0], #16\n\t"  \
    "vmladava.s8 r8, q0, q1\n\t" \
    "vldrb.8 q2, [r0], #16\n\t"  \
    "vmladava.s8 r10, q0, q2\n\t"
#define RL_PASS_1X4(v, from)               \
    "ldrd r4, r6, [r2], #8\n\t"            \
    "ldrd r8, r10, [r2], #8\n\t"           \
    RL_TURNS(RL_STEP_1X4(from))            \
    "vldrw.32 q1, [r2], #16\n\t"           \
    "vmov " v "[2], " v "[0], r4, r8\n\t"  \
    "vmov " v "[3], " v "[1], r6, r10\n\t" \
    "vldrw.32 q2, [r2], #16\n\t"           \
    "vqdmulh.s32 " v ", " v ", q1\n\t"     \
    "vrshl.s32 " v ", " v ", q2\n\t"

/* One row with blocks >= 1 of eight channels, its even ones in the first pass, and one more as
 * above. half: there is just the first pass. */
static inline void rl_blocks_1x8(const rl_fit_1x8 *fit, rl_turns turns, int32_t blocks, int32_t back,
                                 int32_t half, const int8_t *x, const int8_t *w,
                                 const rl_channels_mve *c, int8_t *y) {
    const int32_t count = turns.count;
    register const int8_t *r0 __asm__("r0") = w;
    register int8_t *r1 __asm__("r1") = y;
    register const rl_channels_mve *r2 __asm__("r2") = c;
    register int32_t r3 __asm__("r3") = half;
    register int32_t r4 __asm__("r4") = count;
    register const int8_t *r5 __asm__("r5") = x;
    register int32_t r6 __asm__("r6") = back;
    register int32_t r11 __asm__("r11") = blocks;
    rl_s32x4 v0, v1;
    __asm__ volatile(
        "push {r4, r6}\n"
        "2:\n\t"
        RL_PASS_1X4("%q[v0]", "[r5], #16")
        "vqmovnb.s32 %q[v0], %q[v0]\n\t"
        "cmp r3, #0\n\t"
        "bne 3f\n\t"
        RL_PASS_1X4("%q[v1]", "[r5, #-16]!")
        "vqmovnt.s32 %q[v0], %q[v1]\n"
        "3:\n\t"
        "vqadd.s16 %q[v0], %q[v0], %q[zero_point]\n\t"
        "vmax.s16 %q[v0], %q[v0], %q[low]\n\t"
        "vmin.s16 %q[v0], %q[v0], %q[high]\n\t"
        "subs r11, #1\n\t"
        "vstrb.16 %q[v0], [r1], #8\n\t"
        "bne 2b\n\t"
        RL_LAST_BLOCK("")
        : "+r"(r0), "+r"(r1), "+r"(r2), "+r"(r4), "+r"(r5), "+r"(r6), "+r"(r11), [v0] "=&w"(v0),
          [v1] "=&w"(v1)
        : "r"(r3), [skip] "r"(turns.skip), [zero_point] "w"(fit->zero_point), [low] "w"(fit->low),
          [high] "w"(fit->high)
        : "r8", "r10", "q0", "q1", "q2", "lr", "cc", "memory");
}
/* clang-format on */

static inline rl_turns rl_turns_2x4(int32_t depth) {
    return rl_turns_of(rl_whole_steps(depth) / RL_STEP - 1, 32);
}
static inline rl_turns rl_turns_1x8(int32_t depth) {
    return rl_turns_of(rl_whole_steps(depth) / RL_STEP, 36);
}

#undef RL_TURNS
#undef RL_STEP_2X2
#undef RL_PASS_2X2
#undef RL_BOTH
#undef RL_LAST_BLOCK
#undef RL_STEP_1X4
#undef RL_PASS_1X4

#else
#include "common/dot_mve_twin.h"
#endif

#endif
