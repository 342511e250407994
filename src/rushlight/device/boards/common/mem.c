// memcpy, memmove, memset and memcmp: compilers call them even in freestanding code.
// They carry no tricks: kernels move whole rows, and compilers expand the short constant sizes.
#include <stddef.h>
#include <stdint.h>

// Keeps the loops below from being turned into calls of the very functions they implement.
#if defined(__clang__)
#define NO_IDIOM __attribute__((no_builtin))
#else
#define NO_IDIOM __attribute__((optimize("no-tree-loop-distribute-patterns")))
#endif

void *memcpy(void *restrict to, const void *restrict from, size_t size);
void *memmove(void *to, const void *from, size_t size);
void *memset(void *to, int value, size_t size);
int memcmp(const void *a, const void *b, size_t size);

// A word that may alias any type, as the C library may do and a user may not.
typedef uint32_t __attribute__((may_alias)) word_t;
#define WORD sizeof(word_t)

static inline int both_aligned(const void *a, const void *b) {
    return ((((uintptr_t)a) | ((uintptr_t)b)) & (WORD - 1)) == 0;
}

NO_IDIOM void *memcpy(void *restrict to, const void *restrict from, size_t size) {
    uint8_t *out = to;
    const uint8_t *in = from;
    if (both_aligned(out, in)) {
        for (; size >= WORD; size -= WORD, out += WORD, in += WORD) {
            *(word_t *)(void *)out = *(const word_t *)(const void *)in;
        }
    }
    while (size-- > 0) {
        *out++ = *in++;
    }
    return to;
}

NO_IDIOM void *memmove(void *to, const void *from, size_t size) {
    uint8_t *out = to;
    const uint8_t *in = from;
    if ((uintptr_t)out - (uintptr_t)in >= size) {  // not inside the source: forwards is safe
        if (both_aligned(out, in)) {
            for (; size >= WORD; size -= WORD, out += WORD, in += WORD) {
                *(word_t *)(void *)out = *(const word_t *)(const void *)in;
            }
        }
        while (size-- > 0) {
            *out++ = *in++;
        }
    } else {
        while (size-- > 0) {
            out[size] = in[size];
        }
    }
    return to;
}

NO_IDIOM void *memset(void *to, int value, size_t size) {
    uint8_t *out = to;
    const uint8_t byte = (uint8_t)value;
    for (; size > 0 && ((uintptr_t)out & (WORD - 1)) != 0; size--) {
        *out++ = byte;
    }
    const word_t word = byte * 0x01010101u;
    for (; size >= WORD; size -= WORD, out += WORD) {
        *(word_t *)(void *)out = word;
    }
    while (size-- > 0) {
        *out++ = byte;
    }
    return to;
}

NO_IDIOM int memcmp(const void *a, const void *b, size_t size) {
    const uint8_t *x = a;
    const uint8_t *y = b;
    for (; size > 0; size--, x++, y++) {
        if (*x != *y) {
            return *x - *y;
        }
    }
    return 0;
}

// The names under which clang calls them on Arm (Run-time ABI for the Arm Architecture, 4.3.4); 4
// and 8 are promises of alignment.
#if defined(__ARM_EABI__)
#define MOVES(name, function)                                     \
    void name(void *to, const void *from, size_t size);           \
    NO_IDIOM void name(void *to, const void *from, size_t size) { \
        (void)function(to, from, size);                           \
    }
#define SETS(name)                                         \
    void name(void *to, size_t size, int value);           \
    NO_IDIOM void name(void *to, size_t size, int value) { \
        (void)memset(to, value, size);                     \
    }
#define CLEARS(name)                            \
    void name(void *to, size_t size);           \
    NO_IDIOM void name(void *to, size_t size) { \
        (void)memset(to, 0, size);              \
    }
MOVES(__aeabi_memcpy, memcpy)
MOVES(__aeabi_memcpy4, memcpy)
MOVES(__aeabi_memcpy8, memcpy)
MOVES(__aeabi_memmove, memmove)
MOVES(__aeabi_memmove4, memmove)
MOVES(__aeabi_memmove8, memmove)
SETS(__aeabi_memset)
SETS(__aeabi_memset4)
SETS(__aeabi_memset8)
CLEARS(__aeabi_memclr)
CLEARS(__aeabi_memclr4)
CLEARS(__aeabi_memclr8)
#endif
