// RP2040 in rp2040js: the emulator counts, so there is no counter here.
#ifndef RUSHLIGHT_BOARD_BOARD_H_
#define RUSHLIGHT_BOARD_BOARD_H_

#include <stdint.h>

static inline void rl_board_counter_start(void) {}

static inline uint32_t rl_board_counter_read(void) {
    return 0;
}

#endif  // RUSHLIGHT_BOARD_BOARD_H_
