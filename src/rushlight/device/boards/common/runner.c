// Harness: runs the model over every sample of in.bin, on a chip or on a PC.
//
// in.bin     samples one after another; a sample is its inputs one after another, without padding
// out.bin    the same for the outputs
// stats.bin  little-endian uint32: ticks of an empty measurement, ticks of each sample, and last
// the bytes of stack
//            that the model used
#include "port.h"
#include "runner_model.h"

#define INPUTS RL_RUNNER_INPUT_COUNT
#define OUTPUTS RL_RUNNER_OUTPUT_COUNT

static const uint32_t input_bytes[INPUTS] = RL_RUNNER_INPUT_BYTES;
static const uint32_t output_bytes[OUTPUTS] = RL_RUNNER_OUTPUT_BYTES;
// Each tensor starts at a multiple of 16 bytes.
static _Alignas(16) uint8_t input_memory[RL_RUNNER_INPUT_TOTAL];
static _Alignas(16) uint8_t output_memory[RL_RUNNER_OUTPUT_TOTAL];

static void place(void **tensors, const uint32_t *sizes, int count, uint8_t *memory) {
    for (int i = 0; i < count; i++) {
        tensors[i] = memory;
        memory += (sizes[i] + 15u) & ~15u;
    }
}

static _Noreturn void fail(const char *text) {
    rl_port_puts(text);
    rl_port_exit(RL_EXIT_FILE);
}

static int open_or_fail(int file) {
    if (file < 0) {
        fail("rushlight: cannot open in.bin, out.bin or stats.bin\n");
    }
    return file;
}

static void write_or_fail(int file, const void *data, size_t size) {
    if (rl_port_write(file, data, size) != size) {
        fail("rushlight: cannot write the results\n");
    }
}

// Reads the inputs of the next sample; 0 at the end of the file.
static int read_sample(int file, void *const *inputs) {
    for (int i = 0; i < INPUTS; i++) {
        const size_t got = rl_port_read(file, inputs[i], input_bytes[i]);
        if (got == 0 && i == 0) {
            return 0;
        }
        if (got != input_bytes[i]) {
            fail("rushlight: in.bin ends within a sample\n");
        }
    }
    return 1;
}

static _Noreturn void fail_model(int code) {
    char text[16];
    char *digit = text + sizeof text;
    *--digit = '\0';
    *--digit = '\n';
    uint32_t value = code < 0 ? 0u - (uint32_t)code : (uint32_t)code;
    for (; value != 0; value /= 10u) {
        *--digit = (char)('0' + (int)(value % 10u));
    }
    if (code < 0) {
        *--digit = '-';
    }
    rl_port_puts("rushlight: the model returned error code ");
    rl_port_puts(digit);
    rl_port_exit(RL_EXIT_MODEL);
}

int main(void) {
    void *inputs[INPUTS];
    void *outputs[OUTPUTS];
    place(inputs, input_bytes, INPUTS, input_memory);
    place(outputs, output_bytes, OUTPUTS, output_memory);
    const int in = open_or_fail(rl_port_open_read("in.bin"));
    const int out = open_or_fail(rl_port_open_write("out.bin"));
    const int stats = open_or_fail(rl_port_open_write("stats.bin"));

    rl_port_counter_start();
    uint32_t ticks = rl_port_counter_read();
    write_or_fail(stats, &ticks, sizeof ticks);
    uint32_t deepest = 0;
    while (read_sample(in, inputs)) {
        rl_port_stack_paint();
        rl_port_counter_start();
        const int code = rl_runner_invoke(inputs, outputs);
        ticks = rl_port_counter_read();
        const uint32_t depth = rl_port_stack_used();
        deepest = depth > deepest ? depth : deepest;
        if (code != 0) {
            fail_model(code);
        }
        write_or_fail(stats, &ticks, sizeof ticks);
        for (int i = 0; i < OUTPUTS; i++) {
            write_or_fail(out, outputs[i], output_bytes[i]);
        }
    }
    write_or_fail(stats, &deepest, sizeof deepest);
    rl_port_close(in);
    rl_port_close(out);
    rl_port_close(stats);
    return 0;
}
