// Files, text and exit of port.h through semihosting, and its counter through the board's timer.
#include "semihosting.h"

#include "board.h"
#include "port.h"

// Modes of SYS_OPEN: the index of fopen's "rb" and "wb".
#define MODE_READ 1u
#define MODE_WRITE 5u
#define ADP_STOPPED_APPLICATION_EXIT 0x20026u

int32_t rl_semihosting(int32_t operation, const void *block) {
    register int32_t r0 __asm__("r0") = operation;
    register const void *r1 __asm__("r1") = block;
    __asm__ volatile("bkpt 0xAB" : "+r"(r0) : "r"(r1) : "memory");
    return r0;
}

static int open_file(const char *name, uint32_t mode) {
    uint32_t length = 0;
    while (name[length] != '\0') {
        length++;
    }
    const uintptr_t block[3] = {(uintptr_t)name, mode, length};
    return (int)rl_semihosting(RL_SYS_OPEN, block);
}

int rl_port_open_read(const char *name) {
    return open_file(name, MODE_READ);
}

int rl_port_open_write(const char *name) {
    return open_file(name, MODE_WRITE);
}

// READ and WRITE return the number of bytes they did *not* move.
static size_t transfer(int32_t operation, int file, const void *data, size_t size) {
    const uintptr_t block[3] = {(uintptr_t)file, (uintptr_t)data, size};
    const uint32_t left = (uint32_t)rl_semihosting(operation, block);
    return left <= size ? size - left : 0;
}

size_t rl_port_read(int file, void *data, size_t size) {
    return transfer(RL_SYS_READ, file, data, size);
}

size_t rl_port_write(int file, const void *data, size_t size) {
    return transfer(RL_SYS_WRITE, file, data, size);
}

void rl_port_close(int file) {
    const uintptr_t block[1] = {(uintptr_t)file};
    (void)rl_semihosting(RL_SYS_CLOSE, block);
}

void rl_port_puts(const char *text) {
    (void)rl_semihosting(RL_SYS_WRITE0, text);
}

_Noreturn void rl_port_exit(int code) {
    const uintptr_t block[2] = {ADP_STOPPED_APPLICATION_EXIT, (uintptr_t)code};
    (void)rl_semihosting(RL_SYS_EXIT_EXTENDED, block);
    for (;;) {
    }
}

void rl_port_counter_start(void) {
    rl_board_counter_start();
}

uint32_t rl_port_counter_read(void) {
    return rl_board_counter_read();
}
