// An application of the model: its exit code is what the model makes of 41.
#include "toy.h"

int main(void) {
    const int8_t x[TOY_SIZE] = {41, 0, 0, 0, 0};
    int8_t y[TOY_SIZE];
    return toy_run(x, y) == 0 ? y[0] : 1;
}
