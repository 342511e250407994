/* Alignment, in C11 and C++11. */
#ifndef RUSHLIGHT_ALIGN_H
#define RUSHLIGHT_ALIGN_H

#include <stdint.h>

/* Put before a definition: its address is a multiple of `bytes`. */
#ifdef __cplusplus
#define RL_ALIGN(bytes) alignas(bytes)
#else
#define RL_ALIGN(bytes) _Alignas(bytes)
#endif

/* Whether a pointer is a multiple of `bytes`, a power of two. */
#define RL_IS_ALIGNED(pointer, bytes) (((uintptr_t)(pointer) & ((uintptr_t)(bytes) - 1u)) == 0u)

#endif
