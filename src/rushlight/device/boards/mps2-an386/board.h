// Arm MPS2+ AN386 (Cortex-M4): timer 0 counts 25 million ticks a second.
#ifndef RUSHLIGHT_BOARD_BOARD_H_
#define RUSHLIGHT_BOARD_BOARD_H_

#define RL_BOARD_TIMER 0x40000000u
#include "cmsdk_timer.h"

#endif  // RUSHLIGHT_BOARD_BOARD_H_
