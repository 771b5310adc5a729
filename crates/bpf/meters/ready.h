/* The ready queue of the whole system: the tasks that are ready and have no processor. */
#pragma once
#include "clock.h"

struct {
	MAP_UINT(type, MAP_ARRAY);
	MAP_UINT(max_entries, 1);
	MAP_UINT(map_flags, MMAPABLE);
	MAP_TYPE(key, u32);
	MAP_TYPE(value, struct ready_queue);
} ready_queue SECTION(".maps");

/* The class of a length (0, 1, 2-3, 4-7 …): its number of bits. */
INLINE u32 length_class(u64 length)
{
	u32 class = length ? 1 : 0;
	if (length < 2)
		return class;
#pragma unroll
	for (u32 bits = 8; bits; bits >>= 1) {
		if (length >> bits) {
			class += bits;
			length >>= bits;
		}
	}
	return class;
}

/* The queue becomes longer or shorter. The time at its former length is added to this processor's counts. Not static: see `wait_changes`. */
__attribute__((noinline)) int queue_changes(struct processor *cpu, u64 now, s64 change)
{
	u32 zero = 0;
	struct ready_queue *queue = map_lookup(&ready_queue, &zero);
	if (!queue || !cpu)
		return 0;
	u64 length = __sync_fetch_and_add(&queue->length, change);
	u64 since = *(volatile u64 *)&queue->since;
	*(volatile u64 *)&queue->since = now; /* two processors may count the same ns; the reader makes the times add up to the span */
	if ((s64)length < 0 || !since || now <= since)
		return 0;
	cpu->queue_ns[length_class(length) & (QUEUE_LENGTHS - 1)] += now - since;
	cpu->queue_area += (now - since) * length;
	return 0;
}
