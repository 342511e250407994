/* max_pool2d, plain C for Armv7-M and Armv8-M mainline: four channels a word, which may lie at any
 * address. The last word overlaps the one before where the channels are not a multiple of four. */
#include "common/word.h"
#include "max_pool2d/walk.h"

/* The greater of each of four signed bytes. The sign bits set in a and clear in b keep the bytes'
 * differences apart and show which of the low seven bits are no less; where signs differ, the byte
 * with a clear one is the greater. */
static inline uint32_t greater(uint32_t a, uint32_t b) {
    const uint32_t sign = 0x80808080u, one = 0x01010101u;
    const uint32_t differ = a ^ b, low = (a | sign) - (b & ~sign);
    const uint32_t first = (((low & ~differ) | (b & differ)) >> 7) & one;
    return b ^ (differ & ((first << 8) - first));
}

static void greatest(const int8_t *const *taps, int8_t *y, int32_t channels) {
    const int8_t *t0 = taps[0], *t1 = taps[1], *t2 = taps[2], *t3 = taps[3];
    if (t2 == t3) { /* three taps or fewer: a comparison less */
        for (int32_t c = 0; c < channels; c += 4) {
            c = c > channels - 4 ? channels - 4 : c;
            const uint32_t a = greater(rl_load4(t0 + c), rl_load4(t1 + c));
            rl_store4(y + c, greater(a, rl_load4(t2 + c)));
        }
        return;
    }
    for (int32_t c = 0; c < channels; c += 4) {
        c = c > channels - 4 ? channels - 4 : c;
        const uint32_t a = greater(rl_load4(t0 + c), rl_load4(t1 + c));
        const uint32_t b = greater(rl_load4(t2 + c), rl_load4(t3 + c));
        rl_store4(y + c, greater(a, b));
    }
}

static void pixel(const rl_area *area, int32_t row, int32_t col, int8_t *y, void *context) {
    (void)row;
    (void)col;
    rl_max_pool_pixel(area, y, context, greatest);
}

void rl_max_pool2d_s8_v7m(const rl_max_pool2d_params *p, const int8_t *x, int8_t *y) {
    rl_max_pool_state state = {{0}, p->window.in_c};
    rl_pool_walk(&p->window, x, y, pixel, &state);
}
