// QEMU plugin: how often each instruction address of a program runs, between two addresses.
//
// Arguments: out=FILE, start=ADDRESS, stop=ADDRESS. Counts begin anew each time `start` is reached
// and are written when `stop` is reached for the first time after it: little-endian uint64 address
// and count of every instruction that ran.
//
// Declares what it uses of QEMU's plugin interface itself, as no package has the header; it is the
// same since version 1 of the interface (QEMU 4.2).
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
enum { QEMU_PLUGIN_CB_NO_REGS = 0, QEMU_PLUGIN_INLINE_ADD_U64 = 0 };

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id,
                                           void (*callback)(qemu_plugin_id_t,
                                                            struct qemu_plugin_tb *));
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *block);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *block, size_t index);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);
void qemu_plugin_register_vcpu_insn_exec_inline(struct qemu_plugin_insn *insn, int operation,
                                                void *counter, uint64_t value);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn,
                                            void (*callback)(unsigned, void *), int flags,
                                            void *data);

EXPORT int qemu_plugin_version = 1;
EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc, char **argv);

// Counters of an aligned stretch of code, made when the first instruction in it is translated.
enum { PAGE = 4096 };
struct page {
    struct page *next;
    uint64_t base;
    uint64_t counts[PAGE / 2];
};

static struct page *pages;
static uint64_t start_address, stop_address;
static const char *out_name;
static bool started, written;

static uint64_t *counter_of(uint64_t address) {
    const uint64_t base = address & ~(uint64_t)(PAGE - 1);
    struct page *page = pages;
    while (page != NULL && page->base != base) {
        page = page->next;
    }
    if (page == NULL) {
        page = calloc(1, sizeof *page);
        if (page == NULL) {
            abort();
        }
        page->base = base;
        page->next = pages;
        pages = page;
    }
    return &page->counts[(address - base) / 2];
}

static void on_start(unsigned cpu, void *data) {
    (void)cpu;
    (void)data;
    for (struct page *page = pages; page != NULL; page = page->next) {
        memset(page->counts, 0, sizeof page->counts);
    }
    started = true;
}

static void on_stop(unsigned cpu, void *data) {
    (void)cpu;
    (void)data;
    if (!started || written) {
        return;
    }
    written = true;
    FILE *file = fopen(out_name, "wb");
    if (file == NULL) {
        perror(out_name);
        return;
    }
    for (const struct page *page = pages; page != NULL; page = page->next) {
        for (uint64_t i = 0; i < PAGE / 2; i++) {
            const uint64_t entry[2] = {page->base + 2 * i, page->counts[i]};
            if (entry[1] != 0) {
                fwrite(entry, sizeof entry, 1, file);
            }
        }
    }
    fclose(file);
}

static void on_translate(qemu_plugin_id_t id, struct qemu_plugin_tb *block) {
    (void)id;
    for (size_t i = 0; i < qemu_plugin_tb_n_insns(block); i++) {
        struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(block, i);
        const uint64_t address = qemu_plugin_insn_vaddr(insn);
        if (address == start_address) {
            qemu_plugin_register_vcpu_insn_exec_cb(insn, on_start, QEMU_PLUGIN_CB_NO_REGS, NULL);
        }
        if (address == stop_address) {
            qemu_plugin_register_vcpu_insn_exec_cb(insn, on_stop, QEMU_PLUGIN_CB_NO_REGS, NULL);
        }
        qemu_plugin_register_vcpu_insn_exec_inline(insn, QEMU_PLUGIN_INLINE_ADD_U64,
                                                   counter_of(address), 1);
    }
}

int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc, char **argv) {
    (void)info;
    for (int i = 0; i < argc; i++) {
        if (strncmp(argv[i], "out=", 4) == 0) {
            out_name = strdup(argv[i] + 4);
        } else if (strncmp(argv[i], "start=", 6) == 0) {
            start_address = strtoull(argv[i] + 6, NULL, 0);
        } else if (strncmp(argv[i], "stop=", 5) == 0) {
            stop_address = strtoull(argv[i] + 5, NULL, 0);
        } else {
            fprintf(stderr, "plugin: unknown argument %s\n", argv[i]);
            return -1;
        }
    }
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_translate);
    return out_name == NULL;
}
