// What the harness (runner.c) needs from the machine it runs on: files, one line of text, an exit
// code, a counter and the depth of the stack. Chips get it from semihosting.c and stack.c, a PC
// from host/port.c.
#ifndef RUSHLIGHT_BOARD_PORT_H_
#define RUSHLIGHT_BOARD_PORT_H_

#include <stddef.h>
#include <stdint.h>

// Exit codes, read by rushlight.run.
enum {
    RL_EXIT_FAULT = 70,           // HardFault
    RL_EXIT_STACK_OVERFLOW = 71,  // the stack ran past its end
    RL_EXIT_FILE = 72,            // a file could not be opened, read or written
    RL_EXIT_MODEL = 73            // the model returned an error code
};

// Opens a file of the current directory; returns a handle, or -1.
int rl_port_open_read(const char *name);
int rl_port_open_write(const char *name);
// Moves up to `size` bytes; returns how many were moved.
size_t rl_port_read(int file, void *data, size_t size);
size_t rl_port_write(int file, const void *data, size_t size);
void rl_port_close(int file);
// Prints a zero-terminated text on the error stream.
void rl_port_puts(const char *text);
_Noreturn void rl_port_exit(int code);

// Restarts the counter at 0, and reads it, in ticks of the board's timer (board.toml: timer_hz). It
// reads UINT32_MAX once it has passed that.
void rl_port_counter_start(void);
uint32_t rl_port_counter_read(void);

// Fills the free part of the stack with a pattern, and measures how far below the caller's frame
// the stack has been written since, in bytes. Zero where it cannot be known.
void rl_port_stack_paint(void);
uint32_t rl_port_stack_used(void);

#endif  // RUSHLIGHT_BOARD_PORT_H_
