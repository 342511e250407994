// Depth of the stack: it is filled with a pattern, and the lowest word that lost it tells how deep it went.
#include "port.h"

#define PATTERN 0xDEADBEEFu

extern uint32_t __stack_limit[];  // lowest word of the stack, from link.ld

// Stack pointer of the painting function, which calls none: all below it is free.
static uint32_t *mark;

// The stack pointer is read with `mov`: a variable bound to sp is not kept by clang.
static inline uint32_t *stack_pointer(void) {
    uint32_t *sp;
    __asm__ volatile("mov %0, sp" : "=r"(sp));
    return sp;
}

__attribute__((noinline)) void rl_port_stack_paint(void) {
    mark = stack_pointer();
    for (uint32_t *word = __stack_limit; word < mark; word++) {
        *(volatile uint32_t *)word = PATTERN;
    }
}

__attribute__((noinline)) uint32_t rl_port_stack_used(void) {
    const uint32_t *word = __stack_limit;
    while (word < mark && *(const volatile uint32_t *)word == PATTERN) {
        word++;
    }
    return (uint32_t)((uintptr_t)mark - (uintptr_t)word);
}
