// A model written by hand: y[i] = x[i] + 1. Its first byte can ask for what goes wrong in programs.
#ifndef TOY_H_
#define TOY_H_

#include <stdint.h>

#ifndef TOY_ARENA
#define TOY_ARENA 64
#endif

#define TOY_SIZE 5

// Returns 0, or an error code.
int toy_run(const int8_t *x, int8_t *y);

#endif  // TOY_H_
