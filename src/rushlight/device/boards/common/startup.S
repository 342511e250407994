// Start-up of every board: vectors, stack guard, FPU and MVE on, traps, .data and .bss, main, exit.
// Only Armv6-M instructions, so that it runs on every Cortex-M.
    .syntax unified
    .thumb

    .section .vectors, "a", %progbits
    .global rl_vectors
rl_vectors:
    .word __stack_top
    .word Reset_Handler
    .word Fault_Handler             // NMI
    .word Fault_Handler             // HardFault
    .word Fault_Handler             // MemManage, BusFault, UsageFault, SecureFault: not enabled, so that each
    .word Fault_Handler             // becomes a HardFault
    .word Fault_Handler
    .word Fault_Handler
    .word 0
    .word 0
    .word 0
    .word Fault_Handler             // SVCall
    .word Fault_Handler             // DebugMonitor
    .word 0
    .word Fault_Handler             // PendSV
    .word Fault_Handler             // SysTick

    .text
    .global Reset_Handler
    .thumb_func
    .type Reset_Handler, %function
Reset_Handler:
    // Stack guard. The stack lies lowest in its RAM, so an overflow also leaves that RAM; but buses may swallow the
    // access. Armv8-M has a limit register; before it, an MPU region of 64 KB without access lies below the stack,
    // where there is an MPU (Cortex-M0 has none, and reads its type as 0).
#if __ARM_ARCH >= 8
    ldr     r0, =__stack_limit
    msr     msplim, r0
#else
    ldr     r0, =0xE000ED90         // MPU_TYPE
    ldr     r1, [r0]
    lsrs    r1, r1, #8              // number of regions
    beq     1f
    movs    r1, #0
    str     r1, [r0, #0x08]         // RNR: region 0
    ldr     r1, =__stack_limit - 0x10000
    str     r1, [r0, #0x0C]         // RBAR
    ldr     r1, =0x1000001F         // RASR: XN, no access, 2^16 bytes, enabled
    str     r1, [r0, #0x10]
    movs    r1, #5                  // CTRL: default map for the rest, enabled
    str     r1, [r0, #0x04]
    dsb
    isb
1:
#endif

#if defined(__ARM_FP) || defined(__ARM_FEATURE_MVE)
    ldr     r0, =0xE000ED88         // CPACR: full access to CP10 and CP11, which are the FPU and MVE
    ldr     r1, [r0]
    ldr     r2, =0x00F00000
    orrs    r1, r2
    str     r1, [r0]
    dsb
    isb
#endif

    // CCR.DIV_0_TRP; and CCR.UNALIGN_TRP where the code is built for a core without unaligned accesses, so that code
    // for an M0 or M23 faults as it would there although a bigger core runs it.
    ldr     r0, =0xE000ED14
    ldr     r1, [r0]
#if !defined(__ARM_FEATURE_UNALIGNED) || defined(RL_TRAP_UNALIGNED)
    movs    r2, #0x18
#else
    movs    r2, #0x10
#endif
    orrs    r1, r2
    str     r1, [r0]

    ldr     r0, =__data_load
    ldr     r1, =__data_start
    ldr     r2, =__data_end
    b       3f
2:  ldr     r3, [r0]
    str     r3, [r1]
    adds    r0, #4
    adds    r1, #4
3:  cmp     r1, r2
    blo     2b

    movs    r0, #0
    ldr     r1, =__bss_start
    ldr     r2, =__bss_end
    b       5f
4:  str     r0, [r1]
    adds    r1, #4
5:  cmp     r1, r2
    blo     4b

    bl      main
    bl      rl_port_exit            // with the value of main; does not return

// Hands the frame that the core stacked to rl_fault(frame), on a stack of its own.
    .global Fault_Handler
    .thumb_func
    .type Fault_Handler, %function
Fault_Handler:
    mrs     r0, msp
    mov     r1, lr
    movs    r2, #4                  // EXC_RETURN.SPSEL: the frame is on the process stack
    tst     r1, r2
    beq     1f
    mrs     r0, psp
1:
#if __ARM_ARCH >= 8
    movs    r1, #0                  // the fault stack may lie below the limit
    msr     msplim, r1
#endif
    ldr     r1, =rl_fault_stack_top
    mov     sp, r1
    ldr     r1, =rl_fault
    bx      r1

    .pool

// The fault may be that the other stack is full.
    .section .bss.rl_fault_stack, "aw", %nobits
    .balign 8
    .space 256
rl_fault_stack_top:
