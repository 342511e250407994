/* depthwise_conv2d for Armv6-M: any window. */
#include "depthwise_conv2d/rows.h"

/* Sums of four pixels. */
typedef struct sums {
    int32_t s0, s1, s2, s3;
} sums;

/* Inputs are x + 128, as in tap3_v6m.h. Sums wrap. */
static inline int32_t add(int32_t sum, int8_t x, int32_t weight) {
    return (int32_t)((uint32_t)sum + (uint32_t)((uint8_t)x * weight));
}

/* The sum of one pixel. */
static inline int32_t sum(const int8_t *x, const rl_dw_pass *k) {
    const int32_t *offset = k->weights.taps.offsets;
    int32_t acc = k->bias;
    for (const int8_t *w = k->weights.taps.begin; w < k->weights.taps.end; w++) {
        acc = add(acc, x[*offset++], *w);
    }
    return acc;
}

static inline void finish(rl_dw_at *at, const rl_dw_pass *k, int32_t acc) {
    rl_dw_store(at, k, rl_multiply_high_v6m(acc, k->multiplier));
}

/* Without optimisation there are no registers to spare. */
#if defined(__thumb__) && !defined(__thumb2__) && defined(__OPTIMIZE__) && \
    !defined(__OPTIMIZE_SIZE__)
/* Assembly, as sums must be in high registers for the rest to fit. */
static inline sums taps(const int8_t *x, const rl_dw_pass *k) {
    const int32_t *offset = k->weights.taps.offsets;
    const int8_t *w = k->weights.taps.begin;
    sums s = {k->bias, k->bias, k->bias, k->bias};
    int32_t v, c, from;
#define RL_DW_PIXEL(i) \
    "ldrb %[v], [%[from], #" #i "]\n\tmuls %[v], %[c], %[v]\n\tadd %[s" #i "], %[v]\n\t"
    __asm__(
        ".syntax unified\n"
        "1:\n\t"
        "ldr %[from], [%[offset]]\n\t"
        "adds %[offset], #4\n\t"
        "add %[from], %[x]\n\t"
        "movs %[c], #0\n\t"
        "ldrsb %[c], [%[w], %[c]]\n\t"
        "adds %[w], #1\n\t" RL_DW_PIXEL(0) RL_DW_PIXEL(1) RL_DW_PIXEL(2) RL_DW_PIXEL(3)
        "cmp %[w], %[end]\n\t"
        "bne 1b"
        : [s0] "+h"(s.s0), [s1] "+h"(s.s1), [s2] "+h"(s.s2), [s3] "+h"(s.s3), [w] "+l"(w),
          [offset] "+l"(offset), [v] "=&l"(v), [c] "=&l"(c), [from] "=&l"(from)
        : [x] "l"(x), [end] "h"(k->weights.taps.end)
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
    rl_dw_prepare(p, terms, 0, &k);
    k.weights.taps.begin = band->weights;
    k.weights.taps.end = band->weights + p->taps;
    k.weights.taps.offsets = band->offsets;
    rl_dw_rows(p, band, &k, four, two, one);
}

void rl_depthwise_conv2d_s8_v6m(const rl_depthwise_conv2d_params *p, const int8_t *x,
                                const int8_t *weights, const rl_channel *channels, int8_t *y,
                                void *scratch) {
    int32_t *offsets = scratch;
    rl_dw_offsets(p, offsets);
    rl_dw_planes(p, x, weights, channels, y, offsets, (int8_t *)(offsets + p->taps),
                 p->window.stride_w, 0x80, channel);
}
