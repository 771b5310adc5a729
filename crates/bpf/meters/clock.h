/* The state machine of a processor. A processor is always in one category; each call of `turn` charges the time since the last call. */
#pragma once
#include "layout.h"

/* Constants that user space sets before loading. */
const volatile u32 exact = 0; /* whether system calls, faults and interrupts are clocked */
const volatile u32 brk_number = 0xffff; /* the system call that grows the heap */
const volatile u32 sampled = 0; /* whether the programs run in windows only, beside others that run always */

u32 window = 1; /* number of the present window; see windows.h */
u32 window_thread = 0; /* id of the reader's thread, in the kernel's numbering: its events are not counted */

/* What the meters know of a task holds within one window. Without windows, the run is one. */
INLINE u32 present_window(void)
{
	return sampled ? window : 1;
}

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

/* A barrier for the compiler, so that an interrupt on this processor sees writes in the order of the source. */
#define ORDERED() asm volatile("" ::: "memory")

/* Charges the time since the last turn, and continues in `category`. `may_be_idle` says whether one of the two categories can be IDLE.
 * Idle time is divided by cause when it ends. `ready` is when the task that ends it became ready; 0 if unknown or without a task.
 * If the program interrupts another one in here, it changes nothing: its time goes to the category that it interrupted. */
INLINE void charge_and_turn(struct processor *cpu, u64 now, u32 category, u64 ready, const u32 may_be_idle)
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
	if (may_be_idle && !sampled && was == IDLE)
		end_idle(cpu, last, now, ready);
	else if (was < IDLE)
		cpu->time[was] += now - last;
	if (may_be_idle && !sampled && category == IDLE)
		begin_idle(cpu, now);
	ORDERED();
	cpu->category = category;
	ORDERED();
	cpu->last = now;
	ORDERED();
	cpu->turning = 0;
}

/* The function is not static: see `wait_changes`. */
__attribute__((noinline)) int turn_from_idle(struct processor *cpu, u64 now, u32 category, u64 ready)
{
	if (cpu)
		charge_and_turn(cpu, now, category, ready, 1);
	return 0;
}

INLINE void turn(struct processor *cpu, u64 now, u32 category)
{
	charge_and_turn(cpu, now, category, 0, 1);
}

/* A turn of a processor that is idle neither before nor after. It takes no lock, which not every program may. */
INLINE void turn_awake(struct processor *cpu, u64 now, u32 category)
{
	charge_and_turn(cpu, now, category, 0, 0);
}

/* The category of the processor outside of interrupts. */
INLINE u32 undisturbed(struct processor *cpu)
{
	return cpu->interrupts ? INTERRUPT : cpu->soft ? SOFT_INTERRUPT : cpu->doing.category;
}
