/* depthwise_conv2d for Armv7-M and Armv8-M mainline: any window. */
#include "depthwise_conv2d/rows.h"

/* Sums of four pixels. */
typedef struct sums {
    int32_t s0, s1, s2, s3;
} sums;

/* The sum of one pixel. */
static inline int32_t sum(const int8_t *x, const rl_dw_pass *k) {
    const int32_t *offset = k->weights.taps.offsets;
    int32_t acc = k->bias;
    for (const int8_t *w = k->weights.taps.begin; w < k->weights.taps.end; w++) {
        acc += x[*offset++] * *w;
    }
    return acc;
}

static inline void finish(rl_dw_at *at, const rl_dw_pass *k, int32_t acc) {
    rl_dw_store(at, k, (int32_t)(((int64_t)acc * k->multiplier) >> 32));
}

/* Without optimisation there are no registers to spare. */
#if defined(__thumb2__) && defined(__OPTIMIZE__)
/* Assembly, as GCC keeps the pointers on the stack. */
static inline sums taps(const int8_t *x, const rl_dw_pass *k) {
    const int32_t *offset = k->weights.taps.offsets;
    const int8_t *w = k->weights.taps.begin;
    sums s = {k->bias, k->bias, k->bias, k->bias};
    int32_t v, c, from;
#define RL_DW_PIXEL(i) \
    "ldrsb %[v], [%[from], #" #i "]\n\tmla %[s" #i "], %[v], %[c], %[s" #i "]\n\t"
    __asm__(
        "1:\n\t"
        "ldr %[from], [%[offset]], #4\n\t"
        "ldrsb %[c], [%[w]], #1\n\t"
        "add %[from], %[x]\n\t" RL_DW_PIXEL(0) RL_DW_PIXEL(1) RL_DW_PIXEL(2) RL_DW_PIXEL(3)
        "cmp %[w], %[end]\n\t"
        "bne 1b"
        : [s0] "+r"(s.s0), [s1] "+r"(s.s1), [s2] "+r"(s.s2), [s3] "+r"(s.s3), [w] "+r"(w),
          [offset] "+r"(offset), [v] "=&r"(v), [c] "=&r"(c), [from] "=&r"(from)
        : [x] "r"(x), [end] "r"(k->weights.taps.end)
        : "cc", "memory");
    return s;
}
#else
static inline sums taps(const int8_t *x, const rl_dw_pass *k) {
    const sums s = {sum(x, k), sum(x + 1, k), sum(x + 2, k), sum(x + 3, k)};
    return s;
}
#endif

static inline void four(rl_dw_at *at, const rl_dw_pass *k) {
    const sums s = taps(at->x, k);
    finish(at, k, s.s0);
    finish(at, k, s.s1);
    finish(at, k, s.s2);
    finish(at, k, s.s3);
    at->x += 4;
}

static inline void two(rl_dw_at *at, const rl_dw_pass *k) {
    const sums s = taps(at->x, k);
    finish(at, k, s.s0);
    finish(at, k, s.s1);
    at->x += 2;
}

static inline void one(rl_dw_at *at, const rl_dw_pass *k) {
    finish(at, k, sum(at->x, k));
}

static RL_DW_NOINLINE void channel(const rl_depthwise_conv2d_params *p, const rl_dw_band *band,
                                   const rl_channel *terms) {
    rl_dw_pass k;
    rl_dw_prepare(p, terms, 16, &k);
    k.weights.taps.begin = band->weights;
    k.weights.taps.end = band->weights + p->taps;
    k.weights.taps.offsets = band->offsets;
    rl_dw_rows(p, band, &k, four, two, one);
}

void rl_depthwise_conv2d_s8_v7m(const rl_depthwise_conv2d_params *p, const int8_t *x,
                                const int8_t *weights, const rl_channel *channels, int8_t *y,
                                void *scratch) {
    int32_t *offsets = scratch;
    rl_dw_offsets(p, offsets);
    rl_dw_planes(p, x, weights, channels, y, offsets, (int8_t *)(offsets + p->taps),
                 p->window.stride_w, 0, channel);
}
