// Counter of the MPS2 boards: a 32-bit timer of Arm's CMSDK, which counts down. Wraps after 2^32 ticks.
// The board defines RL_BOARD_TIMER, its base address.
#ifndef RUSHLIGHT_BOARD_CMSDK_TIMER_H_
#define RUSHLIGHT_BOARD_CMSDK_TIMER_H_

#include <stdint.h>

typedef struct {
    volatile uint32_t control;  // bit 0: enable
    volatile uint32_t value;
    volatile uint32_t reload;
} rl_cmsdk_timer;

static inline void rl_board_counter_start(void) {
    rl_cmsdk_timer *timer = (rl_cmsdk_timer *)RL_BOARD_TIMER;
    timer->control = 0;
    timer->reload = UINT32_MAX;
    timer->value = UINT32_MAX;
    timer->control = 1;
}

static inline uint32_t rl_board_counter_read(void) {
    const rl_cmsdk_timer *timer = (const rl_cmsdk_timer *)RL_BOARD_TIMER;
    return UINT32_MAX - timer->value;
}

#endif  // RUSHLIGHT_BOARD_CMSDK_TIMER_H_
