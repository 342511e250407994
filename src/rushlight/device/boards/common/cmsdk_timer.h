// Counter of the MPS2 boards: a 32-bit timer of Arm's CMSDK, which counts down.
// The board defines RL_BOARD_TIMER, its base address.
#ifndef RUSHLIGHT_BOARD_CMSDK_TIMER_H_
#define RUSHLIGHT_BOARD_CMSDK_TIMER_H_

#include <stdint.h>

typedef struct {
    volatile uint32_t control;  // bit 0: enable, bit 3: set `status` at 0
    volatile uint32_t value;
    volatile uint32_t reload;
    volatile uint32_t status;  // bit 0: has passed 0; cleared by writing it
} rl_cmsdk_timer;

static inline void rl_board_counter_start(void) {
    rl_cmsdk_timer *timer = (rl_cmsdk_timer *)RL_BOARD_TIMER;
    timer->control = 0;
    timer->reload = UINT32_MAX;
    timer->value = UINT32_MAX;
    timer->status = 1;
    timer->control = 1u | 8u;
}

static inline uint32_t rl_board_counter_read(void) {
    const rl_cmsdk_timer *timer = (const rl_cmsdk_timer *)RL_BOARD_TIMER;
    const uint32_t ticks = UINT32_MAX - timer->value;
    return (timer->status & 1u) != 0 ? UINT32_MAX : ticks;
}

#endif  // RUSHLIGHT_BOARD_CMSDK_TIMER_H_
