// QEMU plugin: how often each instruction address of a program runs, and is a branch that is taken,
// between two addresses.
//
// Arguments: out=FILE, start=ADDRESS (one or more), stop=ADDRESS. Counts begin anew each time a
// `start` is reached; when `stop` is reached for the first time after it, they are appended to the
// file: the number of entries, then address, count and count of branches taken of every instruction
// that ran, all little-endian uint64.
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
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *block,
                                          void (*callback)(unsigned, void *), int flags,
                                          void *data);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);
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
    struct counter {
        uint64_t runs, taken;
    } counts[PAGE / 2];
};

// A stretch of code that runs from its first to its last instruction. Blocks live as long as QEMU.
struct block {
    uint64_t first, next;  // next: the address behind it
    struct counter *last;
};

enum { MOST_STARTS = 64 };

static struct page *pages;
static uint64_t starts[MOST_STARTS], stop_address;
static size_t start_count;
static FILE *out;
static bool started;
static const struct block *before;  // the block that ran last

static struct counter *counter_of(uint64_t address) {
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
    if (!started) {
        return;
    }
    started = false;
    uint64_t entries = 0;
    for (const struct page *page = pages; page != NULL; page = page->next) {
        for (uint64_t i = 0; i < PAGE / 2; i++) {
            entries += page->counts[i].runs != 0;
        }
    }
    fwrite(&entries, sizeof entries, 1, out);
    for (const struct page *page = pages; page != NULL; page = page->next) {
        for (uint64_t i = 0; i < PAGE / 2; i++) {
            const struct counter *c = &page->counts[i];
            const uint64_t entry[3] = {page->base + 2 * i, c->runs, c->taken};
            if (c->runs != 0) {
                fwrite(entry, sizeof entry, 1, out);
            }
        }
    }
    fflush(out);
}

static void on_block(unsigned cpu, void *data) {
    (void)cpu;
    const struct block *block = data;
    if (before != NULL && before->next != block->first) {
        before->last->taken++;
    }
    before = block;
}

static void on_translate(qemu_plugin_id_t id, struct qemu_plugin_tb *tb) {
    (void)id;
    const size_t count = qemu_plugin_tb_n_insns(tb);
    struct block *block = malloc(sizeof *block);
    if (block == NULL) {
        abort();
    }
    for (size_t i = 0; i < count; i++) {
        struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
        const uint64_t address = qemu_plugin_insn_vaddr(insn);
        struct counter *counter = counter_of(address);
        if (i == 0) {
            block->first = address;
        }
        block->next = address + qemu_plugin_insn_size(insn);
        block->last = counter;
        for (size_t k = 0; k < start_count; k++) {
            if (address == starts[k]) {
                qemu_plugin_register_vcpu_insn_exec_cb(insn, on_start, QEMU_PLUGIN_CB_NO_REGS,
                                                       NULL);
            }
        }
        if (address == stop_address) {
            qemu_plugin_register_vcpu_insn_exec_cb(insn, on_stop, QEMU_PLUGIN_CB_NO_REGS, NULL);
        }
        qemu_plugin_register_vcpu_insn_exec_inline(insn, QEMU_PLUGIN_INLINE_ADD_U64, &counter->runs,
                                                   1);
    }
    qemu_plugin_register_vcpu_tb_exec_cb(tb, on_block, QEMU_PLUGIN_CB_NO_REGS, block);
}

int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc, char **argv) {
    (void)info;
    for (int i = 0; i < argc; i++) {
        if (strncmp(argv[i], "out=", 4) == 0) {
            out = fopen(argv[i] + 4, "wb");
        } else if (strncmp(argv[i], "start=", 6) == 0 && start_count < MOST_STARTS) {
            starts[start_count++] = strtoull(argv[i] + 6, NULL, 0);
        } else if (strncmp(argv[i], "stop=", 5) == 0) {
            stop_address = strtoull(argv[i] + 5, NULL, 0);
        } else {
            fprintf(stderr, "plugin: unknown or one too many: %s\n", argv[i]);
            return -1;
        }
    }
    if (out == NULL) {
        perror("plugin: out");
        return -1;
    }
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_translate);
    return 0;
}
