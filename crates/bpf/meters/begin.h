/* The beginning of tasks, names and sessions, and the tasks that exist already when the meters begin. */
#pragma once
#include "switch.h"

u32 own_process = 0; /* id of loadgo's own process in the kernel's numbering; 0 until `on_begin` has set it */

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
INLINE void begin_session(struct task_struct *child, struct task_record *record)
{
	u32 slot = 0, pid = own_number(child);
	struct account *account = map_pop(&free_accounts, &slot) ? 0 : account_of(slot);
	if (!account || map_update(&slot_of_pid, &pid, &slot, 0)) {
		count(SESSIONS_LOST);
		return;
	}
	account->pid = pid;
	account->command = 0;
	record->slot = slot;
}

/* A task is forked. A process that our own process forks begins a session; its descendants belong to that session. */
SECTION("tp_btf/sched_process_fork")
int on_fork(u64 *context)
{
	struct task_struct *parent = (void *)context[0], *child = (void *)context[1];
	struct task_record *parent_record = create_record(parent), *child_record = create_record(child);
	if (!child_record)
		return 0;
	set_doing_by_registers(&child_record->doing, child);
	if (exact && !(child->flags & PF_KTHREAD))
		child_record->doing.category = PRIMITIVE;
	child_record->out = ktime_ns();
	child_record->loaded = LOADING_NS;
	child_record->slot = parent_record ? parent_record->slot : 0;
	if (own_process && parent->tgid == own_process && child->tgid != own_process)
		begin_session(child, child_record);
	return 0;
}

/* A process gets a new name, by execve or otherwise. The time that it has run is charged to the old name. */
SECTION("tp_btf/task_rename")
int on_rename(u64 *context)
{
	struct task_struct *task = (void *)context[0];
	struct task_record *record = record_of(task);
	struct processor *cpu = processor_now();
	if (!record || !cpu || task->pid != task->tgid)
		return 0;
	u64 now = ktime_ns();
	if (sampled) {
		if (!record->out)
			cpu->name = 0;
		record->name = 0;
		return 0;
	}
	if (!record->out) {
		charge_run(cpu, record, now > cpu->since ? now - cpu->since : 0, 1);
		cpu->since = now;
		cpu->name = 0;
	}
	record->name = 0;
	if (FIELD_EXISTS(task->in_execve) && BIT_OF(task, in_execve))
		record->loaded = 0;
	return 0;
}

struct task_iteration {
	void *meta;
	struct task_struct *task;
};

/* Each task that exists when the meters begin: asleep, ready, or running. */
SECTION("iter/task")
int on_each_task(struct task_iteration *context)
{
	struct task_struct *task = context->task;
	struct processor *cpu = processor_now();
	struct task_record *record = task && cpu ? create_record(task) : 0;
	if (!record || record->doing.known)
		return 0;
	u64 now = ktime_ns();
	u32 state = task->__state;
	set_doing_by_registers(&record->doing, task);
	record->loaded = LOADING_NS;
	if (task->on_cpu || sampled)
		return 0;
	record->out = now;
	record->run_delay = task->sched_info.run_delay;
	if (!state && throttled(task))
		add_to_waiting(record, GOVERNED, now);
	else if (!state)
		add_to_ready(cpu, record, now);
	else if (state & UNINTERRUPTIBLE && !(state & NO_LOAD) && !(task->flags & PF_KTHREAD) && BIT_OF(task, in_iowait))
		add_to_waiting(record, in_call(task) ? DISK_WAIT : PAGE_WAIT, now);
	return 0;
}

/* The reader runs this on each processor before it attaches the programs for a window, with the window's number. With a second argument,
 * it only notes whether the reader's own thread is counted (1) or not (2). */
SECTION("raw_tp/window")
int on_window(u64 *context)
{
	if (context[1]) {
		window_thread = context[1] == 2 ? current_pid_tgid() : 0;
		return 0;
	}
	u32 here = this_processor();
	struct processor *cpu = map_lookup(&processors, &here);
	struct fault_meter *meter = map_lookup(&faults, &here);
	struct task_struct *task = current_task_btf();
	u64 now = ktime_ns();
	if (!cpu || !meter)
		return 0;
	window = context[0];
	cpu->interrupts = cpu->soft = cpu->turning = 0;
	cpu->entered = 0;
	cpu->slot = cpu->name = 0;
	cpu->time[IN_FAULT] = 0;
	meter->swapped = 0;
	see_first(&cpu->doing, task, now);
	if (!task->pid)
		cpu->doing.category = IDLE;
	cpu->tgid = task->tgid;
	cpu->pid = task->pid;
	cpu->category = cpu->doing.category;
	cpu->since = cpu->began = cpu->last = now;
	return 0;
}

/* The reader runs this on each processor when the meters begin, to note what a processor does that has not switched yet. With an
 * argument, it only notes the reader's own process. */
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
		set_doing_by_registers(&cpu->doing, task);
		struct task_record *record = record_of(task);
		cpu->slot = record ? record->slot : 0;
	} else {
		cpu->doing.category = IDLE;
		__sync_fetch_and_add(idle, 1); /* its copy of the integrals is 0, as the integrals themselves still are */
	}
	cpu->tgid = task->tgid;
	cpu->pid = task->pid;
	cpu->since = cpu->began = now;
	cpu->category = cpu->doing.category;
	ORDERED();
	cpu->last = now;
	return 0;
}
