/* depthwise_conv2d for MVE, nine taps, channels a multiple of 16: 119 instructions for 16 channels of a
 * pixel. Two products, or one, always fit a 16-bit lane, as no two weights of a pair are -128 (the
 * compiler looks); each pair of taps is widened into 32-bit sums. */
#include "depthwise_conv2d/runs.h"

/* Without optimisation there are no registers to spare. */
#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 1) && defined(__OPTIMIZE__)

/* A pair's first tap and second; x is read twice, as there is no ninth register. */
#define RL_DW_FIRST(tap)        \
    "vldrb.8 q6, [r" #tap       \
    "], #16\n\t"                \
    "vldrb.8 q7, [r9], #16\n\t" \
    "vmullb.s8 q4, q6, q7\n\t"  \
    "vmullt.s8 q5, q6, q7\n\t"
#define RL_DW_SECOND(tap)       \
    "vldrb.8 q6, [r" #tap       \
    "]\n\t"                     \
    "vldrb.8 q7, [r9], #16\n\t" \
    "vmullb.s8 q6, q6, q7\n\t"  \
    "vadd.i16 q4, q4, q6\n\t"   \
    "vldrb.8 q6, [r" #tap       \
    "], #16\n\t"                \
    "vmullt.s8 q6, q6, q7\n\t"  \
    "vadd.i16 q5, q5, q6\n\t"
#define RL_DW_WIDEN           \
    "vmovlb.s16 q6, q4\n\t"   \
    "vadd.i32 q0, q0, q6\n\t" \
    "vmovlt.s16 q7, q4\n\t"   \
    "vadd.i32 q1, q1, q7\n\t" \
    "vmovlb.s16 q6, q5\n\t"   \
    "vadd.i32 q2, q2, q6\n\t" \
    "vmovlt.s16 q7, q5\n\t"   \
    "vadd.i32 q3, q3, q7\n\t"
#define RL_DW_PAIR(a, b) RL_DW_FIRST(a) RL_DW_SECOND(b) RL_DW_WIDEN
#define RL_DW_SCALE(sum)         \
    "vldrw.32 q4, [r9], #16\n\t" \
    "vqdmulh.s32 " sum ", " sum  \
    ", q4\n\t"                   \
    "vldrw.32 q5, [r9], #16\n\t" \
    "vrshl.s32 " sum ", " sum ", q5\n\t"
#define RL_DW_ON(tap) "add r" #tap ", r" #tap ", r9\n\t"

static RL_DW_NOINLINE void run_pixels(rl_dw_run *run) {
    register rl_dw_run *args __asm__("r12") = run;
    /* r7 may be a frame pointer, so it is no clobber. */
    __asm__ volatile(
        "push {r7}\n\t"
        "ldr r10, [r12, #40]\n\t"
        "ldr r11, [r12, #44]\n\t"
        "ldm r12, {r0-r8}\n"
        "1:\n\t"
        "ldr r9, [r12, #36]\n\t"
        "ldr lr, [r12, #48]\n\t"
        "lsr lr, lr, #4\n\t"
        "dls lr, lr\n"
        "2:\n\t"
        "vldrw.32 q0, [r9], #16\n\t"
        "vldrw.32 q1, [r9], #16\n\t"
        "vldrw.32 q2, [r9], #16\n\t"
        "vldrw.32 q3, [r9], #16\n\t" RL_DW_PAIR(0, 1) RL_DW_PAIR(2, 3) RL_DW_PAIR(4, 5)
            RL_DW_PAIR(6, 7) RL_DW_FIRST(8) RL_DW_WIDEN RL_DW_SCALE("q0") RL_DW_SCALE("q1")
                RL_DW_SCALE("q2") RL_DW_SCALE("q3")
        "vqmovnb.s32 q4, q0\n\t"
        "vqmovnt.s32 q4, q1\n\t"
        "vqmovnb.s32 q5, q2\n\t"
        "vqmovnt.s32 q5, q3\n\t"
        "vqadd.s16 q4, q4, r11\n\t"
        "vqadd.s16 q5, q5, r11\n\t"
        "vqmovnb.s16 q6, q4\n\t"
        "vqmovnt.s16 q6, q5\n\t"
        "vstrb.8 q6, [r10], #16\n\t"
        "le lr, 2b\n\t"
        "ldrd r9, lr, [r12, #48]\n\t" /* channels, pixels */
        "subs lr, lr, #1\n\t"
        "str lr, [r12, #52]\n\t"
        "beq 3f\n\t"
        "ldr lr, [r12, #56]\n\t"
        "subs r9, lr, r9\n\t" /* windows further apart than a pixel */
        "beq 1b\n\t" RL_DW_ON(0) RL_DW_ON(1) RL_DW_ON(2) RL_DW_ON(3) RL_DW_ON(4) RL_DW_ON(5)
            RL_DW_ON(6) RL_DW_ON(7) RL_DW_ON(8) "b 1b\n"
        "3:\n\t"
        "pop {r7}"
        :
        : "r"(args)
        : "r0", "r1", "r2", "r3", "r4", "r5", "r6", "r8", "r9", "r10", "r11", "lr", "q0", "q1",
          "q2", "q3", "q4", "q5", "q6", "q7", "cc", "memory");
}

#else

/* One block of 16 channels; returns where the stream goes on. */
static const int8_t *block(const rl_dw_run *run, int32_t at, const int8_t *stream, int8_t *y) {
    rl_s32x4 sums[4];
    for (int32_t i = 0; i < 4; i++, stream += 16) {
        sums[i] = rl_vldrwq_s32((const int32_t *)(const void *)stream);
    }
    for (int32_t tap = 0; tap < RL_DW_NINE; tap += 2) {
        rl_s8x16 x = rl_vldrbq_s8(run->taps[tap] + at), weight = rl_vldrbq_s8(stream);
        rl_s16x8 even = rl_vmullbq_int_s8(x, weight), odd = rl_vmulltq_int_s8(x, weight);
        stream += 16;
        if (tap + 1 < RL_DW_NINE) {
            x = rl_vldrbq_s8(run->taps[tap + 1] + at);
            weight = rl_vldrbq_s8(stream);
            even = rl_vaddq_s16(even, rl_vmullbq_int_s8(x, weight));
            odd = rl_vaddq_s16(odd, rl_vmulltq_int_s8(x, weight));
            stream += 16;
        }
        sums[0] = rl_vaddq_s32(sums[0], rl_vmovlbq_s16(even));
        sums[1] = rl_vaddq_s32(sums[1], rl_vmovltq_s16(even));
        sums[2] = rl_vaddq_s32(sums[2], rl_vmovlbq_s16(odd));
        sums[3] = rl_vaddq_s32(sums[3], rl_vmovltq_s16(odd));
    }
    for (int32_t i = 0; i < 4; i++, stream += 32) {
        const int32_t *terms = (const int32_t *)(const void *)stream;
        sums[i] = rl_requantize_mve(sums[i], rl_vldrwq_s32(terms), rl_vldrwq_s32(terms + 4));
    }
    rl_s16x8 even = rl_vqmovnbq_s32(rl_vdupq_n_s16(0), sums[0]);
    rl_s16x8 odd = rl_vqmovnbq_s32(rl_vdupq_n_s16(0), sums[2]);
    even = rl_vqaddq_n_s16(rl_vqmovntq_s32(even, sums[1]), (int16_t)run->zero_point);
    odd = rl_vqaddq_n_s16(rl_vqmovntq_s32(odd, sums[3]), (int16_t)run->zero_point);
    const rl_s8x16 out = rl_vqmovnbq_s16(rl_vdupq_n_s8(0), even);
    rl_vstrbq_s8(y, rl_vqmovntq_s16(out, odd));
    return stream;
}

static void run_pixels(rl_dw_run *run) {
    for (int32_t pixel = 0; pixel < run->pixels; pixel++) {
        const int8_t *stream = run->stream;
        for (int32_t c = 0; c < run->channels; c += 16) {
            stream = block(run, pixel * run->step + c, stream, run->y + c);
        }
        run->y += run->channels;
    }
}

#endif

void rl_depthwise_conv2d_s8_mve_9(const rl_depthwise_conv2d_params *p, const int8_t *x,
                                  const int8_t *stream, int8_t *y, void *scratch) {
    rl_dw_runs(p, x, stream, y, scratch, run_pixels);
}
