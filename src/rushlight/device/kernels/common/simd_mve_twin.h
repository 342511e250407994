/* Plain-C bodies of the helpers in simd_mve.h, which alone includes this. Same names, same results
 * for every input; tests run both and compare. */
#ifndef RUSHLIGHT_KERNELS_COMMON_SIMD_MVE_TWIN_H
#define RUSHLIGHT_KERNELS_COMMON_SIMD_MVE_TWIN_H

#include <stdint.h>

typedef struct rl_s8x16 {
    int8_t lane[16];
} rl_s8x16;
typedef struct rl_u8x16 {
    uint8_t lane[16];
} rl_u8x16;
typedef struct rl_s16x8 {
    int16_t lane[8];
} rl_s16x8;
typedef struct rl_s32x4 {
    int32_t lane[4];
} rl_s32x4;
typedef uint16_t rl_pred;

#define RL_LANES_s8x16 16
#define RL_LANES_u8x16 16
#define RL_LANES_s16x8 8
#define RL_LANES_s32x4 4
#define RL_ELEMENT_s8x16 int8_t
#define RL_ELEMENT_u8x16 uint8_t
#define RL_ELEMENT_s16x8 int16_t
#define RL_ELEMENT_s32x4 int32_t

/* A function whose lane i is the expression, converted with wrap-around. */
#define RL_EACH(vector, name, parameters, expression)      \
    static inline rl_##vector rl_##name parameters {       \
        rl_##vector r;                                     \
        for (int i = 0; i < RL_LANES_##vector; i++) {      \
            r.lane[i] = (RL_ELEMENT_##vector)(expression); \
        }                                                  \
        return r;                                          \
    }
/* A store: the statement for each lane. */
#define RL_STORE(vector, name, parameters, statement) \
    static inline void rl_##name parameters {         \
        for (int i = 0; i < RL_LANES_##vector; i++) { \
            statement;                                \
        }                                             \
    }
/* a plus the sum of the expression over the lanes, wrapping at 32 bits. */
#define RL_SUM(vector, name, parameters, expression)  \
    static inline int32_t rl_##name parameters {      \
        int64_t sum = a;                              \
        for (int i = 0; i < RL_LANES_##vector; i++) { \
            sum += (expression);                      \
        }                                             \
        return (int32_t)(uint32_t)(uint64_t)sum;      \
    }

static inline rl_pred rl_twin_first(uint32_t n, uint32_t size) {
    return (rl_pred)(n * size >= 16u || n >= 16u ? 0xffffu : (1u << (n * size)) - 1u);
}
/* True if the lane of that many bytes is active (its lowest byte's bit). */
static inline int rl_twin_on(rl_pred m, int lane, int size) {
    return (m >> (lane * size)) & 1;
}
static inline int32_t rl_twin_clip(int64_t v, int64_t low, int64_t high) {
    return (int32_t)(v < low ? low : v > high ? high : v);
}
static inline int32_t rl_twin_shift(int32_t a, int32_t by, int round) {
    const int32_t n = (int32_t)(int8_t)(uint8_t)((uint32_t)by & 0xffu); /* the bottom byte counts */
    if (n >= 0) {
        return n > 31 ? 0 : (int32_t)((uint32_t)a << n);
    }
    const int32_t right = -n > 40 ? 40 : -n;
    return (int32_t)(((int64_t)a + (round ? (int64_t)1 << (right - 1) : 0)) >> right);
}
static inline int32_t rl_twin_qdmulh(int32_t a, int32_t b) {
    return rl_twin_clip(((int64_t)a * b) >> 31, INT32_MIN, INT32_MAX);
}

static inline rl_pred rl_vctp8q(uint32_t n) {
    return rl_twin_first(n, 1);
}
static inline rl_pred rl_vctp16q(uint32_t n) {
    return rl_twin_first(n, 2);
}
static inline rl_pred rl_vctp32q(uint32_t n) {
    return rl_twin_first(n, 4);
}

RL_EACH(s8x16, vldrbq_s8, (const int8_t *p), p[i])
RL_EACH(u8x16, vldrbq_u8, (const uint8_t *p), p[i])
RL_EACH(s16x8, vldrbq_s16, (const int8_t *p), p[i])
RL_EACH(s32x4, vldrbq_s32, (const int8_t *p), p[i])
RL_EACH(s16x8, vldrhq_s16, (const int16_t *p), p[i])
RL_EACH(s32x4, vldrhq_s32, (const int16_t *p), p[i])
RL_EACH(s32x4, vldrwq_s32, (const int32_t *p), p[i])
RL_EACH(s8x16, vldrbq_z_s8, (const int8_t *p, rl_pred m), rl_twin_on(m, i, 1) ? p[i] : 0)
RL_EACH(u8x16, vldrbq_z_u8, (const uint8_t *p, rl_pred m), rl_twin_on(m, i, 1) ? p[i] : 0)
RL_EACH(s16x8, vldrbq_z_s16, (const int8_t *p, rl_pred m), rl_twin_on(m, i, 2) ? p[i] : 0)
RL_EACH(s32x4, vldrbq_z_s32, (const int8_t *p, rl_pred m), rl_twin_on(m, i, 4) ? p[i] : 0)
RL_EACH(s32x4, vldrwq_z_s32, (const int32_t *p, rl_pred m), rl_twin_on(m, i, 4) ? p[i] : 0)
RL_EACH(u8x16, vldrbq_gather_offset_u8, (const uint8_t *p, rl_u8x16 o), p[o.lane[i]])
RL_EACH(s32x4, vldrhq_gather_shifted_offset_z_u32, (const uint16_t *p, rl_s32x4 o, rl_pred m),
        rl_twin_on(m, i, 4) ? p[o.lane[i]] : 0)

RL_STORE(s8x16, vstrbq_s8, (int8_t *p, rl_s8x16 v), p[i] = v.lane[i])
RL_STORE(u8x16, vstrbq_u8, (uint8_t *p, rl_u8x16 v), p[i] = v.lane[i])
RL_STORE(s16x8, vstrbq_s16, (int8_t *p, rl_s16x8 v), p[i] = (int8_t)v.lane[i])
RL_STORE(s32x4, vstrbq_s32, (int8_t *p, rl_s32x4 v), p[i] = (int8_t)v.lane[i])
RL_STORE(s32x4, vstrwq_s32, (int32_t *p, rl_s32x4 v), p[i] = v.lane[i])
RL_STORE(s8x16, vstrbq_p_s8, (int8_t *p, rl_s8x16 v, rl_pred m),
         if (rl_twin_on(m, i, 1)) p[i] = v.lane[i])
RL_STORE(u8x16, vstrbq_p_u8, (uint8_t *p, rl_u8x16 v, rl_pred m),
         if (rl_twin_on(m, i, 1)) p[i] = v.lane[i])
RL_STORE(s16x8, vstrbq_p_s16, (int8_t *p, rl_s16x8 v, rl_pred m),
         if (rl_twin_on(m, i, 2)) p[i] = (int8_t)v.lane[i])
RL_STORE(s32x4, vstrbq_p_s32, (int8_t *p, rl_s32x4 v, rl_pred m),
         if (rl_twin_on(m, i, 4)) p[i] = (int8_t)v.lane[i])
RL_STORE(s32x4, vstrwq_p_s32, (int32_t *p, rl_s32x4 v, rl_pred m),
         if (rl_twin_on(m, i, 4)) p[i] = v.lane[i])

RL_EACH(s8x16, vdupq_n_s8, (int8_t a), a)
RL_EACH(u8x16, vdupq_n_u8, (uint8_t a), a)
RL_EACH(s16x8, vdupq_n_s16, (int16_t a), a)
RL_EACH(s32x4, vdupq_n_s32, (int32_t a), a)

RL_EACH(s8x16, vaddq_s8, (rl_s8x16 a, rl_s8x16 b), a.lane[i] + b.lane[i])
RL_EACH(s16x8, vaddq_s16, (rl_s16x8 a, rl_s16x8 b), a.lane[i] + b.lane[i])
RL_EACH(s32x4, vaddq_s32, (rl_s32x4 a, rl_s32x4 b), (uint32_t)a.lane[i] + (uint32_t)b.lane[i])
RL_EACH(s16x8, vsubq_s16, (rl_s16x8 a, rl_s16x8 b), a.lane[i] - b.lane[i])
RL_EACH(s32x4, vsubq_s32, (rl_s32x4 a, rl_s32x4 b), (uint32_t)a.lane[i] - (uint32_t)b.lane[i])
RL_EACH(s16x8, vmulq_s16, (rl_s16x8 a, rl_s16x8 b), a.lane[i] * b.lane[i])
RL_EACH(s32x4, vmulq_s32, (rl_s32x4 a, rl_s32x4 b), (uint32_t)a.lane[i] * (uint32_t)b.lane[i])
RL_EACH(s16x8, vaddq_n_s16, (rl_s16x8 a, int16_t b), a.lane[i] + b)
RL_EACH(s32x4, vaddq_n_s32, (rl_s32x4 a, int32_t b), (uint32_t)a.lane[i] + (uint32_t)b)
RL_EACH(s32x4, vmulq_n_s32, (rl_s32x4 a, int32_t b), (uint32_t)a.lane[i] * (uint32_t)b)
RL_EACH(s32x4, vmlaq_n_s32, (rl_s32x4 a, rl_s32x4 b, int32_t c),
        (uint32_t)a.lane[i] + (uint32_t)b.lane[i] * (uint32_t)c)
RL_EACH(s16x8, vqaddq_s16, (rl_s16x8 a, rl_s16x8 b),
        rl_twin_clip(a.lane[i] + b.lane[i], INT16_MIN, INT16_MAX))
RL_EACH(s16x8, vqaddq_n_s16, (rl_s16x8 a, int16_t b),
        rl_twin_clip(a.lane[i] + b, INT16_MIN, INT16_MAX))
RL_EACH(s8x16, vmaxq_s8, (rl_s8x16 a, rl_s8x16 b), a.lane[i] > b.lane[i] ? a.lane[i] : b.lane[i])
RL_EACH(s8x16, vminq_s8, (rl_s8x16 a, rl_s8x16 b), a.lane[i] < b.lane[i] ? a.lane[i] : b.lane[i])
RL_EACH(s16x8, vmaxq_s16, (rl_s16x8 a, rl_s16x8 b), a.lane[i] > b.lane[i] ? a.lane[i] : b.lane[i])
RL_EACH(s16x8, vminq_s16, (rl_s16x8 a, rl_s16x8 b), a.lane[i] < b.lane[i] ? a.lane[i] : b.lane[i])
RL_EACH(s32x4, vmaxq_s32, (rl_s32x4 a, rl_s32x4 b), a.lane[i] > b.lane[i] ? a.lane[i] : b.lane[i])
RL_EACH(s32x4, vminq_s32, (rl_s32x4 a, rl_s32x4 b), a.lane[i] < b.lane[i] ? a.lane[i] : b.lane[i])

RL_EACH(s16x8, vmullbq_int_s8, (rl_s8x16 a, rl_s8x16 b), a.lane[2 * i] * b.lane[2 * i])
RL_EACH(s16x8, vmulltq_int_s8, (rl_s8x16 a, rl_s8x16 b), a.lane[2 * i + 1] * b.lane[2 * i + 1])
RL_EACH(s32x4, vmullbq_int_s16, (rl_s16x8 a, rl_s16x8 b), a.lane[2 * i] * b.lane[2 * i])
RL_EACH(s32x4, vmulltq_int_s16, (rl_s16x8 a, rl_s16x8 b), a.lane[2 * i + 1] * b.lane[2 * i + 1])
RL_EACH(s16x8, vmovlbq_s8, (rl_s8x16 a), a.lane[2 * i])
RL_EACH(s16x8, vmovltq_s8, (rl_s8x16 a), a.lane[2 * i + 1])
RL_EACH(s32x4, vmovlbq_s16, (rl_s16x8 a), a.lane[2 * i])
RL_EACH(s32x4, vmovltq_s16, (rl_s16x8 a), a.lane[2 * i + 1])
RL_EACH(s8x16, vqmovnbq_s16, (rl_s8x16 a, rl_s16x8 b),
        i % 2 == 0 ? rl_twin_clip(b.lane[i / 2], INT8_MIN, INT8_MAX) : a.lane[i])
RL_EACH(s8x16, vqmovntq_s16, (rl_s8x16 a, rl_s16x8 b),
        i % 2 == 1 ? rl_twin_clip(b.lane[i / 2], INT8_MIN, INT8_MAX) : a.lane[i])
RL_EACH(s16x8, vqmovnbq_s32, (rl_s16x8 a, rl_s32x4 b),
        i % 2 == 0 ? rl_twin_clip(b.lane[i / 2], INT16_MIN, INT16_MAX) : a.lane[i])
RL_EACH(s16x8, vqmovntq_s32, (rl_s16x8 a, rl_s32x4 b),
        i % 2 == 1 ? rl_twin_clip(b.lane[i / 2], INT16_MIN, INT16_MAX) : a.lane[i])

RL_SUM(s8x16, vmladavaq_s8, (int32_t a, rl_s8x16 b, rl_s8x16 c), b.lane[i] * c.lane[i])
RL_SUM(s8x16, vmladavaq_p_s8, (int32_t a, rl_s8x16 b, rl_s8x16 c, rl_pred m),
       rl_twin_on(m, i, 1) ? b.lane[i] * c.lane[i] : 0)
RL_SUM(s16x8, vmladavaq_s16, (int32_t a, rl_s16x8 b, rl_s16x8 c), b.lane[i] * c.lane[i])
RL_SUM(s8x16, vaddvaq_s8, (int32_t a, rl_s8x16 b), b.lane[i])
RL_SUM(s32x4, vaddvaq_s32, (int32_t a, rl_s32x4 b), b.lane[i])
static inline int8_t rl_vmaxvq_s8(int8_t a, rl_s8x16 b) {
    for (int i = 0; i < 16; i++) {
        a = b.lane[i] > a ? b.lane[i] : a;
    }
    return a;
}

RL_EACH(s32x4, vqdmulhq_s32, (rl_s32x4 a, rl_s32x4 b), rl_twin_qdmulh(a.lane[i], b.lane[i]))
RL_EACH(s32x4, vqdmulhq_n_s32, (rl_s32x4 a, int32_t b), rl_twin_qdmulh(a.lane[i], b))
RL_EACH(s32x4, vshlq_s32, (rl_s32x4 a, rl_s32x4 b), rl_twin_shift(a.lane[i], b.lane[i], 0))
RL_EACH(s32x4, vshlq_r_s32, (rl_s32x4 a, int32_t b), rl_twin_shift(a.lane[i], b, 0))
/* Right shifts of 1 to 31 only. */
RL_EACH(s32x4, vshlq_r_u32, (rl_s32x4 a, int32_t b), (uint32_t)a.lane[i] >> -b)
RL_EACH(s32x4, vrshlq_s32, (rl_s32x4 a, rl_s32x4 b), rl_twin_shift(a.lane[i], b.lane[i], 1))
RL_EACH(s32x4, vrshlq_n_s32, (rl_s32x4 a, int32_t b), rl_twin_shift(a.lane[i], b, 1))

RL_EACH(u8x16, vreinterpretq_u8_s8, (rl_s8x16 a), (uint8_t)a.lane[i])
RL_EACH(s8x16, vreinterpretq_s8_u8, (rl_u8x16 a), (int8_t)a.lane[i])
RL_EACH(s8x16, vreinterpretq_s8_s16, (rl_s16x8 a),
        (int8_t)(uint8_t)((uint16_t)a.lane[i / 2] >> (i % 2 * 8)))
RL_EACH(s16x8, vreinterpretq_s16_s32, (rl_s32x4 a),
        (int16_t)(uint16_t)((uint32_t)a.lane[i / 2] >> (i % 2 * 16)))

static inline void rl_mve_sum_products(rl_s16x8 *even, rl_s16x8 *odd, const int8_t *const **slots,
                                       int32_t offset, const int8_t **weights, int32_t count) {
    for (int32_t i = 0; i < count; i++) {
        const rl_s8x16 x = rl_vldrbq_s8(*(*slots)++ + offset), weight = rl_vldrbq_s8(*weights);
        *even = rl_vaddq_s16(*even, rl_vmullbq_int_s8(x, weight));
        *odd = rl_vaddq_s16(*odd, rl_vmulltq_int_s8(x, weight));
        *weights += 16;
    }
}

#undef RL_EACH
#undef RL_STORE
#undef RL_SUM

#endif
