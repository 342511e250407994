// Calls kernels on data from a file and counts the instructions of each call.
//
// in.bin     cases; a case is uint32 kernel number, number of buffers, then kind and bytes of each
//            buffer, then the content of those of kind GIVEN. Buffers are the kernel's arguments.
// out.bin    for each case the CRC-32 of its output
// stats.bin  uint32: ticks of a call of nothing, ticks of each case, 0
#include "dispatch.h"
#include "port.h"

enum { GIVEN = 0, OUTPUT = 1, SCRATCH = 2, MAX_BUFFERS = 16, MEMORY = 7 << 19, ALIGN = 16 };

static _Alignas(ALIGN) uint8_t memory[MEMORY];

static uint32_t crc32(const uint8_t *data, uint32_t size) {
    static const uint32_t kNibble[16] = {0x00000000u, 0x1DB71064u, 0x3B6E20C8u, 0x26D930ACu,
                                         0x76DC4190u, 0x6B6B51F4u, 0x4DB26158u, 0x5005713Cu,
                                         0xEDB88320u, 0xF00F9344u, 0xD6D6A3E8u, 0xCB61B38Cu,
                                         0x9B64C2B0u, 0x86D3D2D4u, 0xA00AE278u, 0xBDBDF21Cu};
    uint32_t crc = UINT32_MAX;
    for (uint32_t i = 0; i < size; i++) {
        crc ^= data[i];
        crc = kNibble[crc & 15u] ^ (crc >> 4);
        crc = kNibble[crc & 15u] ^ (crc >> 4);
    }
    return ~crc;
}

static _Noreturn void fail(const char *text) {
    rl_port_puts(text);
    rl_port_exit(RL_EXIT_FILE);
}

static void read_or_fail(int file, void *data, size_t size) {
    if (rl_port_read(file, data, size) != size) {
        fail("rushlight: in.bin ends within a case\n");
    }
}

static void write_or_fail(int file, uint32_t value) {
    if (rl_port_write(file, &value, sizeof value) != sizeof value) {
        fail("rushlight: cannot write the results\n");
    }
}

static uint32_t count(uint32_t kernel, void *const *buffers) {
    rl_port_counter_start();
    rl_bench_calls[kernel](buffers);
    return rl_port_counter_read();
}

// The rest of a case after its kernel number; returns the ticks and the CRC of the output.
static uint32_t run_case(int in, uint32_t kernel, uint32_t *crc) {
    uint32_t buffer_count, kinds[MAX_BUFFERS][2], output = 0, used = 0;
    void *buffers[MAX_BUFFERS];
    read_or_fail(in, &buffer_count, sizeof buffer_count);
    if (kernel >= rl_bench_call_count || buffer_count > MAX_BUFFERS) {
        fail("rushlight: a case has an unknown kernel or too many buffers\n");
    }
    read_or_fail(in, kinds, buffer_count * sizeof kinds[0]);
    for (uint32_t i = 0; i < buffer_count; i++) {
        const uint32_t size = kinds[i][1];
        if (size > MEMORY - used) {
            fail("rushlight: a case does not fit the memory\n");
        }
        buffers[i] = memory + used;
        used += (size + ALIGN - 1u) & ~(ALIGN - 1u);
        if (kinds[i][0] == GIVEN) {
            read_or_fail(in, buffers[i], size);
        } else if (kinds[i][0] == OUTPUT) {
            output = i;
        }
    }
    const uint32_t ticks = count(kernel, buffers);
    *crc = crc32(buffers[output], kinds[output][1]);
    return ticks;
}

int main(void) {
    const int in = rl_port_open_read("in.bin");
    const int out = rl_port_open_write("out.bin");
    const int stats = rl_port_open_write("stats.bin");
    if (in < 0 || out < 0 || stats < 0) {
        fail("rushlight: cannot open in.bin, out.bin or stats.bin\n");
    }
    write_or_fail(stats, count(0, NULL));
    uint32_t kernel, crc;
    while (rl_port_read(in, &kernel, sizeof kernel) == sizeof kernel) {
        write_or_fail(stats, run_case(in, kernel, &crc));
        write_or_fail(out, crc);
    }
    write_or_fail(stats, 0);
    rl_port_close(in);
    rl_port_close(out);
    rl_port_close(stats);
    return 0;
}
