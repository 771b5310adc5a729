/* Histograms of durations: each power of 2 of nanoseconds in four equal steps. src/tables/histogram.rs names the bounds. */
#pragma once
#include "../kernel.h"

enum {
	LEAST_POWER = 6, /* under 2^6 ns: the first bucket */
	BUCKETS = 128, /* the last holds all from 7/4 of 2^37 ns, which is four minutes */
};

/* The bucket of a duration, under BUCKETS. */
INLINE u32 bucket_of(u64 ns)
{
	if (ns < 1ull << LEAST_POWER)
		return 0;
	if (ns >= 1ull << 38)
		return BUCKETS - 1;
	u32 rest = ns >> LEAST_POWER, power = 0;
	if (rest >= 1 << 16)
		power += 16, rest >>= 16;
	if (rest >= 1 << 8)
		power += 8, rest >>= 8;
	if (rest >= 1 << 4)
		power += 4, rest >>= 4;
	if (rest >= 1 << 2)
		power += 2, rest >>= 2;
	if (rest >= 1 << 1)
		power += 1;
	u32 step = ns >> (power + LEAST_POWER - 2) & 3;
	return (power * 4 + step) & (BUCKETS - 1);
}
