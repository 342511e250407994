// Compares the board's mem* with the C library's for every pair of offsets and many sizes, overlaps
// among them.
#include <stdint.h>
#include <stdio.h>
#include <string.h>

void *rl_memcpy(void *restrict to, const void *restrict from, size_t size);
void *rl_memmove(void *to, const void *from, size_t size);
void *rl_memset(void *to, int value, size_t size);
int rl_memcmp(const void *a, const void *b, size_t size);

enum { OFFSETS = 12, SIZES = 49, BYTES = 64 };

static _Alignas(8) uint8_t got[BYTES], want[BYTES], source[BYTES];

static void fill(void) {
    for (int i = 0; i < BYTES; i++) {
        got[i] = want[i] = (uint8_t)(i * 7 + 1);
        source[i] = (uint8_t)(i * 11 + 3);
    }
}

static int sign(int value) {
    return (value > 0) - (value < 0);
}

static int differs(size_t to, size_t from, size_t size) {
    fill();
    if (rl_memcpy(got + to, source + from, size) != got + to)
        return 1;
    memcpy(want + to, source + from, size);
    if (memcmp(got, want, BYTES) != 0)
        return 2;
    fill();
    if (rl_memmove(got + to, got + from, size) != got + to)
        return 3;
    memmove(want + to, want + from, size);
    if (memcmp(got, want, BYTES) != 0)
        return 4;
    fill();
    if (rl_memset(got + to, -5 + (int)from, size) != got + to)
        return 5;
    memset(want + to, -5 + (int)from, size);
    if (memcmp(got, want, BYTES) != 0)
        return 6;
    if (sign(rl_memcmp(got + to, source + from, size)) !=
        sign(memcmp(got + to, source + from, size))) {
        return 7;
    }
    return 0;
}

int main(void) {
    int compared = 0;
    for (size_t to = 0; to < OFFSETS; to++) {
        for (size_t from = 0; from < OFFSETS; from++) {
            for (size_t size = 0; size < SIZES; size++, compared++) {
                const int which = differs(to, from, size);
                if (which != 0) {
                    printf("check %d: to %zu from %zu size %zu\n", which, to, from, size);
                    return 1;
                }
            }
        }
    }
    printf("compared %d\n", compared);
    return 0;
}
