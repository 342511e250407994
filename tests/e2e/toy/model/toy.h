// A model written by hand: y[i] = x[i] + 1. x[0] from 100 on asks for what goes wrong in programs;
// x[1] above 0 wastes two instructions a unit, or two times TOY_SPIN.
#ifndef TOY_H_
#define TOY_H_

#include <stdint.h>

#ifndef TOY_ARENA
#define TOY_ARENA 64
#endif

#ifndef TOY_SPIN
#define TOY_SPIN 1
#endif

#define TOY_SIZE 5

// Returns 0, or an error code.
int toy_run(const int8_t *x, int8_t *y);

#endif  // TOY_H_
