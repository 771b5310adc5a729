/* Interrupts: of devices, of the processor's own clock, between processors, and soft ones. */
#pragma once
#include "interrupting.h"

SECTION("tp_btf/irq_handler_entry")
int on_device(u64 *context)
{
	return interrupt_begins();
}

/* Zeros, as constant data: a program's stack is too small for them. */
const volatile struct interrupt_sums no_interrupts = {};

INLINE void count_device(struct interrupt_meter *meter, u32 number, u64 ns)
{
	struct interrupt_sums *sums = map_lookup(&devices, &number);
	if (!sums) {
		map_update(&devices, &number, (void *)&no_interrupts, 1);
		sums = map_lookup(&devices, &number);
	}
	if (sums)
		count_interrupt(sums, ns);
	else
		meter->devices_lost++;
}

SECTION("tp_btf/irq_handler_exit")
int after_device(u64 *context)
{
	u32 here = this_processor();
	struct processor *cpu = map_lookup(&processors, &here);
	struct interrupt_meter *meter = map_lookup(&interrupts, &here);
	u64 ns;
	if (cpu && meter && interrupt_ends(cpu, meter, &ns))
		count_device(meter, context[0], ns);
	return 0;
}

SECTION("tp_btf/softirq_entry")
int on_soft(u64 *context)
{
	u32 here = this_processor();
	struct processor *cpu = map_lookup(&processors, &here);
	struct interrupt_meter *meter = map_lookup(&interrupts, &here);
	u64 now = ktime_ns();
	if (!cpu || !meter)
		return 0;
	cpu->interrupts = 0;
	cpu->soft = 1;
	turn(cpu, now, SOFT_INTERRUPT);
	meter->soft_before = cpu->time[SOFT_INTERRUPT];
	return 0;
}

SECTION("tp_btf/softirq_exit")
int after_soft(u64 *context)
{
	u32 here = this_processor();
	struct processor *cpu = map_lookup(&processors, &here);
	struct interrupt_meter *meter = map_lookup(&interrupts, &here);
	u64 now = ktime_ns();
	if (!cpu || !meter || !cpu->soft)
		return 0;
	cpu->interrupts = cpu->soft = 0;
	turn(cpu, now, undisturbed(cpu));
	count_interrupt(&meter->soft[context[0] % SOFT_KINDS], cpu->time[SOFT_INTERRUPT] - meter->soft_before);
	return 0;
}

/* Interrupts that the processor's own clock raises or another processor sends. src/tables/interrupts.rs names their numbers. */
#define VECTOR(name, number) \
	SECTION("tp_btf/" #name "_entry") \
	int on_##name(u64 *context) \
	{ \
		return interrupt_begins(); \
	} \
	SECTION("tp_btf/" #name "_exit") \
	int after_##name(u64 *context) \
	{ \
		return vector_ends(number); \
	}

VECTOR(local_timer, 0)
VECTOR(reschedule, 1)
VECTOR(call_function, 2)
VECTOR(call_function_single, 3)
VECTOR(irq_work, 4)
VECTOR(ipi, 5) /* arm64: all that processors send each other */
