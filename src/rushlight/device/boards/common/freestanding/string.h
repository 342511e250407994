// The part of <string.h> that Rushlight uses, for toolchains without a C library. The functions are
// in mem.c; the builtins let the compiler expand short constant sizes.
#ifndef RUSHLIGHT_BOARD_STRING_H_
#define RUSHLIGHT_BOARD_STRING_H_

#include <stddef.h>

#define memcpy __builtin_memcpy
#define memmove __builtin_memmove
#define memset __builtin_memset
#define memcmp __builtin_memcmp

#endif  // RUSHLIGHT_BOARD_STRING_H_
