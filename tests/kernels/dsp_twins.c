/* Runs every helper of simd_dsp.h on one sample and writes all results: built for a DSP core and
 * for the host, the bytes must be the same. In: three words. */
#include "dsp_twins.h"

#include <string.h>

#include "common/simd_dsp.h"

int dsp_twins_run(const void *in, void *results) {
    uint32_t a, b, words[2];
    int32_t acc;
    memcpy(&a, in, 4);
    memcpy(&b, (const char *)in + 4, 4);
    memcpy(&acc, (const char *)in + 8, 4);
    int8_t bytes[12];
    rl_store4(bytes + 1, a);
    rl_copy_words(bytes + 5, bytes + 1, 7);
    const int32_t low = (int32_t)(b & 0x7fffu);
    const uint32_t shift = 17u + (a & 0xffu) % 23u;
    const int32_t zero_point = (int8_t)(uint8_t)b;
    const int32_t addend = rl_requantize_addend(zero_point, shift);
    words[0] = rl_load4(bytes + 1);
    words[1] = rl_pack4(acc, low, zero_point, 5);
    const uint32_t out[DSP_TWINS_OUT / 4] = {
        rl_sxtb16(a),
        rl_sxtb16_ror8(a),
        rl_sxtab16(a, b),
        rl_sxtab16_ror8(a, b),
        (uint32_t)rl_smlad(a, b, acc),
        (uint32_t)rl_smladx(a, b, acc),
        (uint32_t)rl_smlabb(a, b, acc),
        (uint32_t)rl_smlabt(a, b, acc),
        (uint32_t)rl_smlatb(a, b, acc),
        (uint32_t)rl_smlatt(a, b, acc),
        (uint32_t)rl_smlawb(acc, low, (int32_t)a),
        (uint32_t)rl_ssat8(acc),
        (uint32_t)rl_ssat8(zero_point * 3),
        rl_pack_low(a, b),
        rl_pack_high(a, b),
        rl_sadd16(a, b),
        rl_max_quad(a, b),
        rl_min_quad(a, b),
        (uint32_t)addend,
        (uint32_t)rl_requantize_dsp(acc, low, shift, addend),
        words[0],
        words[1],
        rl_load4(bytes + 7),
        rl_pack_quad(acc, low, zero_point, 5),
        rl_load_tail(bytes + 1, (int32_t)(a & 3u)),
    };
    memcpy(results, out, sizeof out);
    return 0;
}
