// Arm MPS3 AN547 (Corstone-300, Cortex-M55): the system counter counts 32 million ticks a second.
#ifndef RUSHLIGHT_BOARD_BOARD_H_
#define RUSHLIGHT_BOARD_BOARD_H_

#include <stdint.h>

// Control frame of the system counter (Arm SSE-300 Technical Reference Manual).
#define RL_COUNTER(offset) (*(volatile uint32_t *)(0x58100000u + (offset)))
// Timer 0 shows the counter to programs, in a low and a high word.
#define RL_TIMER0_COUNT ((const volatile uint32_t *)0x58000000u)

static inline void rl_board_counter_start(void) {
    RL_COUNTER(0x000) = 0;  // CNTCR: off
    RL_COUNTER(0x008) = 0;  // CNTCV, low word
    RL_COUNTER(0x00C) = 0;  // CNTCV, high word
    RL_COUNTER(0x000) = 1;  // CNTCR: on
}

static inline uint32_t rl_board_counter_read(void) {
    const uint32_t ticks = RL_TIMER0_COUNT[0];
    return RL_TIMER0_COUNT[1] != 0 ? UINT32_MAX : ticks;
}

#endif  // RUSHLIGHT_BOARD_BOARD_H_
