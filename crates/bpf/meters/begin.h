/* The beginning of tasks, names and sessions, and the tasks that exist already when the meters begin. */
#pragma once
#include "switch.h"

u32 own_process = 0; /* ours, as the kernel numbers it */

/* A task's id in its own namespace. For a task that we have forked, this is our namespace. */
INLINE u32 own_number(struct task_struct *task)
{
	struct pid *pid = task->thread_pid;
	u32 number = 0, outer = task->pid;
	ORDERED();
	if (pid)
		read_kernel(&number, sizeof(number), (void *)&pid->numbers[0].nr + (u64)pid->level * sizeof(struct upid));
	return number ? number : outer;
}

/* Gives an account to a process that our own process forks. */
INLINE void begin_session(struct task_struct *child, struct kept *kept)
{
	u32 slot = 0, pid = own_number(child);
	struct account *account = map_pop(&free_accounts, &slot) ? 0 : account_of(slot);
	if (!account || map_update(&slot_of_pid, &pid, &slot, 0)) {
		count(SESSIONS_LOST);
		return;
	}
	account->pid = pid;
	account->command = 0;
	kept->slot = slot;
}

/* A session begins where our own process forks another; what it forks belongs to it. */
SECTION("tp_btf/sched_process_fork")
int on_fork(u64 *context)
{
	struct task_struct *parent = (void *)context[0], *child = (void *)context[1];
	struct kept *of_parent = keep(parent), *of_child = keep(child);
	if (!of_child)
		return 0;
	begin_doing(&of_child->doing, child);
	if (exact && !(child->flags & PF_KTHREAD))
		of_child->doing.category = PRIMITIVE;
	of_child->out = ktime_ns();
	of_child->loaded = LOADING_NS;
	of_child->slot = of_parent ? of_parent->slot : 0;
	if (own_process && parent->tgid == own_process && child->tgid != own_process)
		begin_session(child, of_child);
	return 0;
}

/* A process gets a new name, by execve or otherwise. The time that it has run is charged to the old name. */
SECTION("tp_btf/task_rename")
int on_rename(u64 *context)
{
	struct task_struct *task = (void *)context[0];
	struct kept *kept = kept_of(task);
	struct processor *cpu = processor_now();
	if (!kept || !cpu || task->pid != task->tgid)
		return 0;
	u64 now = ktime_ns();
	if (!kept->out) {
		charge_run(cpu, kept, now > cpu->since ? now - cpu->since : 0, 1);
		cpu->since = now;
		cpu->name = 0;
	}
	kept->name = 0;
	if (FIELD_EXISTS(task->in_execve) && BIT_OF(task, in_execve))
		kept->loaded = 0;
	return 0;
}

struct task_iteration {
	void *meta;
	struct task_struct *task;
};

/* Each task that is there when the meters begin: asleep, ready, or running. */
SECTION("iter/task")
int on_each_task(struct task_iteration *context)
{
	struct task_struct *task = context->task;
	struct processor *cpu = processor_now();
	struct kept *kept = task && cpu ? keep(task) : 0;
	if (!kept || kept->doing.known)
		return 0;
	u64 now = ktime_ns();
	u32 state = task->__state;
	begin_doing(&kept->doing, task);
	kept->loaded = LOADING_NS;
	if (task->on_cpu)
		return 0;
	kept->out = now;
	kept->run_delay = task->sched_info.run_delay;
	if (!state && throttled(task))
		stands_waiting(kept, GOVERNED, now);
	else if (!state)
		stands_ready(cpu, kept, now);
	else if (state & UNINTERRUPTIBLE && !(state & NO_LOAD) && !(task->flags & PF_KTHREAD) && BIT_OF(task, in_iowait))
		stands_waiting(kept, in_call(task) ? DISK_WAIT : PAGE_WAIT, now);
	return 0;
}

/* Run on each processor when the meters begin, by the reader: what it does that has not switched since. With an argument, only
 * where the reader itself runs: which process it is. */
SECTION("raw_tp/begin")
int on_begin(u64 *context)
{
	if (context[0]) {
		own_process = current_pid_tgid() >> 32;
		return 0;
	}
	struct processor *cpu = processor_now();
	struct task_struct *task = current_task_btf();
	u64 *idle = all_idle();
	u64 now = ktime_ns();
	if (!cpu || !idle || cpu->last)
		return 0;
	if (task->pid) {
		begin_doing(&cpu->doing, task);
		struct kept *kept = kept_of(task);
		cpu->slot = kept ? kept->slot : 0;
	} else {
		cpu->doing.category = IDLE;
		__sync_fetch_and_add(idle, 1); /* its integrals begin at 0, as all do just now */
	}
	cpu->tgid = task->tgid;
	cpu->pid = task->pid;
	cpu->since = cpu->began = now;
	cpu->category = cpu->doing.category;
	ORDERED();
	cpu->last = now;
	return 0;
}
