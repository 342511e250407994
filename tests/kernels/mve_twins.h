#ifndef RUSHLIGHT_TESTS_MVE_TWINS_H
#define RUSHLIGHT_TESTS_MVE_TWINS_H

#include <stdint.h>

enum { MVE_TWINS_IN = 80, MVE_TWINS_OUT = 2048 };

int mve_twins_run(const int8_t *in, int8_t *results);

#endif
