/* Programs that do nothing. What the kernel takes to call a program is measured with them (src/calibration/calling.rs of loadgo-meters). */
#pragma once
#include "../kernel.h"

/* At a tracepoint that no other program of the meters uses: a process asks whether a child has ended. */
SECTION("raw_tp/sched_process_wait")
int on_nothing(u64 *context)
{
	return 0;
}

SECTION("perf_event")
int on_empty_event(void *context)
{
	return 0;
}
