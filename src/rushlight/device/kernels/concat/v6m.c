/* concat in portable C. */
#include "concat/concat.h"

static void place(int32_t outer, int32_t row, int32_t run, const int8_t *x, int8_t *y) {
    if (run > 0) {
        for (int32_t i = 0; i < outer; i++) {
            __builtin_memcpy(y, x, (uint32_t)run);
            x += run;
            y += row;
        }
    }
}

static void place_mapped(int32_t outer, int32_t row, int32_t run, const int8_t *x,
                         const int8_t *table, int8_t *y) {
    for (int32_t i = 0; i < outer; i++) {
        for (int32_t k = 0; k < run; k++) {
            y[k] = table[(uint8_t)x[k]];
        }
        x += run;
        y += row;
    }
}

#define RL_NAMES2 x0, x1
#define RL_NAMES4 RL_NAMES2, x2, x3
#define RL_NAMES8 RL_NAMES4, x4, x5, x6, x7
#define RL_NAMES16 RL_NAMES8, x8, x9, x10, x11, x12, x13, x14, x15
#define RL_NAMES32 \
    RL_NAMES16, x16, x17, x18, x19, x20, x21, x22, x23, x24, x25, x26, x27, x28, x29, x30, x31

#define RL_CONCAT_DEFINE(n)                                                               \
    void rl_concat##n##_s8_v6m(const rl_concat##n##_params *p, RL_INPUTS##n, int8_t *y) { \
        const int8_t *const inputs[] = {RL_NAMES##n};                                     \
        for (int32_t i = 0; i < n; i++) {                                                 \
            place(p->outer, p->row, p->run[i], inputs[i], y + p->offset[i]);              \
        }                                                                                 \
    }                                                                                     \
    void rl_concat##n##_table_s8_v6m(const rl_concat##n##_params *p, RL_INPUTS##n,        \
                                     const int8_t *tables, int8_t *y) {                   \
        const int8_t *const inputs[] = {RL_NAMES##n};                                     \
        for (int32_t i = 0; i < n; i++) {                                                 \
            int8_t *to = y + p->offset[i];                                                \
            if (p->table[i] < 0) {                                                        \
                place(p->outer, p->row, p->run[i], inputs[i], to);                        \
            } else {                                                                      \
                const int8_t *table = tables + 256 * p->table[i];                         \
                place_mapped(p->outer, p->row, p->run[i], inputs[i], table, to);          \
            }                                                                             \
        }                                                                                 \
    }

RL_CONCAT_DEFINE(2)
RL_CONCAT_DEFINE(4)
RL_CONCAT_DEFINE(8)
RL_CONCAT_DEFINE(16)
RL_CONCAT_DEFINE(32)
