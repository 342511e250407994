// Arm semihosting: a debugger or an emulator does the chip's input and output.
// Source: Arm, "Semihosting for AArch32 and AArch64", release 3.0.
#ifndef RUSHLIGHT_BOARD_SEMIHOSTING_H_
#define RUSHLIGHT_BOARD_SEMIHOSTING_H_

#include <stdint.h>

enum {
    RL_SYS_OPEN = 0x01,
    RL_SYS_CLOSE = 0x02,
    RL_SYS_WRITE0 = 0x04,
    RL_SYS_WRITE = 0x05,
    RL_SYS_READ = 0x06,
    RL_SYS_EXIT_EXTENDED = 0x20
};

// One call; `block` is what the operation asks for: a pointer to its arguments, or the text of
// WRITE0.
int32_t rl_semihosting(int32_t operation, const void *block);

#endif  // RUSHLIGHT_BOARD_SEMIHOSTING_H_
