/* The state machine of a processor: it is always in one category, and every turn charges the time since the last one. */
#pragma once
#include "layout.h"

/* What user space sets before loading. */
const volatile u32 own_tgid = 0; /* what it forks begins an account */
const volatile u32 exact = 0; /* whether primitives, faults and interrupts are bracketed */
const volatile u32 brk_number = 0xffff; /* the system call that grows the heap */

struct {
	MAP_UINT(type, MAP_ARRAY);
	MAP_UINT(max_entries, MOST_PROCESSORS);
	MAP_TYPE(key, u32);
	MAP_TYPE(value, struct processor);
} processors SECTION(".maps");

INLINE struct processor *processor_now(void)
{
	u32 number = this_processor();
	return map_lookup(&processors, &number);
}

#include "idle.h"

/* Charges the time since the last turn, and goes on in `category`. Idle time is divided by its causes when it ends;
 * `ready` is since when the task that ends it has been ready, 0 where none does. */
INLINE void turn_from_idle(struct processor *cpu, u64 now, u32 category, u64 ready)
{
	if (cpu->category == IDLE)
		charge_idle(cpu, now, ready);
	else if (cpu->last && now > cpu->last && cpu->category < CATEGORIES)
		cpu->time[cpu->category] += now - cpu->last;
	if (category == IDLE)
		copy_integrals(cpu, now);
	cpu->last = now;
	cpu->category = category;
}

INLINE void turn(struct processor *cpu, u64 now, u32 category)
{
	turn_from_idle(cpu, now, category, 0);
}

/* What the processor does when no interrupt has it. */
INLINE u32 undisturbed(struct processor *cpu)
{
	return cpu->interrupts ? INTERRUPT : cpu->soft ? SOFT_INTERRUPT : cpu->doing.category;
}
