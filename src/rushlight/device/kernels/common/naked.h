/* A function whose body is one assembly statement, which keeps to the calling convention. The
 * compiler must not conclude from the body which registers or arguments it uses. */
#ifndef RUSHLIGHT_KERNELS_COMMON_NAKED_H
#define RUSHLIGHT_KERNELS_COMMON_NAKED_H

#if defined(__clang__)
#define RL_NAKED __attribute__((naked, noinline))
#else
#define RL_NAKED __attribute__((naked, noipa))
#endif
#define RL_UNUSED __attribute__((unused))

#endif
