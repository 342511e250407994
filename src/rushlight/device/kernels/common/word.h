/* Four bytes at once, at any alignment. For cores whose LDR and STR may be unaligned (Armv7-M and
 * up), never for Armv6-M. memcpy tells the compiler that the address is unaligned, so that it makes
 * one LDR and merges none of them into LDRD or LDM, which would fault. */
#ifndef RUSHLIGHT_KERNELS_COMMON_WORD_H
#define RUSHLIGHT_KERNELS_COMMON_WORD_H

#include <stdint.h>

static inline uint32_t rl_load4(const int8_t *from) {
    uint32_t word;
    __builtin_memcpy(&word, from, sizeof word);
    return word;
}

/* The last size bytes of a row, 0 to 3; zeros fill the word. */
static inline uint32_t rl_load_tail(const int8_t *from, int32_t size) {
    uint32_t word = 0;
    for (int32_t i = 0; i < size; i++) {
        word |= (uint32_t)(uint8_t)from[i] << (8 * i);
    }
    return word;
}

static inline void rl_store4(int8_t *to, uint32_t word) {
    __builtin_memcpy(to, &word, sizeof word);
}

/* A word of constants or scratch, which are aligned: the compiler may merge neighbours into LDRD,
 * STRD, LDM and STM. It may alias, as the arrays are declared as bytes. */
typedef uint32_t __attribute__((may_alias)) rl_word;

/* Four bytes (each -128..127, or 0..255) in one word, the first lowest. */
static inline uint32_t rl_pack4(int32_t b0, int32_t b1, int32_t b2, int32_t b3) {
    return ((uint32_t)b0 & 0xffu) | (((uint32_t)b1 & 0xffu) << 8) | (((uint32_t)b2 & 0xffu) << 16) |
           ((uint32_t)b3 << 24);
}

/* Short copies without a call; the runs of a convolution's window are mostly a few words. */
static inline void rl_copy_words(int8_t *to, const int8_t *from, int32_t size) {
    for (; size >= 4; size -= 4) {
        rl_store4(to, rl_load4(from));
        to += 4;
        from += 4;
    }
    for (; size > 0; size--) {
        *to++ = *from++;
    }
}

#endif
