/* The page fault under way: how it begins, leaves the processor and comes back, and is given up.
 *
 * Its time on the processor stands apart (IN_FAULT) until its kind is known, at its end (faults.h). A fault that nobody
 * handles (a signal, an access that the kernel had foreseen) has no end: it is given up when the task does something else. */
#pragma once
#include "tasks.h"
#include "histogram.h"
#include "who.h"

/* Disjoint. The last two are those that the kernel counts for the task and that no event tells: see docs/run-folder.md. */
enum fault_kind { MINOR, MAJOR, SWAP_IN, WRITE_PROTECT, SEGMENT, BOUND, MINOR_UNCLOCKED, MAJOR_UNCLOCKED, FAULT_KINDS };

/* In `fault.error`, beside the processor's own bits. */
enum { PRESENT = 1, WRITING = 2, SWAPPED = 1 << 30 };

/* Faults of one kind on one processor. */
struct fault_sums {
	u64 count;
	u64 cpu; /* ns on the processor */
	u64 wait; /* ns off it */
	u32 buckets[BUCKETS]; /* of the time from beginning to end */
};

/* Faults on one processor. */
struct fault_meter {
	u64 swapped; /* 1 + pages that this processor had swapped in when that was last read; 0: never read */
	struct fault_sums kinds[FAULT_KINDS];
};
_Static_assert(sizeof(struct fault_meter) == (1 + FAULT_KINDS * (3 + BUCKETS / 2)) * 8, "fault_meter");

struct {
	MAP_UINT(type, MAP_ARRAY);
	MAP_UINT(max_entries, MOST_PROCESSORS);
	MAP_TYPE(key, u32);
	MAP_TYPE(value, struct fault_meter);
} faults SECTION(".maps");

/* Where the kernel counts the pages that a processor swaps in: bytes from its run queue to its vm_event_states (0: not known),
 * and in that the counters from a device, from zswap, and of pages of zeros (the last two not in every kernel: as the first).
 * */
const volatile u64 to_events = 0;
const volatile u32 swap_event = 0;
const volatile u32 zswap_event = 0;
const volatile u32 zero_event = 0;

INLINE u64 event_at(u64 events, u32 offset)
{
	u64 count = 0;
	read_kernel(&count, sizeof(count), (void *)(events + offset));
	return count;
}

/* Whether the processor has swapped pages in since the last call. */
INLINE u32 has_swapped_in(struct fault_meter *meter, struct task_struct *task)
{
	u64 queue = 0;
	if (!to_events || !FIELD_EXISTS(task->se.cfs_rq->rq))
		return 0;
	struct cfs_rq *of_task = task->se.cfs_rq;
	read_kernel(&queue, sizeof(queue), &of_task->rq);
	u64 events = queue + to_events, swapped = event_at(events, swap_event);
	if (zswap_event != swap_event)
		swapped += event_at(events, zswap_event);
	if (zero_event != swap_event)
		swapped += event_at(events, zero_event);
	u32 more = meter->swapped && swapped + 1 != meter->swapped;
	meter->swapped = swapped + 1;
	return more;
}

/* Charges the time that the fault has run on this processor. */
INLINE void charge_fault(struct processor *cpu, u32 category)
{
	u64 ran = cpu->time[IN_FAULT];
	cpu->time[IN_FAULT] = 0;
	cpu->time[category] += ran;
	cpu->doing.fault.ran += ran;
}

/* Gives up a fault without an end: its time is charged as page fault, and it is not counted. */
INLINE void give_up_fault(struct processor *cpu, u64 now)
{
	struct doing *doing = &cpu->doing;
	if (!doing->fault.began)
		return;
	doing->fault.began = 0;
	doing->category = doing->fault.within;
	turn_awake(cpu, now, doing->category);
	charge_fault(cpu, PAGE_FAULT);
}

/* The task is switched out in a fault. The time that the fault has run is charged as page fault, whatever its kind. */
INLINE void fault_leaves(struct processor *cpu, struct task_struct *task, u64 now)
{
	u32 here = this_processor();
	if (!cpu->doing.fault.began)
		return;
	turn_awake(cpu, now, IN_FAULT);
	charge_fault(cpu, PAGE_FAULT);
	struct fault_meter *meter = map_lookup(&faults, &here);
	if (meter && has_swapped_in(meter, task))
		cpu->doing.fault.error |= SWAPPED;
}

/* The task is switched in again. Pages that others swapped in on this processor meanwhile are not its own. */
INLINE void fault_returns(struct processor *cpu, struct task_struct *task)
{
	u32 here = this_processor();
	if (!cpu->doing.fault.began)
		return;
	struct fault_meter *meter = map_lookup(&faults, &here);
	if (meter)
		has_swapped_in(meter, task);
}

/* Counts the faults that the kernel has counted for the task and that no event has reported. */
INLINE void count_untold(struct processor *cpu, struct fault_meter *meter, u32 kind, u32 untold)
{
	struct tally one = { .count = untold };
	if (!untold)
		return;
	meter->kinds[kind % FAULT_KINDS].count += untold;
	count_who(cpu, this_processor(), WHO_FAULT | kind, one);
}

/* Counts the task's faults that no event has reported since the last call. `minor` or `major` is 1 if an event just did. */
INLINE void count_unclocked(struct processor *cpu, struct fault_meter *meter, struct task_struct *task, u32 minor, u32 major)
{
	struct doing *doing = &cpu->doing;
	u32 minor_now = task->min_flt, major_now = task->maj_flt;
	u32 minor_before = doing->minor, major_before = doing->major;
	if (cpu->pid != task->pid)
		return; /* a switch was not told */
	doing->minor = minor_now;
	doing->major = major_now;
	if (!doing->known)
		return;
	count_untold(cpu, meter, MINOR_UNCLOCKED, minor_now - minor_before - minor);
	count_untold(cpu, meter, MAJOR_UNCLOCKED, major_now - major_before - major);
}

/* The task ends: counts the faults after its last event. */
INLINE void count_last_faults(struct task_struct *task)
{
	u32 here = this_processor();
	struct processor *cpu = map_lookup(&processors, &here);
	struct fault_meter *meter = map_lookup(&faults, &here);
	if (!exact || !cpu || !meter)
		return;
	count_unclocked(cpu, meter, task, 0, 0);
	if (!meter->swapped)
		has_swapped_in(meter, task);
}
