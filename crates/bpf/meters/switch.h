/* Switching from task to task: who waits for what, who is ready, who runs. */
#pragma once
#include "calls.h"
#include "causes.h"
#include "ready.h"

const volatile u32 switch_tells_state = 0; /* whether the tracepoint's last argument is the state (kernels since 5.18) */
const volatile u32 unseen_process = 0; /* for tests: while it has the processor no program runs, as with process 1 on some kernels */

INLINE u32 unseen(void)
{
	return unseen_process && current_pid_tgid() >> 32 == unseen_process;
}

/* Where a task stands is settled before it stands elsewhere, whatever was missed: nothing in `waiting` and in the queue is left over. */
INLINE void settle(struct processor *cpu, struct kept *kept, u64 now)
{
	if (kept->counted)
		wait_changes(now, kept->cause, -1);
	if (kept->ready)
		queue_changes(cpu, now, -1);
	kept->counted = 0;
	kept->ready = 0;
}

INLINE void stands_ready(struct processor *cpu, struct kept *kept, u64 now)
{
	kept->ready = now;
	queue_changes(cpu, now, 1);
}

INLINE void stands_waiting(struct kept *kept, u32 cause, u64 now)
{
	kept->cause = cause;
	kept->counted = cause != NO_CAUSE;
	if (kept->counted)
		wait_changes(now, cause, 1);
}

/* What a task does that has not been seen: as its registers say. */
INLINE void begin_doing(struct doing *doing, struct task_struct *task)
{
	doing->call.number = NO_PRIMITIVE;
	doing->call.began = 0;
	doing->fault.began = 0;
	doing->category = task->flags & PF_KTHREAD ? KERNEL_THREAD : exact && in_call(task) ? PRIMITIVE : USER;
	doing->known = 1;
	doing->minor = task->min_flt;
	doing->major = task->maj_flt;
}

INLINE void leave(void *context, struct processor *cpu, struct task_struct *task, u32 state, u64 now)
{
	struct kept *kept = kept_of(task);
	u64 ran = now > cpu->since ? now - cpu->since : 0;
	if (!kept)
		return;
	if (!cpu->name)
		cpu->name = kept->name = name_of(task, kept->slot);
	charge_run(cpu, kept, ran, state & DEAD);
	settle(cpu, kept, now);
	kept->loaded += ran;
	if (state & DEAD)
		count_last_faults(task);
	if (state & DEAD)
		count_call(cpu, this_processor(), now, 0); /* the one that it never returns from */
	if (exact)
		kept->doing = cpu->doing;
	kept->out = now;
	kept->run_delay = task->sched_info.run_delay;
	if (state)
		stands_waiting(kept, cause_of(context, cpu, task, kept, state), now);
	else if (throttled(task))
		stands_waiting(kept, GOVERNED, now);
	else {
		kept->cause = NO_CAUSE;
		stands_ready(cpu, kept, now);
	}
}

/* Since when a task was ready that came to the processor at `came`, and whose wake-up no program saw: by the scheduler's own count
 * of its time ready. It has the last wait in it once the task has arrived, which is after the tracepoint. */
INLINE u64 became_ready_unseen(struct processor *cpu, struct task_struct *task, struct kept *kept, u64 came)
{
	u64 queued = task->sched_info.last_queued;
	u64 waited = task->sched_info.run_delay - kept->run_delay;
	if (queued && cpu->ahead && queued + cpu->ahead < came)
		waited += came - (queued + cpu->ahead);
	return waited < came - kept->out ? came - waited : kept->out;
}

/* Takes a task up again, which came to the processor at `came`; since when it has been ready. */
INLINE u64 enter(struct processor *cpu, struct task_struct *task, u64 now, u64 came)
{
	struct kept *kept = kept_of(task);
	if (!kept) {
		begin_doing(&cpu->doing, task);
		cpu->slot = cpu->name = 0;
		return 0;
	}
	if (!kept->doing.known)
		begin_doing(&kept->doing, task);
	if (!kept->name)
		kept->name = name_of(task, kept->slot);
	u64 ready = kept->ready, out = kept->out;
	if (!ready && out && out < came && kept->cause != GOVERNED)
		ready = became_ready_unseen(cpu, task, kept, came);
	settle(cpu, kept, now);
	if (exact) {
		u64 off = out && came > out ? came - out : 0;
		cpu->doing = kept->doing;
		cpu->doing.call.off += off;
		cpu->doing.fault.off += off;
	} else {
		cpu->doing.category = kept->doing.category;
	}
	cpu->slot = kept->slot;
	cpu->name = kept->name;
	if (out) {
		u64 woken = ready ? ready : came;
		charge_wait(kept, woken > out ? woken - out : 0, ready && came > ready ? came - ready : 0);
	}
	kept->out = 0;
	kept->doing.call.began = kept->doing.fault.began = 0; /* over, if nobody is told that the task leaves */
	return ready;
}

/* For so long the scheduler's clock and ours go alike: they differ by some microseconds after a second. */
enum { CLOCKS_AGREE_NS = 10000000 };

/* At a switch to `task`, for which the scheduler has brought its clock up a moment ago. A hypervisor may take the processor in
 * that moment: so the difference grows by no more than a thousandth of the time since it was last taken. */
INLINE void compare_clocks(struct processor *cpu, struct task_struct *task, u64 now)
{
	if (!FIELD_EXISTS(task->se.cfs_rq->rq))
		return;
	u64 ahead = now - task->se.cfs_rq->rq->clock;
	u64 most = cpu->ahead + ((now - cpu->compared) >> 10);
	cpu->ahead = cpu->ahead && (s64)(ahead - most) > 0 ? most : ahead;
	cpu->compared = now;
}

/* When the running task, whose coming was not told, came to the processor: as the scheduler has it, but not before the last
 * task that was seen to come. */
INLINE u64 came_untold(struct processor *cpu, struct task_struct *task, u64 now)
{
	u64 came = task->sched_info.last_arrival + cpu->ahead;
	if (!cpu->ahead || came > now)
		return now;
	return came < cpu->since ? cpu->since : came;
}

/* Takes the running task up if the processor has gone over to it and nobody was told. */
static __attribute__((noinline)) int take_over(struct processor *cpu, u64 now)
{
	struct task_struct *task = current_task_btf();
	if (task->pid == cpu->pid)
		return 0;
	u64 came = came_untold(cpu, task, now);
	charge_unknown(cpu, came > cpu->since ? came - cpu->since : 0);
	u64 ready = enter(cpu, task, now, came);
	turn_from_idle(cpu, came, cpu->doing.category, ready);
	cpu->since = came;
	cpu->tgid = task->tgid;
	cpu->pid = task->pid;
	return 0;
}

SECTION("tp_btf/sched_switch")
int on_switch(u64 *context)
{
	if (unseen())
		return 0;
	u32 preempted = (u8)context[0];
	struct task_struct *before = (void *)context[1], *after = (void *)context[2];
	struct processor *cpu = processor_now();
	u64 now = ktime_ns(), ready = 0;
	if (!cpu)
		return 0;
	if (now - cpu->compared > CLOCKS_AGREE_NS)
		compare_clocks(cpu, after, now);
	u32 state = preempted ? 0 : switch_tells_state ? (u32)context[3] : before->__state;
	cpu->interrupts = cpu->soft = 0;
	cpu->entered = 0;
	if (before->pid) {
		if (cpu->since && before->pid != cpu->pid)
			take_over(cpu, now); /* some kernels leave a few switches untold */
		fault_leaves(cpu, before, now);
		leave(context, cpu, before, state, now);
		cpu->preemptions += preempted != 0;
	}
	if (after->pid) {
		cpu->switches++;
		ready = enter(cpu, after, now, now);
		fault_returns(cpu, after);
	} else {
		cpu->doing.category = IDLE;
		cpu->slot = cpu->name = 0;
	}
	turn_from_idle(cpu, now, cpu->doing.category, ready);
	cpu->since = now;
	cpu->tgid = after->tgid;
	cpu->pid = after->pid;
	return 0;
}

/* A task becomes ready; one that runs, or is ready already, is left alone. */
INLINE int woken(struct task_struct *task)
{
	struct kept *kept = kept_of(task);
	struct processor *cpu = processor_now();
	u64 now = ktime_ns();
	if (!kept || !cpu || !kept->out || kept->ready || unseen())
		return 0;
	settle(cpu, kept, now);
	if (!throttled(task)) {
		stands_ready(cpu, kept, now);
		return 0;
	}
	charge_wait(kept, now > kept->out ? now - kept->out : 0, 0);
	kept->out = now;
	stands_waiting(kept, GOVERNED, now);
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
