/* Page faults: the clock is read at the beginning and the end of each.
 *
 * A fault begins at a tracepoint of the exception where the processor has one (x86), elsewhere at the software event of all page
 * faults. It ends at the software event of a minor or a major fault, which handle_mm_fault raises at its end. */
#pragma once
#include "faulting.h"
#include "who.h"
#include "regions.h"

INLINE void begin_fault(struct processor *cpu, u64 now, struct task_struct *task, u64 address, u32 error)
{
	struct doing *doing = &cpu->doing;
	struct fault *fault = &doing->fault;
	give_up_fault(cpu, now);
	struct mm_struct *memory = task->mm;
	fault->began = now;
	fault->off = 0;
	fault->ran = 0;
	fault->address = address;
	fault->error = error & (PRESENT | WRITING);
	fault->within = doing->category == UNCHARGED ? USER : doing->category;
	fault->tables = memory->pgtables_bytes.counter;
	fault->stack = memory->stack_vm;
	doing->category = IN_FAULT;
	turn_awake(cpu, now, IN_FAULT);
	if (count_regions && address)
		count_region(cpu, address);
}

SECTION("tp_btf/page_fault_user")
int on_user_fault(u64 *context)
{
	struct processor *cpu = processor_now();
	u64 now = ktime_ns();
	struct task_struct *task = current_task_btf();
	if (!cpu)
		return 0;
	cpu->interrupts = cpu->soft = 0;
	if (cpu->pid != task->pid)
		take_over(cpu, now); /* some kernels do not report every switch; without this, no fault before the next switch would have a beginning */
	begin_fault(cpu, now, task, context[0], context[2]);
	return 0;
}

/* Whether the kernel will handle a fault in kernel mode. It does not if faults are disabled, in interrupts, and at kernel
 * addresses. */
INLINE u32 handled(struct processor *cpu, struct task_struct *task, u64 address)
{
	return (s64)address >= 0 && !cpu->interrupts && !cpu->soft && !task->pagefault_disabled;
}

SECTION("tp_btf/page_fault_kernel")
int on_kernel_fault(u64 *context)
{
	struct processor *cpu = processor_now();
	struct task_struct *task = current_task_btf();
	u64 now = ktime_ns();
	if (cpu && handled(cpu, task, context[0]))
		begin_fault(cpu, now, task, context[0], context[2]);
	return 0;
}

/* For processors whose exception has no tracepoint. The kind of access is then not known. */
SECTION("perf_event")
int on_fault(void *context)
{
	struct processor *cpu = processor_now();
	struct task_struct *task = current_task_btf();
	u64 now = ktime_ns();
	if (cpu && handled(cpu, task, 0))
		begin_fault(cpu, now, task, 0, 0);
	return 0;
}

/* A signal is delivered. If a fault caused it, that fault is over. */
SECTION("tp_btf/signal_deliver")
int on_signal(u64 *context)
{
	struct processor *cpu = processor_now();
	u64 now = ktime_ns();
	if (cpu)
		give_up_fault(cpu, now);
	return 0;
}

INLINE u32 kind_of_minor(struct fault *fault, struct task_struct *task)
{
	struct mm_struct *memory = task->mm;
	if (memory->stack_vm > fault->stack)
		return BOUND;
	if (memory->pgtables_bytes.counter > fault->tables)
		return SEGMENT;
	return (fault->error & (PRESENT | WRITING)) == (PRESENT | WRITING) ? WRITE_PROTECT : MINOR;
}

INLINE void count_fault(struct processor *cpu, struct fault_sums *sums, u64 elapsed)
{
	if (sampled && cpu->pid == window_thread)
		return;
	sums->count++;
	sums->cpu += cpu->doing.fault.ran;
	sums->wait += cpu->doing.fault.off;
	sums->buckets[bucket_of(elapsed)]++;
}

INLINE void end_fault(struct processor *cpu, struct fault_meter *meter, u32 here, u64 now, u32 kind)
{
	struct doing *doing = &cpu->doing;
	struct fault *fault = &doing->fault;
	u64 elapsed = now > fault->began ? now - fault->began : 0;
	doing->category = fault->within;
	turn_awake(cpu, now, doing->category);
	charge_fault(cpu, kind == SEGMENT ? SEGMENT_FAULT : kind == BOUND ? BOUND_FAULT : PAGE_FAULT);
	fault->began = 0;
	count_fault(cpu, &meter->kinds[kind % FAULT_KINDS], elapsed);
	doing->call.faults++;
	struct tally single = { .count = 1, .time = fault->ran, .wait = fault->off };
	count_who(cpu, here, WHO_FAULT | kind, single);
}

/* Whether the fault that ends was seen to begin. */
INLINE u32 has_begun(struct processor *cpu, struct task_struct *task)
{
	return cpu->doing.fault.began && cpu->pid == task->pid;
}

SECTION("perf_event")
int on_minor_fault(void *context)
{
	u32 here = this_processor();
	struct processor *cpu = map_lookup(&processors, &here);
	struct fault_meter *meter = map_lookup(&faults, &here);
	struct task_struct *task = current_task_btf();
	u64 now = ktime_ns();
	if (!cpu || !meter)
		return 0;
	u32 clocked = has_begun(cpu, task);
	count_unclocked(cpu, meter, task, clocked, 0);
	if (clocked)
		end_fault(cpu, meter, here, now, kind_of_minor(&cpu->doing.fault, task));
	return 0;
}

SECTION("perf_event")
int on_major_fault(void *context)
{
	u32 here = this_processor();
	struct processor *cpu = map_lookup(&processors, &here);
	struct fault_meter *meter = map_lookup(&faults, &here);
	struct task_struct *task = current_task_btf();
	u64 now = ktime_ns();
	if (!cpu || !meter)
		return 0;
	u32 clocked = has_begun(cpu, task);
	u32 swapped = has_swapped_in(meter, task) || cpu->doing.fault.error & SWAPPED;
	count_unclocked(cpu, meter, task, 0, clocked);
	if (clocked)
		end_fault(cpu, meter, here, now, swapped ? SWAP_IN : MAJOR);
	return 0;
}
