#include "conv2d/pair_walk.h"

#include <string.h>

#include "common/requant.h"

/* Fewer last pixels than this are computed one by one. */
enum { OVERLAP = 3 };

/* One copy of what several loops call. */
#define NOINLINE __attribute__((noinline))

/* Where the bytes of one call lie. */
typedef struct walk {
    const rl_conv2d_pair_params *p;
    const int8_t *image; /* the group's first channel */
    int32_t run;         /* bytes of a run */
    uint32_t *words;
    int8_t *blank;  /* a run of padding */
    int8_t *own[2]; /* a run for each pixel of a pair, partly padding */
} walk;

/* An output pixel. */
typedef struct place {
    int32_t row, column;
} place;

/* The place, which then moves on. */
static inline place take(const walk *k, place *at) {
    const place taken = *at;
    if (++at->column == k->p->window.out_w) {
        at->column = 0;
        at->row++;
    }
    return taken;
}

/* The run that begins at input row iy and column ix; own is filled if some of it is padding. */
static NOINLINE const int8_t *run_at(const walk *k, int32_t iy, int32_t ix, int8_t *own) {
    const rl_window *w = &k->p->window;
    const int32_t taps = k->p->run_taps;
    if (iy < 0 || iy >= w->in_h || ix >= w->in_w || ix + taps <= 0) {
        return k->blank;
    }
    const int8_t *row = k->image + rl_row_offset(iy, w->in_ring, w->in_pitch);
    if (ix >= 0 && ix + taps <= w->in_w) {
        return row + ix * w->in_c;
    }
    const int32_t begin = rl_clamp(ix, 0, w->in_w), end = rl_clamp(ix + taps, 0, w->in_w);
    memcpy(own, k->blank, (size_t)k->run);
    memcpy(own + (begin - ix) * w->in_c, row + begin * w->in_c, (size_t)((end - begin) * w->in_c));
    return own;
}

static inline uint32_t pair(int32_t x0, int32_t x1) {
    return (uint32_t)x0 + ((uint32_t)x1 << 16);
}

/* size taps of two pixels as words, each `words` behind the one before. */
static inline void pack(uint32_t *to, const int8_t *x0, const int8_t *x1, int32_t size,
                        int32_t words) {
    for (; size >= 4; size -= 4) {
        to[0] = pair(x0[0], x1[0]);
        to[words] = pair(x0[1], x1[1]);
        to[2 * words] = pair(x0[2], x1[2]);
        to[3 * words] = pair(x0[3], x1[3]);
        to += 4 * words;
        x0 += 4;
        x1 += 4;
    }
    for (; size > 0; size--) {
        *to = pair(*x0++, *x1++);
        to += words;
    }
}

static NOINLINE void pack4(uint32_t *to, const int8_t *x0, const int8_t *x1, int32_t size) {
    pack(to, x0, x1, size, 4);
}

static NOINLINE void pack2(uint32_t *to, const int8_t *x0, const int8_t *x1, int32_t size) {
    pack(to, x0, x1, size, 2);
}

/* Packs the windows of two pixels into one column of words. */
static NOINLINE void gather_pair(const walk *k, place a, place b, uint32_t *to, int32_t words) {
    const rl_window *w = &k->p->window;
    int32_t ya = a.row * w->stride_h - w->pad_top, yb = b.row * w->stride_h - w->pad_top;
    const int32_t xa = a.column * w->stride_w - w->pad_left;
    const int32_t xb = b.column * w->stride_w - w->pad_left;
    for (int32_t ky = w->kernel_h; ky > 0; ky--) {
        for (int32_t kx = 0; kx < w->kernel_w; kx += k->p->run_taps) {
            const int32_t right = kx * w->dilation_w;
            const int8_t *x0 = run_at(k, ya, xa + right, k->own[0]);
            const int8_t *x1 = run_at(k, yb, xb + right, k->own[1]);
            if (words == 4) {
                pack4(to, x0, x1, k->run);
            } else {
                pack2(to, x0, x1, k->run);
            }
            to += k->run * words;
        }
        ya += w->dilation_h;
        yb += w->dilation_h;
    }
}

/* One pixel's window as a row of bytes. */
static NOINLINE int8_t *gather_one(const walk *k, place at) {
    const rl_window *w = &k->p->window;
    int8_t *row = (int8_t *)k->words, *to = row;
    int32_t iy = at.row * w->stride_h - w->pad_top;
    for (int32_t ky = w->kernel_h; ky > 0; ky--) {
        const int32_t ix = at.column * w->stride_w - w->pad_left;
        for (int32_t kx = 0; kx < w->kernel_w; kx += k->p->run_taps) {
            memcpy(to, run_at(k, iy, ix + kx * w->dilation_w, k->own[0]), (size_t)k->run);
            to += k->run;
        }
        iy += w->dilation_h;
    }
    return row;
}

static NOINLINE void narrow(const rl_conv2d_pair_params *p, int8_t *y, int32_t pixels) {
    const int32_t low = p->out_min, high = p->out_max;
    if (low == -128 && high == 127) {
        return;
    }
    for (; pixels > 0; pixels--) {
        for (int32_t o = 0; o < p->group_out; o++) {
            y[o] = (int8_t)rl_clamp(y[o], low, high);
        }
        y += p->window.out_c;
    }
}

/* count pixels from the start of output row `row`, which lie window.out_c bytes apart. Returns where
 * the next group's stream begins. */
static const int8_t *compute(const walk *k, const rl_pair_tier *tier, int32_t row, int32_t count,
                             const int8_t *weights, const int8_t *stream, const void *channels,
                             int8_t *y) {
    const rl_conv2d_pair_params *p = k->p;
    const int32_t step = p->window.out_c, width = p->window.out_w, size = tier->pixels;
    const rl_pair_layer t = {p->group_out, step,    2 * p->out_zero_point + 1,
                             p->depth,     weights, p->channel_bytes,
                             size / 2};
    const int8_t *end = stream;
    place at = {row, 0};
    int32_t done = 0;
    while (done < count) {
        const int32_t left = count - done;
        if (left < size && (left < OVERLAP || count < size)) {
            const int8_t *window = gather_one(k, take(k, &at));
            end = tier->pixel(&t, window, stream, channels, y + done * step);
            narrow(p, y + done * step, 1);
            done++;
            continue;
        }
        if (left < size) {
            done = count - size;
            at.row = row + done / width;
            at.column = done % width;
        }
        for (int32_t word = 0; word < t.words; word++) {
            const place first = take(k, &at), second = take(k, &at);
            gather_pair(k, first, second, k->words + word, t.words);
        }
        end = tier->tile(&t, k->words, stream, channels, y + done * step);
        narrow(p, y + done * step, size);
        done += size;
    }
    return end; /* cppcheck-suppress returnDanglingLifetime ; it points into stream */
}

void rl_conv2d_pair_walk(const rl_conv2d_pair_params *p, const rl_pair_tier *tier, const int8_t *x,
                         const int8_t *weights, const int8_t *stream, const void *channels,
                         int8_t *y, void *scratch) {
    const rl_window *w = &p->window;
    const int32_t run = p->run_taps * p->group_in;
    int8_t *blank = (int8_t *)scratch + 2 * tier->pixels * p->depth;
    walk k = {p, x, run, scratch, blank, {blank + run, blank + 2 * run}};
    if (p->padded) {
        memset(blank, p->in_zero_point, (size_t)run);
    }
    const int32_t dense = w->out_pitch == w->out_w * w->out_c && w->row_end <= w->out_ring;
    const int32_t rows = dense ? w->row_end - w->row_begin : 1;
    for (int32_t n = 0; n < w->batch; n++) {
        for (int32_t row = w->row_begin; row < w->row_end; row += rows) {
            const int8_t *group_weights = weights, *group_stream = stream;
            const int8_t *group_channels = channels;
            int8_t *to = y + rl_row_offset(row, w->out_ring, w->out_pitch);
            for (int32_t g = 0; g < p->groups; g++) {
                k.image = x + g * p->group_in;
                group_stream = compute(&k, tier, row, rows * w->out_w, group_weights, group_stream,
                                       group_channels, to + g * p->group_out);
                group_weights += tier->group_weights;
                group_channels += p->group_out * p->channel_bytes;
            }
        }
        x += w->in_ring * w->in_pitch;
        y += w->out_ring * w->out_pitch;
    }
}
