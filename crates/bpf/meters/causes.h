/* The reason why a task sleeps, if it is a cause of idle time. */
#pragma once
#include "tasks.h"

/* Addresses of kernel functions, from /proc/kallsyms; 0: not known. */
const volatile u64 fault_begins = 0, fault_ends = 0; /* handle_mm_fault */
const volatile u64 high_begins = 0, high_ends = 0; /* mem_cgroup_handle_over_high, where tasks over memory.high sleep */

enum { MOST_FRAMES = 32 }; /* of a kernel stack, that are read */
enum { LOADING_NS = 2000000 }; /* processor time for which a program counts as being loaded */

struct trace {
	u64 address[MOST_FRAMES];
};

struct {
	MAP_UINT(type, MAP_PERCPU_ARRAY);
	MAP_UINT(max_entries, 1);
	MAP_TYPE(key, u32);
	MAP_TYPE(value, struct trace);
} traces SECTION(".maps");

/* Whether the task entered the kernel by a system call, not by a fault or an interrupt. */
INLINE u32 in_call(struct task_struct *task)
{
	struct pt_regs *registers = task_registers(task);
	if (!registers)
		return 1;
	if (FIELD_EXISTS(registers->orig_ax))
		return registers->orig_ax >= 0; /* x86 */
	if (FIELD_EXISTS(registers->syscallno))
		return registers->syscallno >= 0; /* arm64 */
	return 1;
}

/* The cause that the running task's kernel stack shows: a page fault, throttling by memory.high, or none. */
static __attribute__((noinline)) u32 cause_on_stack(void *context)
{
	u32 zero = 0, cause = NO_CAUSE;
	struct trace *trace = map_lookup(&traces, &zero);
	long depth = trace ? get_stack(context, trace, sizeof(*trace), 0) / 8 : 0;
	for (u32 frame = 0; trace && frame < MOST_FRAMES && (long)frame < depth; frame++) {
		u64 address = trace->address[frame];
		if (address >= fault_begins && address < fault_ends)
			cause = PAGE_WAIT;
		else if (address >= high_begins && address < high_ends)
			cause = NOT_ELIGIBLE;
	}
	return cause;
}

/* The cause of an uninterruptible sleep: the task waits for a fault's page, for storage, or for memory that it is refused. */
static __attribute__((noinline)) u32 cause_of_deep_sleep(void *context, struct task_struct *task, u32 in_fault)
{
	if (task->flags & PF_KTHREAD)
		return NO_CAUSE;
	u32 cause = in_fault ? PAGE_WAIT : cause_on_stack(context);
	if (cause != NO_CAUSE)
		return cause;
	if (BIT_OF(task, in_iowait))
		return in_call(task) ? DISK_WAIT : PAGE_WAIT;
	if (FIELD_EXISTS(task->in_memstall) && BIT_OF(task, in_memstall))
		return NOT_ELIGIBLE;
	return NO_CAUSE;
}

/* Whether the program is still being loaded: inside its execve, or in its first LOADING_NS. */
INLINE u32 is_loading(struct task_struct *task, struct task_record *record)
{
	return record->loaded < LOADING_NS || (FIELD_EXISTS(task->in_execve) && BIT_OF(task, in_execve));
}

/* The cause for which a task that is not ready stops running. */
INLINE u32 cause_of(void *context, struct processor *cpu, struct task_struct *task, struct task_record *record, u32 state)
{
	if (record->slot && (state & FROZEN || (FIELD_EXISTS(task->frozen) && BIT_OF(task, frozen))))
		return NOT_ELIGIBLE;
	if (!(state & UNINTERRUPTIBLE) || state & NO_LOAD)
		return NO_CAUSE;
	u32 cause = cause_of_deep_sleep(context, task, cpu->doing.fault.began != 0);
	return (cause == PAGE_WAIT || cause == DISK_WAIT) && is_loading(task, record) ? LOADING : cause;
}

/* Whether a quota holds the task back. */
INLINE u32 throttled(struct task_struct *task)
{
	if (FIELD_EXISTS(task->throttled))
		return task->throttled;
	if (FIELD_EXISTS(task->se.cfs_rq->throttle_count))
		return task->se.cfs_rq->throttle_count > 0;
	return 0;
}
