/* The state machine of a processor. It is always in one category; each call of `turn` charges the time since the last call. */
#pragma once
#include "layout.h"

/* Constants that user space sets before loading. */
const volatile u32 exact = 0; /* whether primitives, faults and interrupts are bracketed */
const volatile u32 brk_number = 0xffff; /* the system call that grows the heap */

struct {
	MAP_UINT(type, MAP_ARRAY);
	MAP_UINT(max_entries, MOST_PROCESSORS);
	MAP_UINT(map_flags, MMAPABLE);
	MAP_TYPE(key, u32);
	MAP_TYPE(value, struct processor);
} processors SECTION(".maps");

INLINE struct processor *processor_now(void)
{
	u32 number = this_processor();
	return map_lookup(&processors, &number);
}

#include "idle.h"

/* A barrier: neither the compiler nor an interrupt on this processor sees later writes before earlier ones. */
#define ORDERED() asm volatile("" ::: "memory")

/* Charges the time since the last turn, and goes on in `category`. Idle time is divided by its causes when it ends;
 * `ready` is since when the task that ends it has been ready, 0 where none does. A program that interrupts another one here
 * leaves no trace of its own: all its time is in what was interrupted. */
INLINE void turn_from_idle(struct processor *cpu, u64 now, u32 category, u64 ready)
{
	if (cpu->turning)
		return;
	cpu->turning = 1;
	ORDERED();
	u64 last = cpu->last;
	u32 was = cpu->category;
	if (!last)
		cpu->began = last = now;
	if (now < last)
		now = last; /* an interrupt has charged meanwhile */
	if (was == IDLE)
		end_idle(cpu, last, now, ready);
	else if (was < IDLE)
		cpu->time[was] += now - last;
	if (category == IDLE)
		begin_idle(cpu, now);
	ORDERED();
	cpu->category = category;
	ORDERED();
	cpu->last = now;
	ORDERED();
	cpu->turning = 0;
}

/* As `turn`, for a processor that is idle neither before nor after. */
INLINE void turn_awake(struct processor *cpu, u64 now, u32 category)
{
	if (cpu->turning)
		return;
	cpu->turning = 1;
	ORDERED();
	u64 last = cpu->last;
	u32 was = cpu->category;
	if (!last)
		cpu->began = last = now;
	if (now < last)
		now = last;
	if (was < IDLE)
		cpu->time[was] += now - last;
	ORDERED();
	cpu->category = category;
	ORDERED();
	cpu->last = now;
	ORDERED();
	cpu->turning = 0;
}

INLINE void turn(struct processor *cpu, u64 now, u32 category)
{
	turn_from_idle(cpu, now, category, 0);
}

/* The category of the processor outside of interrupts. */
INLINE u32 undisturbed(struct processor *cpu)
{
	return cpu->interrupts ? INTERRUPT : cpu->soft ? SOFT_INTERRUPT : cpu->doing.category;
}
