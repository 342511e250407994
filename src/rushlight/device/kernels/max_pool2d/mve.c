/* max_pool2d for MVE: 64 channels at once, then 16, the last of them predicated. Windows of up to
 * four taps have no loop over taps. */
#include "common/pool.h"
#include "common/taps_mve.h"
#include "max_pool2d/max_pool2d.h"

enum { LANES = 16, WIDE = 64, FEW = 4 };

static const int8_t LEAST = -128;

/* Each function: the channels of a run of pixels from the one at y, whose first tap is at offset. */
static void run_wide(const rl_window *w, const rl_area *area, int32_t offset, int32_t pixels,
                     int8_t *y) {
    const int32_t step = w->stride_w * w->in_c;
    for (; pixels > 0; pixels--) {
        const rl_s8x16 least = rl_vdupq_n_s8(LEAST);
        rl_s8x16 a[4] = {least, least, least, least};
        int32_t at = offset;
        for (int32_t i = area->rows; i > 0; i--) {
            rl_mve_max_64(a, area->image + at, area->col_step, area->cols);
            at = rl_area_next(area, at);
        }
        rl_vstrbq_s8(y, a[0]);
        rl_vstrbq_s8(y + LANES, a[1]);
        rl_vstrbq_s8(y + 2 * LANES, a[2]);
        rl_vstrbq_s8(y + 3 * LANES, a[3]);
        offset += step;
        y += w->out_c;
    }
}

static void run_sixteen(const rl_window *w, const rl_area *area, int32_t offset, int32_t pixels,
                        int8_t *y) {
    const int32_t step = w->stride_w * w->in_c;
    for (; pixels > 0; pixels--) {
        rl_s8x16 a = rl_vdupq_n_s8(LEAST);
        int32_t at = offset;
        for (int32_t i = area->rows; i > 0; i--) {
            rl_mve_max_16(&a, area->image + at, area->col_step, area->cols);
            at = rl_area_next(area, at);
        }
        rl_vstrbq_s8(y, a);
        offset += step;
        y += w->out_c;
    }
}

/* All whole blocks of channels where a window has at most four taps; missing ones repeat the last.
 */
static void run_few(const rl_window *w, const rl_area *area, int32_t pixels, int8_t *y) {
    const int8_t *taps[FEW] = {area->image};
    int32_t count = 0, at = area->offset;
    for (int32_t i = area->rows; i > 0; i--) {
        for (int32_t j = 0; j < area->cols; j++) {
            taps[count++] = area->image + at + j * area->col_step;
        }
        at = rl_area_next(area, at);
    }
    for (; count < FEW; count++) {
        taps[count] = taps[count - 1];
    }
    for (int32_t c = LANES; c <= w->in_c; c += LANES) {
        rl_mve_max_four(taps, w->stride_w * w->in_c, y, w->out_c, pixels);
        taps[0] += LANES;
        taps[1] += LANES;
        taps[2] += LANES;
        taps[3] += LANES;
        y += LANES;
    }
}

static void run_rest(const rl_window *w, const rl_area *area, int32_t offset, int32_t pixels,
                     int8_t *y, int32_t channels) {
    const int32_t step = w->stride_w * w->in_c;
    const rl_pred part = rl_vctp8q((uint32_t)channels);
    for (; pixels > 0; pixels--) {
        rl_s8x16 a = rl_vdupq_n_s8(LEAST);
        int32_t at = offset;
        for (int32_t i = area->rows; i > 0; i--) {
            const int8_t *tap = area->image + at;
            for (int32_t j = area->cols; j > 0; j--) {
                a = rl_vmaxq_s8(a, rl_vldrbq_z_s8(tap, part));
                tap += area->col_step;
            }
            at = rl_area_next(area, at);
        }
        rl_vstrbq_p_s8(y, a, part);
        offset += step;
        y += w->out_c;
    }
}

static void run(const rl_area *area, int32_t row, int32_t col, int32_t pixels, int8_t *y,
                void *context) {
    const rl_window *w = context;
    int32_t c = 0;
    (void)row;
    (void)col;
    if (area->rows * area->cols <= FEW) {
        run_few(w, area, pixels, y);
        c = w->in_c / LANES * LANES;
    }
    for (; c + WIDE <= w->in_c; c += WIDE) {
        run_wide(w, area, area->offset + c, pixels, y + c);
    }
    for (; c + LANES <= w->in_c; c += LANES) {
        run_sixteen(w, area, area->offset + c, pixels, y + c);
    }
    if (c < w->in_c) {
        run_rest(w, area, area->offset + c, pixels, y + c, w->in_c - c);
    }
}

void rl_max_pool2d_s8_mve(const rl_max_pool2d_params *p, const int8_t *x, int8_t *y) {
    rl_window window = p->window;
    rl_pool_runs(&window, x, y, run, &window);
}
