#include "toy.h"

#include <string.h>

// What the first byte asks for.
enum {
    ASK_FIRST = 100,
    ASK_ERROR = 100,
    ASK_UNDEFINED = 101,
    ASK_UNALIGNED = 102,
    ASK_RECURSION = 103,
    ASK_BIG_FRAME = 104,
    ASK_ENDLESS = 105
};

extern int8_t toy_arena[TOY_ARENA];
_Alignas(16) int8_t toy_arena[TOY_ARENA];  // not static, or compilers shrink it

#if defined(__arm__)
__attribute__((noinline)) static void toy_undefined(void) {
    __asm__ volatile("udf #0");
}

// Load multiple wants an aligned address on every Cortex-M.
__attribute__((noinline)) static int toy_unaligned(const int8_t *x) {
    uint32_t a;
    uint32_t b;
    __asm__ volatile(
        ".syntax unified\n\tmov r2, %2\n\tldmia r2!, {r0, r1}\n\tmov %0, r0\n\tmov %1, r1"
        : "=r"(a), "=r"(b)
        : "r"((uintptr_t)x | 1u)
        : "r0", "r1", "r2");
    return (int)(a + b);
}

__attribute__((noinline)) static int toy_recursion(int depth) {
    volatile int8_t frame[64];
    frame[0] = (int8_t)depth;
    return depth == 0 ? 0 : toy_recursion(depth - 1) + frame[0];
}

__attribute__((noinline)) static int toy_big_frame(void) {
    volatile int8_t frame[20000];
    for (int i = 19999; i >= 0; i--) {
        frame[i] = 1;
    }
    return frame[0];
}

__attribute__((noinline)) static void toy_endless(void) {
    for (;;) {
        __asm__ volatile("");
    }
}

// Two instructions a turn.
static void toy_spin(int turns) {
    __asm__ volatile(".syntax unified\n1:\tsubs %0, %0, #1\n\tbne 1b" : "+l"(turns) : : "cc");
}

static int toy_go_wrong(const int8_t *x) {
    switch (x[0]) {
        case ASK_ERROR:
            return -3;
        case ASK_UNDEFINED:
            toy_undefined();
            return 0;
        case ASK_UNALIGNED:
            return toy_unaligned(x);
        case ASK_RECURSION:
            return toy_recursion(100000);
        case ASK_BIG_FRAME:
            return toy_big_frame();
        case ASK_ENDLESS:
            toy_endless();
            return 0;
        default:
            return 1;
    }
}
#else
static void toy_spin(int turns) {
    (void)turns;
}

static int toy_go_wrong(const int8_t *x) {
    switch (x[0]) {
        case ASK_ERROR:
            return -3;
        case ASK_BIG_FRAME:
            toy_arena[TOY_ARENA - ASK_BIG_FRAME + x[0]] = 1;
            return 0;
        case ASK_ENDLESS:
            for (;;) {
                __asm__ volatile("");
            }
        default:
            return 1;
    }
}
#endif

int toy_run(const int8_t *x, int8_t *y) {
    if (x[0] >= ASK_FIRST) {
        return toy_go_wrong(x);
    }
    if (x[1] > 0) {
        toy_spin(x[1] * TOY_SPIN);
    }
    // By way of the functions of the C library, with a size that compilers cannot expand.
    const volatile size_t size = TOY_SIZE;
    memset(toy_arena, 1, TOY_ARENA);
    memcpy(toy_arena + 16, x, size);
    memmove(toy_arena + 17, toy_arena + 16, size);
    if (memcmp(toy_arena + 17, x, size) != 0) {
        return 2;
    }
    for (int i = 0; i < TOY_SIZE; i++) {
        y[i] = (int8_t)(toy_arena[17 + i] + toy_arena[i]);
    }
    return 0;
}
