/* Sums of interrupts, and the beginning and the end of a hard interrupt of any source. */
#pragma once
#include "clock.h"
#include "histogram.h"

/* Interrupts of one source on one processor. */
struct interrupt_sums {
	u64 count;
	u64 cpu; /* ns, without other interrupts that came meanwhile */
	u32 buckets[BUCKETS]; /* of that time */
};

/* Interrupts without a device: between processors, of a processor's clock, and soft ones, which are work that the kernel puts off.
 * src/tables/interrupts.rs names them. */
enum { VECTORS = 8, SOFT_KINDS = 16, MOST_DEVICES = 256 };

struct interrupt_meter {
	u64 hard_before; /* the processor's time in interrupts when the one under way began */
	u64 soft_before;
	u64 devices_lost; /* interrupts of devices for which `devices` had no room */
	struct interrupt_sums vectors[VECTORS];
	struct interrupt_sums soft[SOFT_KINDS];
};
_Static_assert(sizeof(struct interrupt_sums) == (2 + BUCKETS / 2) * 8, "interrupt_sums");
_Static_assert(sizeof(struct interrupt_meter) == (3 + (VECTORS + SOFT_KINDS) * (2 + BUCKETS / 2)) * 8, "interrupt_meter");

struct {
	MAP_UINT(type, MAP_ARRAY);
	MAP_UINT(max_entries, MOST_PROCESSORS);
	MAP_TYPE(key, u32);
	MAP_TYPE(value, struct interrupt_meter);
} interrupts SECTION(".maps");

/* By the number that the kernel gives a device's interrupt (/proc/interrupts). */
struct {
	MAP_UINT(type, MAP_PERCPU_HASH);
	MAP_UINT(max_entries, MOST_DEVICES);
	MAP_TYPE(key, u32);
	MAP_TYPE(value, struct interrupt_sums);
} devices SECTION(".maps");

INLINE void count_interrupt(struct interrupt_sums *sums, u64 ns)
{
	sums->count++;
	sums->cpu += ns;
	sums->buckets[bucket_of(ns)]++;
}

/* Hard interrupts do not nest. If the end of one was not seen, it is over when the next begins. */
INLINE int interrupt_begins(void)
{
	u32 here = this_processor();
	struct processor *cpu = map_lookup(&processors, &here);
	struct interrupt_meter *meter = map_lookup(&interrupts, &here);
	u64 now = ktime_ns();
	if (!cpu || !meter)
		return 0;
	turn(cpu, now, INTERRUPT);
	cpu->interrupts = 1;
	meter->hard_before = cpu->time[INTERRUPT];
	return 0;
}

/* Ends an interrupt. Returns whether its beginning was seen, and sets `ns` to its time. */
INLINE u32 interrupt_ends(struct processor *cpu, struct interrupt_meter *meter, u64 *ns)
{
	u64 now = ktime_ns();
	if (!cpu->interrupts)
		return 0;
	cpu->interrupts = 0;
	turn(cpu, now, undisturbed(cpu));
	*ns = cpu->time[INTERRUPT] - meter->hard_before;
	return 1;
}

INLINE int vector_ends(u32 vector)
{
	u32 here = this_processor();
	struct processor *cpu = map_lookup(&processors, &here);
	struct interrupt_meter *meter = map_lookup(&interrupts, &here);
	u64 ns;
	if (cpu && meter && interrupt_ends(cpu, meter, &ns))
		count_interrupt(&meter->vectors[vector % VECTORS], ns);
	return 0;
}
