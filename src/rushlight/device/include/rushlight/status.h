/* What a model's entry returns. */
#ifndef RUSHLIGHT_STATUS_H
#define RUSHLIGHT_STATUS_H

enum {
    RL_OK = 0,
    RL_ERROR_NULL = 1,     /* a pointer to an input or output is null */
    RL_ERROR_ALIGNMENT = 2 /* a pointer is not a multiple of its element's size */
};

/* The code in words; the text is in the program only where this is used. */
static inline const char *rl_status_text(int status) {
    switch (status) {
        case RL_OK:
            return "ok";
        case RL_ERROR_NULL:
            return "an input or output is a null pointer";
        case RL_ERROR_ALIGNMENT:
            return "an input or output is not aligned to its element";
        default:
            return "unknown status";
    }
}

#endif
