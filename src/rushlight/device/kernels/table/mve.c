/* table by gather loads, sixteen entries at once. */
#include "common/simd_mve.h"
#include "table/table.h"

void rl_table_s8_mve(const rl_table_params *p, const int8_t *x, const int8_t *table, int8_t *y) {
    const uint8_t *from = (const uint8_t *)x, *entries = (const uint8_t *)table;
    uint8_t *to = (uint8_t *)y;
    int32_t left = p->count;
    for (; left >= 16; left -= 16) {
        const rl_u8x16 index = rl_vldrbq_u8(from);
        rl_vstrbq_u8(to, rl_vldrbq_gather_offset_u8(entries, index));
        from += 16;
        to += 16;
    }
    if (left > 0) {
        const rl_pred mask = rl_vctp8q((uint32_t)left);
        const rl_u8x16 index = rl_vldrbq_z_u8(from, mask);
        rl_vstrbq_p_u8(to, rl_vldrbq_gather_offset_u8(entries, index), mask);
    }
}
