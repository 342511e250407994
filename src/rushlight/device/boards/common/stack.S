// Depth of the stack: it is filled with a pattern, and the lowest word that lost it tells how deep it went.
// In assembly, since a compiler may move its own pushes behind a reading of the stack pointer.
    .syntax unified
    .thumb

#define PATTERN 0xDEADBEEF

// void rl_port_stack_paint(void): fills from the end of the stack up to the caller's stack pointer.
    .section .text.rl_port_stack_paint, "ax", %progbits
    .global rl_port_stack_paint
    .thumb_func
    .type rl_port_stack_paint, %function
rl_port_stack_paint:
    ldr     r0, =__stack_limit
    ldr     r1, =PATTERN
    mov     r2, sp
    b       2f
1:  str     r1, [r0]
    adds    r0, #4
2:  cmp     r0, r2
    blo     1b
    bx      lr
    .pool

// uint32_t rl_port_stack_used(void): bytes from the caller's stack pointer down to the lowest changed word.
    .section .text.rl_port_stack_used, "ax", %progbits
    .global rl_port_stack_used
    .thumb_func
    .type rl_port_stack_used, %function
rl_port_stack_used:
    ldr     r0, =__stack_limit
    ldr     r1, =PATTERN
    mov     r2, sp
    b       2f
1:  ldr     r3, [r0]
    cmp     r3, r1
    bne     3f
    adds    r0, #4
2:  cmp     r0, r2
    blo     1b
3:  subs    r0, r2, r0
    bx      lr
    .pool
