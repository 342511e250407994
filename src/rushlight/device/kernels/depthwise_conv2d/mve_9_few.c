/* depthwise_conv2d for MVE, nine taps, up to 8 channels: 96 instructions a pixel. Products are made in
 * 16-bit lanes; two always fit, as no two weights of a pair are -128 (the compiler looks), and each
 * pair of taps is widened into 32-bit sums. */
#include "depthwise_conv2d/runs.h"

/* Without optimisation there are no registers to spare. */
#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 1) && defined(__OPTIMIZE__)

#define RL_DW_WIDEN           \
    "vmovlb.s16 q6, q4\n\t"   \
    "vadd.i32 q0, q0, q6\n\t" \
    "vmovlt.s16 q6, q4\n\t"   \
    "vadd.i32 q1, q1, q6\n\t"
#define RL_DW_TAP(register, tap) "ldr " register ", [r12, #4*" #tap "]\n\tadd " register ", r1\n\t"
#define RL_DW_PAIR(a, b) \
    RL_DW_TAP("r0", a) RL_DW_TAP("r4", b)         \
    "vpstt\n\t"                                   \
    "vldrbt.s16 q2, [r0]\n\t"                     \
    "vldrbt.s16 q3, [r4]\n\t"                     \
    "vldrb.s16 q4, [r2], #8\n\t"                  \
    "vldrb.s16 q5, [r2], #8\n\t"                  \
    "vmul.i16 q4, q2, q4\n\t"                     \
    "vmul.i16 q5, q3, q5\n\t"                     \
    "vadd.i16 q4, q4, q5\n\t" RL_DW_WIDEN
#define RL_DW_SCALE(sum)         \
    "vldrw.32 q4, [r2], #16\n\t" \
    "vqdmulh.s32 " sum ", " sum  \
    ", q4\n\t"                   \
    "vldrw.32 q5, [r2], #16\n\t" \
    "vrshl.s32 " sum ", " sum ", q5\n\t"
static RL_DW_NOINLINE void run_pixels(rl_dw_run *run) {
    register rl_dw_run *args __asm__("r12") = run;
    __asm__ volatile(
        "ldr r3, [r12, #40]\n\t"
        "ldrd r4, lr, [r12, #48]\n\t" /* channels, pixels */
        "vctp.16 r4\n\t"
        "movs r1, #0\n\t"
        "dls lr, lr\n"
        "1:\n\t"
        "ldr r2, [r12, #36]\n\t"
        "vldrw.32 q0, [r2], #16\n\t"
        "vldrw.32 q1, [r2], #16\n\t" RL_DW_PAIR(0, 1) RL_DW_PAIR(2, 3) RL_DW_PAIR(4, 5)
            RL_DW_PAIR(6, 7) RL_DW_TAP("r0", 8)
        "vpst\n\t"
        "vldrbt.s16 q2, [r0]\n\t"
        "vldrb.s16 q4, [r2], #8\n\t"
        "vmul.i16 q4, q2, q4\n\t" RL_DW_WIDEN RL_DW_SCALE("q0") RL_DW_SCALE("q1")
        "vqmovnb.s32 q2, q0\n\t"
        "vqmovnt.s32 q2, q1\n\t"
        "ldrd r0, r4, [r12, #44]\n\t" /* zero point, channels */
        "vqadd.s16 q2, q2, r0\n\t"
        "vqmovnb.s16 q3, q2\n\t"
        "ldr r0, [r12, #56]\n\t"
        "vpst\n\t"
        "vstrbt.16 q3, [r3]\n\t"
        "add r3, r4\n\t"
        "add r1, r0\n\t"
        "le lr, 1b"
        :
        : "r"(args)
        : "r0", "r1", "r2", "r3", "r4", "lr", "q0", "q1", "q2", "q3", "q4", "q5", "q6", "cc", "memory");
}

#else

static void pixel(const rl_dw_run *run, int32_t at, const int8_t *stream, int8_t *y) {
    const rl_pred lanes = rl_vctp16q((uint32_t)run->channels);
    const int32_t *bias = (const int32_t *)(const void *)stream;
    rl_s32x4 s0 = rl_vldrwq_s32(bias), s1 = rl_vldrwq_s32(bias + 4);
    stream += 32;
    for (int32_t tap = 0; tap < RL_DW_NINE; tap++, stream += 8) {
        const rl_s16x8 product =
            rl_vmulq_s16(rl_vldrbq_z_s16(run->taps[tap] + at, lanes), rl_vldrbq_s16(stream));
        s0 = rl_vaddq_s32(s0, rl_vmovlbq_s16(product));
        s1 = rl_vaddq_s32(s1, rl_vmovltq_s16(product));
    }
    const int32_t *terms = (const int32_t *)(const void *)stream;
    s0 = rl_requantize_mve(s0, rl_vldrwq_s32(terms), rl_vldrwq_s32(terms + 4));
    s1 = rl_requantize_mve(s1, rl_vldrwq_s32(terms + 8), rl_vldrwq_s32(terms + 12));
    rl_s16x8 out = rl_vqmovntq_s32(rl_vqmovnbq_s32(rl_vdupq_n_s16(0), s0), s1);
    out = rl_vqaddq_n_s16(out, (int16_t)run->zero_point);
    out = rl_vmaxq_s16(rl_vminq_s16(out, rl_vdupq_n_s16(127)), rl_vdupq_n_s16(-128));
    rl_vstrbq_p_s16(y, out, lanes);
}

static void run_pixels(rl_dw_run *run) {
    for (int32_t i = 0; i < run->pixels; i++) {
        pixel(run, i * run->step, run->stream, run->y + i * run->channels);
    }
}

#endif

void rl_depthwise_conv2d_s8_mve_9_few(const rl_depthwise_conv2d_params *p, const int8_t *x,
                                      const int8_t *stream, int8_t *y, void *scratch) {
    rl_dw_runs(p, x, stream, y, scratch, run_pixels);
}
