// port.h on a PC: files through stdio; no counter and no stack depth.
#include "port.h"

#include <stdio.h>
#include <stdlib.h>

static FILE *files[3];

static int open_file(const char *name, const char *mode) {
    for (int i = 0; i < 3; i++) {
        if (files[i] == NULL) {
            files[i] = fopen(name, mode);
            return files[i] != NULL ? i : -1;
        }
    }
    return -1;
}

int rl_port_open_read(const char *name) {
    return open_file(name, "rb");
}

int rl_port_open_write(const char *name) {
    return open_file(name, "wb");
}

size_t rl_port_read(int file, void *data, size_t size) {
    return fread(data, 1, size, files[file]);
}

size_t rl_port_write(int file, const void *data, size_t size) {
    return fwrite(data, 1, size, files[file]);
}

void rl_port_close(int file) {
    if (fclose(files[file]) != 0) {
        rl_port_puts("rushlight: cannot write the results\n");
        rl_port_exit(RL_EXIT_FILE);
    }
    files[file] = NULL;
}

void rl_port_puts(const char *text) {
    fputs(text, stderr);
}

_Noreturn void rl_port_exit(int code) {
    exit(code);
}

void rl_port_counter_start(void) {}

uint32_t rl_port_counter_read(void) {
    return 0;
}

void rl_port_stack_paint(void) {}

uint32_t rl_port_stack_used(void) {
    return 0;
}
