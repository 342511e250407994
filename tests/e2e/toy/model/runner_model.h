// What the harness needs to know of the model. Two inputs: the numbers, and the instructions to
// waste.
#ifndef RUNNER_MODEL_H_
#define RUNNER_MODEL_H_

#include "toy.h"

#define RL_RUNNER_INPUT_COUNT 2
#define RL_RUNNER_OUTPUT_COUNT 2
#define RL_RUNNER_INPUT_BYTES {TOY_SIZE, 4}
#define RL_RUNNER_OUTPUT_BYTES {TOY_SIZE, 4}
#define RL_RUNNER_INPUT_TOTAL 32
#define RL_RUNNER_OUTPUT_TOTAL 32

static inline int rl_runner_invoke(void *const *inputs, void *const *outputs) {
    const float *scale = inputs[1];
    float *scaled = outputs[1];
    *scaled = *scale * 0.5f;
    return toy_run(inputs[0], outputs[0]);
}

#endif  // RUNNER_MODEL_H_
