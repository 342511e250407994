/* Runs kernels on test cases under sanitizers. Reads cases from the first file, writes outputs to
 * the second.
 *
 * A case: int32 kernel number, buffer count, then for each buffer int32 kind, bytes, offset and its
 * bytes (kinds that have some). Each buffer is its own heap block that ends where the buffer ends,
 * so that the address sanitizer sees one byte too many, and begins with guard bytes that are
 * checked afterwards. An output may lie on an input (kind ALIAS, bytes = index). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dispatch.h"

enum { INPUT = 0, OUTPUT = 1, SCRATCH = 2, ALIAS = 3, MAX_BUFFERS = 48, GUARD = 64 };
static const unsigned char kGuard = 0xA5;

static void fail(const char *what) {
    fprintf(stderr, "driver: %s\n", what);
    exit(3);
}

static int32_t get_int(FILE *file) {
    int32_t value;
    if (fread(&value, sizeof value, 1, file) != 1) {
        fail("case file cut short");
    }
    return value;
}

static void run_case(FILE *in, FILE *out, int32_t kernel) {
    unsigned char *blocks[MAX_BUFFERS] = {0}, *copies[MAX_BUFFERS] = {0};
    void *buffers[MAX_BUFFERS] = {0};
    int32_t kinds[MAX_BUFFERS], sizes[MAX_BUFFERS], offsets[MAX_BUFFERS];
    const int32_t count = get_int(in);
    if (count > MAX_BUFFERS) {
        fail("too many buffers");
    }
    for (int32_t i = 0; i < count; i++) {
        kinds[i] = get_int(in);
        sizes[i] = get_int(in);
        offsets[i] = get_int(in);
        if (kinds[i] == ALIAS) {
            buffers[i] = buffers[sizes[i]];
            continue;
        }
        const size_t begin = (size_t)(GUARD + offsets[i]);
        const size_t size = (size_t)sizes[i];
        blocks[i] = malloc(begin + size);
        memset(blocks[i], kGuard, begin + size);
        buffers[i] = blocks[i] + begin;
        if (kinds[i] == INPUT) {
            if (fread(buffers[i], 1, size, in) != size) {
                fail("case file cut short");
            }
            copies[i] = malloc(size + 1);
            memcpy(copies[i], buffers[i], size);
        }
    }
    rl_test_dispatch(kernel, buffers);
    int32_t aliased = -1;
    for (int32_t i = 0; i < count; i++) {
        if (kinds[i] == ALIAS) {
            aliased = sizes[i];
            fwrite(buffers[i], 1, (size_t)sizes[aliased], out);
        } else if (kinds[i] == OUTPUT) {
            fwrite(buffers[i], 1, (size_t)sizes[i], out);
        }
    }
    for (int32_t i = 0; i < count; i++) {
        if (kinds[i] == ALIAS) {
            continue;
        }
        for (int32_t k = 0; k < GUARD + offsets[i]; k++) {
            if (blocks[i][k] != kGuard) {
                fail("a kernel wrote before a buffer");
            }
        }
        if (kinds[i] == INPUT && i != aliased &&
            memcmp(copies[i], buffers[i], (size_t)sizes[i]) != 0) {
            fail("a kernel wrote on its input");
        }
        free(copies[i]);
        free(blocks[i]);
    }
}

int main(int argc, char **argv) {
    if (argc != 3) {
        fail("usage: driver CASES OUTPUTS");
    }
    FILE *in = fopen(argv[1], "rb");
    FILE *out = fopen(argv[2], "wb");
    if (in == NULL || out == NULL) {
        fail("cannot open the files");
    }
    int32_t kernel, done = 0;
    while (fread(&kernel, sizeof kernel, 1, in) == 1) {
        fprintf(stderr, "\rcase %d", (int)done++); /* the last one printed is the one that failed */
        run_case(in, out, kernel);
    }
    fclose(in);
    fclose(out);
    return 0;
}
