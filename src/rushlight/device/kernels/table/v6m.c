/* table in portable C. */
#include "table/table.h"

void rl_table_s8_v6m(const rl_table_params *p, const int8_t *x, const int8_t *table, int8_t *y) {
    int32_t i = 0;
    for (; i + 4 <= p->count; i += 4) {
        const int8_t y0 = table[(uint8_t)x[0]], y1 = table[(uint8_t)x[1]];
        const int8_t y2 = table[(uint8_t)x[2]], y3 = table[(uint8_t)x[3]];
        y[0] = y0;
        y[1] = y1;
        y[2] = y2;
        y[3] = y3;
        x += 4;
        y += 4;
    }
    for (; i < p->count; i++) {
        *y++ = table[(uint8_t)*x++];
    }
}
