// A fault ends the program with one line of text and an exit code, instead of a silent lockup.
#include "port.h"

// Frame that the core stacks on entry to an exception: r0-r3, r12, lr, pc, xpsr.
enum { FRAME_LR = 5, FRAME_PC = 6, FRAME_WORDS = 8 };

// Configurable Fault Status Register. Armv6-M and Armv8-M Baseline have none and read it as 0;
// their code may run on a core that has it.
#define CFSR (*(const volatile uint32_t *)0xE000ED28u)
#define CFSR_STKOF (1u << 20)   // Armv8-M: the stack pointer passed MSPLIM
#define CFSR_MSTKERR (1u << 4)  // MPU: the frame could not be stacked

extern uint32_t __stack_limit[];
extern uint32_t __stack_top[];

_Noreturn void rl_fault(const uint32_t *frame);  // called by Fault_Handler in startup.S

// Not inlined: small matters here, fast does not.
__attribute__((noinline)) static char *put_text(char *out, const char *text) {
    while (*text != '\0') {
        *out++ = *text++;
    }
    return out;
}

__attribute__((noinline)) static char *put_hex(char *out, const char *label, uint32_t value) {
    out = put_text(out, label);
    for (int shift = 28; shift >= 0; shift -= 4) {
        *out++ = "0123456789abcdef"[(value >> shift) & 15u];
    }
    return out;
}

// `frame`: the stack pointer after the core stacked the frame.
_Noreturn void rl_fault(const uint32_t *frame) {
    static char line[96];
    const uint32_t cfsr = CFSR;
    const uintptr_t limit = (uintptr_t)__stack_limit;
    const uintptr_t top = (uintptr_t)__stack_top;
    const uintptr_t frame_end = (uintptr_t)frame + FRAME_WORDS * sizeof *frame;
    const int overflow =
        (uintptr_t)frame < limit || frame_end > top || (cfsr & (CFSR_STKOF | CFSR_MSTKERR)) != 0;
    char *end = put_text(line, "rushlight: ");
    if (overflow) {  // then there may be no frame
        end = put_hex(end, "stack overflow, size=0x", (uint32_t)(top - limit));
    } else {
        end = put_hex(end, "HardFault, pc=0x", frame[FRAME_PC]);
        end = put_hex(end, " lr=0x", frame[FRAME_LR]);
    }
    if (cfsr != 0) {
        end = put_hex(end, " cfsr=0x", cfsr);
    }
    end = put_text(end, "\n");
    *end = '\0';
    rl_port_puts(line);
    rl_port_exit(overflow ? RL_EXIT_STACK_OVERFLOW : RL_EXIT_FAULT);
}
