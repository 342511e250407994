// Arm MPS2+ AN505 (Cortex-M33): timer 0 counts 20 million ticks a second.
#ifndef RUSHLIGHT_BOARD_BOARD_H_
#define RUSHLIGHT_BOARD_BOARD_H_

#define RL_BOARD_TIMER 0x50000000u
#include "cmsdk_timer.h"

#endif  // RUSHLIGHT_BOARD_BOARD_H_
