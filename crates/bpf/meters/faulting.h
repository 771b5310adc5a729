/* A page fault under way: it leaves the processor and comes back, or is given up. Faults that no event reports are counted here too.
 *
 * The fault's time on the processor stays in IN_FAULT until the fault ends and its kind is known (faults.h). A fault that the kernel
 * does not handle never ends: it becomes a signal, or the kernel expected it. It is given up when the task does something else. */
#pragma once
#include "tasks.h"
#include "histogram.h"
#include "who.h"

/* No fault is of two kinds. The last two are faults that the kernel counts for the task without an event: see docs/run-folder.md. */
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
	u64 swapped; /* 1 + the kernel's count of pages that this processor swapped in, when last read; 0: never read */
	struct fault_sums kinds[FAULT_KINDS];
};
_Static_assert(sizeof(struct fault_meter) == (1 + FAULT_KINDS * (3 + BUCKETS / 2)) * 8, "fault_meter");

struct {
	MAP_UINT(type, MAP_ARRAY);
	MAP_UINT(max_entries, MOST_PROCESSORS);
	MAP_TYPE(key, u32);
	MAP_TYPE(value, struct fault_meter);
} faults SECTION(".maps");

/* Offsets in bytes of the kernel's counters of pages that a processor swaps in. `to_events` leads from the processor's run queue to its
 * vm_event_states; 0: not known. The others lead from there to the counters of pages from a device, from zswap, and of zeros.
 * Where the kernel lacks one of the last two, its offset is that of the first. */
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
	struct cfs_rq *fair_queue = task->se.cfs_rq;
	read_kernel(&queue, sizeof(queue), &fair_queue->rq);
	u64 events = queue + to_events, swapped = event_at(events, swap_event);
	if (zswap_event != swap_event)
		swapped += event_at(events, zswap_event);
	if (zero_event != swap_event)
		swapped += event_at(events, zero_event);
	u32 has_grown = meter->swapped && swapped + 1 != meter->swapped;
	meter->swapped = swapped + 1;
	return has_grown;
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

/* The task is switched in again. Pages that others swapped in on this processor meanwhile are not counted as its own. */
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
INLINE void count_unreported(struct processor *cpu, struct fault_meter *meter, u32 kind, u32 unreported)
{
	struct tally faults_of_kind = { .count = unreported };
	if (!unreported)
		return;
	meter->kinds[kind % FAULT_KINDS].count += unreported;
	count_who(cpu, this_processor(), WHO_FAULT | kind, faults_of_kind);
}

/* Counts the task's faults that no event has reported since the last call. `minor` or `major` is 1 if an event just did. */
INLINE void count_unclocked(struct processor *cpu, struct fault_meter *meter, struct task_struct *task, u32 minor, u32 major)
{
	struct doing *doing = &cpu->doing;
	u32 minor_now = task->min_flt, major_now = task->maj_flt;
	u32 minor_before = doing->minor, major_before = doing->major;
	if (cpu->pid != task->pid)
		return; /* the kernel has not reported a switch */
	doing->minor = minor_now;
	doing->major = major_now;
	if (!doing->known)
		return;
	count_unreported(cpu, meter, MINOR_UNCLOCKED, minor_now - minor_before - minor);
	count_unreported(cpu, meter, MAJOR_UNCLOCKED, major_now - major_before - major);
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
