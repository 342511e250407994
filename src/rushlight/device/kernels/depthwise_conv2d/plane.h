/* What the scalar and DSP kernels share. One or four input channels at a time are gathered into
 * planes in scratch, padding included: rows `plane_pitch` apart, at most `plane_rows` output rows at a time.
 * There a tile of neighbouring pixels shares its loads of inputs and weights and no border needs
 * care. The padding is the same for all channels, so it is written once. */
#ifndef RUSHLIGHT_KERNELS_DEPTHWISE_CONV2D_PLANE_H
#define RUSHLIGHT_KERNELS_DEPTHWISE_CONV2D_PLANE_H

#include <stddef.h>

#include "common/word.h"
#include "depthwise_conv2d/depthwise_conv2d.h"

/* Functions of their own: inlined into the walk they would not keep their sums in registers. */
#define RL_DW_NOINLINE __attribute__((noinline))

/* Output rows row .. row + rows - 1 of one output channel. */
typedef struct rl_dw_band {
    int8_t *plane;
    const int8_t *weights; /* of this channel, [taps] */
    const int32_t *offsets;
    int8_t *y;           /* the first row's first pixel in this channel */
    int32_t before_wrap; /* rows until y is at the end of its ring */
    int32_t row, rows;
} rl_dw_band;

typedef void rl_dw_channel(const rl_depthwise_conv2d_params *p, const rl_dw_band *band,
                           const rl_channel *channel);

/* Where in a plane the taps of its first window lie: table[taps], for the kernels of any window. */
static inline void rl_dw_offsets(const rl_depthwise_conv2d_params *p, int32_t *table) {
    const rl_window *w = &p->window;
    int32_t run = 0; /* columns of a phase */
    for (int32_t column = 0; column < p->plane_pitch; column += w->stride_w) {
        run++;
    }
    for (int32_t k = 0; k < w->kernel_h; k++) {
        int32_t at = k * w->dilation_h * p->plane_pitch, phase = 0;
        for (int32_t l = 0; l < w->kernel_w; l++) {
            *table++ = at + phase * run;
            for (phase += w->dilation_w; phase >= w->stride_w; phase -= w->stride_w) {
                at++;
            }
        }
    }
}

/* Every step-th byte of a row. Loads go before stores, as bytes may alias. */
static inline void rl_dw_gather(const int8_t *from, int32_t step, int8_t *to, int32_t count,
                                int32_t flip) {
    for (; count >= 4; count -= 4) {
        const int32_t a = from[0], b = from[step], c = from[2 * step], d = from[3 * step];
        from += 4 * step;
        to[0] = (int8_t)(a ^ flip);
        to[1] = (int8_t)(b ^ flip);
        to[2] = (int8_t)(c ^ flip);
        to[3] = (int8_t)(d ^ flip);
        to += 4;
    }
    for (; count > 0; count--) {
        *to++ = (int8_t)(*from ^ flip);
        from += step;
    }
}

/* Four channels at once to planes `size` bytes apart. */
static inline void rl_dw_spread(const int8_t *from, int32_t step, int8_t *to, int32_t count,
                                int32_t flip, int32_t size) {
    for (; count > 0; count--) {
        if (flip == 0) {
            const uint32_t word = rl_load4(from);
            to[0] = (int8_t)word;
            to[size] = (int8_t)(word >> 8);
            to[2 * size] = (int8_t)(word >> 16);
            to[3 * size] = (int8_t)(word >> 24);
        } else { /* Armv6-M has no unaligned words */
            const int32_t a = from[0], b = from[1], c = from[2], d = from[3];
            to[0] = (int8_t)(a ^ flip);
            to[size] = (int8_t)(b ^ flip);
            to[2 * size] = (int8_t)(c ^ flip);
            to[3 * size] = (int8_t)(d ^ flip);
        }
        from += step;
        to++;
    }
}

/* Rows of the image that go to a plane. */
typedef struct rl_dw_source {
    int32_t begin, end; /* rows of the image */
    int8_t *to;         /* the plane's row of `begin` */
    int32_t size;       /* bytes of a plane */
} rl_dw_source;

/* One channel, or four, of the image's rows, `x` being its first pixel. Columns lie in `phases`
 * runs: first those whose number is a multiple of `phases`, then the next ones, …; from column
 * pad_left on they hold the image. */
static inline void rl_dw_gather_rows(const rl_depthwise_conv2d_params *p, const int8_t *x,
                                     const rl_dw_source *source, int32_t channels, int32_t phases,
                                     int32_t flip) {
    const rl_window *w = &p->window;
    const int32_t pitch = p->plane_pitch, in_pitch = w->in_pitch, step = phases * w->in_c;
    const int32_t last = pitch < w->pad_left + w->in_w ? pitch : w->pad_left + w->in_w;
    const int32_t begin = rl_row_offset(source->begin, w->in_ring, 1), size = source->size;
    int8_t *to = source->to;
    for (int32_t phase = 0; phase < phases; phase++) {
        int32_t first = phase, count = 0;
        int8_t *line = to;
        for (; first < w->pad_left; first += phases) {
            line++;
        }
        if (phases == 1) {
            count = last - first;
        }
        for (int32_t column = first; phases > 1 && column < last; column += phases) {
            count++;
        }
        const int8_t *from = x + begin * in_pitch + (first - w->pad_left) * w->in_c;
        int32_t before_wrap = w->in_ring - begin;
        for (int32_t rows = source->end - source->begin; rows > 0; rows--) {
            if (channels == 4) {
                rl_dw_spread(from, step, line, count, flip, size);
            } else {
                rl_dw_gather(from, step, line, count, flip);
            }
            line += pitch;
            from += in_pitch;
            if (--before_wrap == 0) {
                from -= w->in_ring * in_pitch;
            }
        }
        for (int32_t column = phase; column < pitch; column += phases) {
            to++;
        }
    }
}

static RL_DW_NOINLINE void rl_dw_gather_1(const rl_depthwise_conv2d_params *p, const int8_t *x,
                                          const rl_dw_source *source, int32_t phases,
                                          int32_t flip) {
    rl_dw_gather_rows(p, x, source, 1, phases, flip);
}

static RL_DW_NOINLINE void rl_dw_gather_4(const rl_depthwise_conv2d_params *p, const int8_t *x,
                                          const rl_dw_source *source, int32_t phases,
                                          int32_t flip) {
    rl_dw_gather_rows(p, x, source, 4, phases, flip);
}

/* One band of rows, all channels. */
static inline void rl_dw_planes_band(const rl_depthwise_conv2d_params *p, const int8_t *x,
                                     const rl_channel *channel, int8_t *y, rl_dw_band *band,
                                     int32_t phases, int32_t flip, rl_dw_channel *run) {
    const rl_window *w = &p->window;
    const int32_t extent = (w->kernel_h - 1) * w->dilation_h + 1;
    const int32_t height = (band->rows - 1) * w->stride_h + extent;
    const int32_t first = band->row * w->stride_h - w->pad_top; /* image row of the plane's first */
    int8_t *const plane = band->plane;
    rl_dw_source source;
    source.size = height * p->plane_pitch;
    source.begin = first < 0 ? 0 : first;
    source.end = first + height < w->in_h ? first + height : w->in_h;
    source.to = plane + (source.begin - first) * p->plane_pitch;
    __builtin_memset(plane, p->in_zero_point ^ flip, (size_t)(source.size * p->planes));
    band->y = y + rl_row_offset(band->row, w->out_ring, w->out_pitch);
    band->before_wrap = w->out_ring - rl_row_offset(band->row, w->out_ring, 1);
    for (int32_t c = 0; c < w->in_c;) {
        int32_t count = p->planes;
        if (count == 4 && c + 4 <= w->in_c) {
            rl_dw_gather_4(p, x + c, &source, phases, flip);
        } else {
            count = 1;
            rl_dw_gather_1(p, x + c, &source, phases, flip);
        }
        band->plane = plane;
        for (c += count; count > 0; count--) {
            for (int32_t m = 0; m < p->multiplier; m++) {
                run(p, band, channel++);
                band->weights += p->taps;
                band->y++;
            }
            band->plane += source.size;
        }
    }
    band->plane = plane;
}

/* All output rows and channels. `offsets` is for the channel's function alone. `flip` is 0x80 where
 * planes hold x + 128, else 0; with `phases` > 1 plane_pitch is a multiple of it. */
static inline void rl_dw_planes(const rl_depthwise_conv2d_params *p, const int8_t *x,
                                const int8_t *weights, const rl_channel *channels, int8_t *y,
                                const int32_t *offsets, int8_t *plane, int32_t phases, int32_t flip,
                                rl_dw_channel *run) {
    const rl_window *w = &p->window;
    for (int32_t n = 0; n < w->batch; n++) {
        rl_dw_band band = {.plane = plane, .offsets = offsets};
        for (band.row = w->row_begin; band.row < w->row_end; band.row += p->plane_rows) {
            const int32_t left = w->row_end - band.row;
            band.rows = left < p->plane_rows ? left : p->plane_rows;
            band.weights = weights;
            rl_dw_planes_band(p, x, channels, y, &band, phases, flip, run);
        }
        x += w->in_ring * w->in_pitch;
        y += w->out_ring * w->out_pitch;
    }
}

#endif
