// BBC micro:bit (nRF51822, Cortex-M0): TIMER0 counts 16 million ticks a second.
#ifndef RUSHLIGHT_BOARD_BOARD_H_
#define RUSHLIGHT_BOARD_BOARD_H_

#include <stdint.h>

// Registers of nRF51 TIMER0 (nRF51 Series Reference Manual, chapter 18).
#define RL_TIMER0(offset) (*(volatile uint32_t *)(0x40008000u + (offset)))

static inline void rl_board_counter_start(void) {
    RL_TIMER0(0x004) = 1;            // TASKS_STOP
    RL_TIMER0(0x504) = 0;            // MODE: timer
    RL_TIMER0(0x508) = 3;            // BITMODE: 32 bits
    RL_TIMER0(0x510) = 0;            // PRESCALER: 16 MHz
    RL_TIMER0(0x544) = 0xFFFF0000u;  // CC[1]: before the end, as events come some ticks late
    RL_TIMER0(0x144) = 0;            // EVENTS_COMPARE[1]
    RL_TIMER0(0x00C) = 1;            // TASKS_CLEAR
    RL_TIMER0(0x000) = 1;            // TASKS_START
}

static inline uint32_t rl_board_counter_read(void) {
    RL_TIMER0(0x040) = 1;  // TASKS_CAPTURE[0]
    return RL_TIMER0(0x144) != 0 ? UINT32_MAX : RL_TIMER0(0x540);
}

#endif  // RUSHLIGHT_BOARD_BOARD_H_
