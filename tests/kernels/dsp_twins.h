/* See dsp_twins.c. */
#ifndef RUSHLIGHT_TESTS_DSP_TWINS_H
#define RUSHLIGHT_TESTS_DSP_TWINS_H

enum { DSP_TWINS_IN = 12, DSP_TWINS_OUT = 100 };

int dsp_twins_run(const void *in, void *results);

#endif
