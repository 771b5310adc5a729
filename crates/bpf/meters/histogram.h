/* Histograms of durations: each power of 2 of nanoseconds has four equal buckets. src/tables/histogram.rs has their bounds. */
#pragma once
#include "../kernel.h"

enum {
	LEAST_POWER = 6, /* the first bucket holds durations under 2^6 ns */
	BUCKETS = 128, /* the last bucket holds durations from 7/4 of 2^37 ns on, which is four minutes */
};

/* The bucket of a duration, under BUCKETS. */
INLINE u32 bucket_of(u64 ns)
{
	if (ns < 1ull << LEAST_POWER)
		return 0;
	if (ns >= 1ull << 38)
		return BUCKETS - 1;
	u32 high = ns >> LEAST_POWER, power = 0;
	if (high >= 1 << 16)
		power += 16, high >>= 16;
	if (high >= 1 << 8)
		power += 8, high >>= 8;
	if (high >= 1 << 4)
		power += 4, high >>= 4;
	if (high >= 1 << 2)
		power += 2, high >>= 2;
	if (high >= 1 << 1)
		power += 1;
	u32 step = ns >> (power + LEAST_POWER - 2) & 3;
	return (power * 4 + step) & (BUCKETS - 1);
}
