/* Switching from task to task: who waits for what, who is ready, who runs. */
#pragma once
#include "calls.h"

struct ready_queue ready_queue = {};

/* The ready queue becomes longer or shorter; the time at its old length is kept where this processor keeps it. */
INLINE void queue_changes(struct processor *cpu, u64 now, s64 change)
{
	u64 length = __sync_fetch_and_add(&ready_queue.length, change);
	u64 since = __sync_lock_test_and_set(&ready_queue.since, now);
	u32 class = 0;
	if ((s64)length < 0)
		length = 0;
#pragma unroll
	for (u32 bit = 0; bit < QUEUE_LENGTHS - 1; bit++)
		class += length >> bit ? 1 : 0;
	if (since && now > since)
		cpu->queue_ns[class & (QUEUE_LENGTHS - 1)] += now - since;
}

INLINE u32 throttled(struct task_struct *task)
{
	if (FIELD_EXISTS(task->throttled) && task->throttled)
		return 1;
	if (FIELD_EXISTS(task->se.cfs_rq->throttle_count))
		return task->se.cfs_rq->throttle_count > 0;
	return 0;
}

/* Whether a task that goes to sleep is handling a page fault: known where faults are bracketed, else seen on its stack. */
INLINE u32 in_fault(void *context, struct processor *cpu)
{
	return cpu->doing.fault.began != 0;
}

/* Why a task stops running that is not ready. */
INLINE u32 cause_of(void *context, struct processor *cpu, struct task_struct *task, u32 state)
{
	if (FIELD_EXISTS(task->in_execve) && BIT_OF(task, in_execve) && state & UNINTERRUPTIBLE)
		return LOADING;
	if (state & FROZEN)
		return NOT_ELIGIBLE;
	if (!(state & UNINTERRUPTIBLE) || state & NO_LOAD)
		return NO_CAUSE;
	if (in_fault(context, cpu))
		return PAGE_WAIT;
	if (BIT_OF(task, in_iowait))
		return DISK_WAIT;
	if (FIELD_EXISTS(task->in_memstall) && BIT_OF(task, in_memstall))
		return NOT_ELIGIBLE;
	return NO_CAUSE;
}

INLINE void leave(void *context, struct processor *cpu, struct task_struct *task, u32 state, u64 now)
{
	u64 ran = cpu->since && now > cpu->since ? now - cpu->since : 0;
	struct kept *kept = kept_of(task);
	charge_run(task, cpu->slot, ran);
	if (!kept)
		return;
	if (state & DEAD)
		count_call(cpu, this_processor(), now, 0); /* the one that it never returns from */
	u32 governed = !state && throttled(task);
	kept->doing = cpu->doing;
	kept->out = now;
	kept->ready = 0;
	kept->cause = governed ? GOVERNED : state ? cause_of(context, cpu, task, state) : NO_CAUSE;
	kept->counted = kept->cause != NO_CAUSE;
	if (kept->counted)
		wait_changes(now, kept->cause, 1);
	if (!state && !governed) {
		kept->ready = now;
		queue_changes(cpu, now, 1);
	}
}

/* What a task does that has never been seen. */
INLINE void begin_doing(struct doing *doing, struct task_struct *task)
{
	doing->call.number = NO_PRIMITIVE;
	doing->fault.began = 0;
	doing->category = task->flags & PF_KTHREAD ? KERNEL_THREAD : exact ? UNCHARGED : USER;
	doing->known = 1;
	doing->minor = task->min_flt;
	doing->major = task->maj_flt;
}

/* Takes a task up again; since when it has been ready. */
INLINE u64 enter(struct processor *cpu, struct task_struct *task, u64 now)
{
	struct kept *kept = kept_of(task);
	if (!kept) {
		begin_doing(&cpu->doing, task);
		cpu->slot = 0;
		return 0;
	}
	if (!kept->doing.known)
		begin_doing(&kept->doing, task);
	u64 ready = kept->ready, out = kept->out;
	u64 woken = ready ? ready : now;
	if (kept->counted)
		wait_changes(now, kept->cause, -1);
	if (ready)
		queue_changes(cpu, now, -1);
	u64 was_ready = ready && now > ready ? now - ready : 0;
	cpu->ready_wait += was_ready;
	cpu->doing = kept->doing;
	cpu->slot = kept->slot;
	if (out) {
		u64 off = now > out ? now - out : 0;
		cpu->doing.call.off += off;
		cpu->doing.fault.off += off;
		charge_wait(kept->slot, kept->cause, woken > out ? woken - out : 0, was_ready);
	}
	kept->counted = 0;
	kept->out = 0;
	kept->ready = 0;
	return ready;
}

SECTION("tp_btf/sched_switch")
int on_switch(u64 *context)
{
	u32 preempted = context[0];
	struct task_struct *before = (void *)context[1], *after = (void *)context[2];
	struct processor *cpu = processor_now();
	struct waiting *all = all_waits();
	u64 now = ktime_ns();
	if (!cpu || !all)
		return 0;
	cpu->interrupts = cpu->soft = 0;
	cpu->switches++;
	if (before->pid && cpu->pid && before->pid != cpu->pid)
		enter(cpu, before, now); /* some kernels leave a few switches untold */
	if (before->pid)
		fault_leaves(cpu, before, now);
	if (before->pid)
		leave(context, cpu, before, preempted ? 0 : before->__state, now);
	if (preempted && before->pid)
		cpu->preemptions++;
	if (after->pid) {
		u64 ready = enter(cpu, after, now);
		fault_returns(cpu, after);
		turn_from_idle(cpu, now, cpu->doing.category, ready);
		if (!before->pid)
			idle_changes(all, now, -1);
	} else {
		if (before->pid)
			idle_changes(all, now, 1);
		cpu->doing.category = IDLE;
		cpu->slot = 0;
		turn(cpu, now, IDLE);
	}
	cpu->since = now;
	cpu->tgid = after->tgid;
	cpu->pid = after->pid;
	return 0;
}

/* A task becomes ready. */
INLINE int woken(struct task_struct *task)
{
	struct kept *kept = kept_of(task);
	struct processor *cpu = processor_now();
	u64 now = ktime_ns();
	if (!kept || !cpu || (!kept->out && kept->doing.known) || kept->ready)
		return 0;
	if (kept->counted)
		wait_changes(now, kept->cause, -1);
	kept->counted = 0;
	if (throttled(task)) {
		kept->cause = GOVERNED;
		kept->counted = 1;
		wait_changes(now, GOVERNED, 1);
		return 0;
	}
	kept->ready = now;
	queue_changes(cpu, now, 1);
	return 0;
}

SECTION("tp_btf/sched_wakeup")
int on_wakeup(u64 *context)
{
	return woken((void *)context[0]);
}

SECTION("tp_btf/sched_wakeup_new")
int on_wakeup_new(u64 *context)
{
	return woken((void *)context[0]);
}

/* A session begins where our own process forks another; what it forks belongs to it. */
SECTION("tp_btf/sched_process_fork")
int on_fork(u64 *context)
{
	struct task_struct *parent = (void *)context[0], *child = (void *)context[1];
	struct kept *of_parent = kept_of(parent), *of_child = kept_of(child);
	if (!of_parent || !of_child)
		return 0;
	begin_doing(&of_child->doing, child);
	if (exact && !(child->flags & PF_KTHREAD))
		of_child->doing.category = PRIMITIVE;
	of_child->slot = of_parent->slot;
	if (parent->tgid != own_tgid || child->tgid == own_tgid)
		return 0;
	u32 slot = __sync_fetch_and_add(&slots_given, 1) + 1, pid = child->pid;
	struct account *account = slot < most_accounts ? account_of(slot) : 0;
	if (!account || map_update(&slot_of_pid, &pid, &slot, 0)) {
		add(&sessions_lost, 1);
		return 0;
	}
	account->pid = pid;
	of_child->slot = slot;
	return 0;
}

SECTION("tp_btf/sched_process_exit")
int on_exit(u64 *context)
{
	struct task_struct *task = (void *)context[0];
	u32 tgid = task->tgid;
	count_last_faults(task);
	struct process *process = task->pid == task->tgid ? map_lookup(&processes, &tgid) : 0;
	if (process)
		process->ended = 1;
	return 0;
}
