/* Runs every helper of simd_mve.h on one sample and writes all results as bytes: built for a Helium
 * core and for the host, the bytes must be the same. In: four vectors of 16 bytes and a count. */
#include "mve_twins.h"

#include <string.h>

#include "common/simd_mve.h"

static int8_t *out;

static void s8(rl_s8x16 v) {
    rl_vstrbq_s8(out, v);
    out += 16;
}
static void u8(rl_u8x16 v) {
    s8(rl_vreinterpretq_s8_u8(v));
}
static void s16(rl_s16x8 v) {
    s8(rl_vreinterpretq_s8_s16(v));
}
static void s32(rl_s32x4 v) {
    s16(rl_vreinterpretq_s16_s32(v));
}
static void word(int32_t v) {
    memcpy(out, &v, 4);
    out += 4;
}

static void loads(const int8_t *b, const int16_t *h, const int32_t *w, rl_pred m8, rl_pred m16,
                  rl_pred m32) {
    s8(rl_vldrbq_s8(b));
    u8(rl_vldrbq_u8((const uint8_t *)b));
    s16(rl_vldrbq_s16(b));
    s32(rl_vldrbq_s32(b));
    s16(rl_vldrhq_s16(h));
    s32(rl_vldrhq_s32(h));
    s32(rl_vldrwq_s32(w));
    s8(rl_vldrbq_z_s8(b, m8));
    u8(rl_vldrbq_z_u8((const uint8_t *)b, m8));
    s16(rl_vldrbq_z_s16(b, m16));
    s32(rl_vldrbq_z_s32(b, m32));
    s32(rl_vldrwq_z_s32(w, m32));
    uint8_t table[256];
    for (int i = 0; i < 256; i++) {
        table[i] = (uint8_t)(i * 7 + b[i % 16]);
    }
    u8(rl_vldrbq_gather_offset_u8(table, rl_vldrbq_u8((const uint8_t *)b)));
}

static void stores(rl_s8x16 b, rl_s16x8 h, rl_s32x4 w, rl_pred m8, rl_pred m16, rl_pred m32) {
    int32_t words[4] = {1, 2, 3, 4};
    rl_vstrbq_u8((uint8_t *)out, rl_vreinterpretq_u8_s8(b));
    rl_vstrbq_s16(out + 16, h);
    rl_vstrbq_s32(out + 24, w);
    rl_vstrbq_p_s8(out + 28, b, m8);
    rl_vstrbq_p_u8((uint8_t *)out + 44, rl_vreinterpretq_u8_s8(b), m8);
    rl_vstrbq_p_s16(out + 60, h, m16);
    rl_vstrbq_p_s32(out + 68, w, m32);
    rl_vstrwq_s32(words, w);
    memcpy(out + 72, words, 16);
    words[0] = words[1] = words[2] = words[3] = 5;
    rl_vstrwq_p_s32(words, w, m32);
    memcpy(out + 88, words, 16);
    out += 104;
}

static void bytes(rl_s8x16 a, rl_s8x16 b, rl_pred m8, int32_t n) {
    s8(rl_vdupq_n_s8((int8_t)n));
    u8(rl_vdupq_n_u8((uint8_t)n));
    s8(rl_vaddq_s8(a, b));
    s8(rl_vmaxq_s8(a, b));
    s8(rl_vminq_s8(a, b));
    s16(rl_vmullbq_int_s8(a, b));
    s16(rl_vmulltq_int_s8(a, b));
    s16(rl_vmovlbq_s8(a));
    s16(rl_vmovltq_s8(a));
    word(rl_vmladavaq_s8(n, a, b));
    word(rl_vmladavaq_p_s8(n, a, b, m8));
    word(rl_vaddvaq_s8(n, a));
    word(rl_vmaxvq_s8((int8_t)n, a));
}

static void halves(rl_s8x16 low, rl_s16x8 a, rl_s16x8 b, int32_t n) {
    s16(rl_vdupq_n_s16((int16_t)n));
    s16(rl_vaddq_s16(a, b));
    s16(rl_vqaddq_s16(a, b));
    s16(rl_vsubq_s16(a, b));
    s16(rl_vmulq_s16(a, b));
    s16(rl_vaddq_n_s16(a, (int16_t)n));
    s16(rl_vqaddq_n_s16(a, (int16_t)n));
    s16(rl_vmaxq_s16(a, b));
    s16(rl_vminq_s16(a, b));
    s32(rl_vmullbq_int_s16(a, b));
    s32(rl_vmulltq_int_s16(a, b));
    s32(rl_vmovlbq_s16(a));
    s32(rl_vmovltq_s16(a));
    s8(rl_vqmovnbq_s16(low, a));
    s8(rl_vqmovntq_s16(low, a));
    word(rl_vmladavaq_s16(n, a, b));
}

static void words(rl_s16x8 low, rl_s32x4 a, rl_s32x4 b, int32_t n) {
    s32(rl_vdupq_n_s32(n));
    s32(rl_vaddq_s32(a, b));
    s32(rl_vsubq_s32(a, b));
    s32(rl_vmulq_s32(a, b));
    s32(rl_vaddq_n_s32(a, n));
    s32(rl_vmulq_n_s32(a, n));
    s32(rl_vmlaq_n_s32(a, b, n));
    s32(rl_vmaxq_s32(a, b));
    s32(rl_vminq_s32(a, b));
    s16(rl_vqmovnbq_s32(low, a));
    s16(rl_vqmovntq_s32(low, a));
    word(rl_vaddvaq_s32(n, a));
    s32(rl_vqdmulhq_s32(a, b));
    s32(rl_vqdmulhq_s32(a, a));
    s32(rl_vqdmulhq_n_s32(a, n));
    s32(rl_vshlq_s32(a, b));
    s32(rl_vshlq_r_s32(a, n));
    s32(rl_vrshlq_s32(a, b));
    s32(rl_vrshlq_n_s32(a, n));
}

int mve_twins_run(const int8_t *in, int8_t *results) {
    int8_t b[64];
    int16_t h[32];
    int32_t w[16], n;
    memcpy(b, in, 64);
    memcpy(h, in, 64);
    memcpy(w, in, 64);
    memcpy(&n, in + 64, 4);
    const uint32_t lanes = (uint32_t)in[68];
    const rl_pred m8 = rl_vctp8q(lanes), m16 = rl_vctp16q(lanes), m32 = rl_vctp32q(lanes);
    out = results;
    loads(b, h, w, m8, m16, m32);
    stores(rl_vldrbq_s8(b), rl_vldrhq_s16(h + 8), rl_vldrwq_s32(w + 8), m8, m16, m32);
    bytes(rl_vldrbq_s8(b), rl_vldrbq_s8(b + 16), m8, n);
    halves(rl_vldrbq_s8(b + 32), rl_vldrhq_s16(h), rl_vldrhq_s16(h + 8), n);
    words(rl_vldrhq_s16(h + 24), rl_vldrwq_s32(w), rl_vldrwq_s32(w + 4), n);
    const int8_t *list[3] = {b, b + 16, b + 20}, *weights = b + 1;
    const int8_t *const *slots = list;
    rl_s16x8 even = rl_vldrhq_s16(h), odd = rl_vldrhq_s16(h + 8);
    rl_mve_sum_products(&even, &odd, &slots, 2, &weights, (int32_t)(lanes % 4u));
    s16(even);
    s16(odd);
    word((int32_t)(slots - list) + (int32_t)(weights - b));
    return out - results <= MVE_TWINS_OUT ? 0 : 1;
}
