/* Switches between tasks: which task waits and for what, which is ready, which runs. */
#pragma once
#include "windows.h"
#include "ready.h"

const volatile u32 switch_tells_state = 0; /* whether the tracepoint's last argument is the state (kernels since 5.18) */
const volatile u32 unseen_process = 0; /* for tests: its events are ignored, as some kernels ignore process 1 */

INLINE u32 unseen(void)
{
	return unseen_process && current_pid_tgid() >> 32 == unseen_process;
}

/* Takes a task out of `waiting` and of the ready queue before it is counted elsewhere. So no event that was missed leaves it there. */
INLINE void remove_from_counts(struct processor *cpu, struct task_record *record, u64 now)
{
	if (record->counted)
		wait_changes(now, record->cause, -1);
	if (record->ready)
		queue_changes(cpu, now, -1);
	record->counted = 0;
	record->ready = 0;
}

INLINE void add_to_ready(struct processor *cpu, struct task_record *record, u64 now)
{
	record->ready = now;
	queue_changes(cpu, now, 1);
}

INLINE void add_to_waiting(struct task_record *record, u32 cause, u64 now)
{
	record->cause = cause;
	record->counted = cause != NO_CAUSE;
	if (record->counted)
		wait_changes(now, cause, 1);
}

/* Sets what a task does that has not been seen before: its registers show that. */
INLINE void set_doing_by_registers(struct doing *doing, struct task_struct *task)
{
	doing->call.number = NO_PRIMITIVE;
	doing->call.began = 0;
	doing->fault.began = 0;
	doing->category = task->flags & PF_KTHREAD ? KERNEL_THREAD : exact && in_call(task) ? PRIMITIVE : USER;
	doing->known = present_window();
	doing->minor = task->min_flt;
	doing->major = task->maj_flt;
}

/* Sets what a task does that has not been seen in this window. */
INLINE void see_first(struct doing *doing, struct task_struct *task, u64 now)
{
	set_doing_by_registers(doing, task);
	if (sampled)
		take_up_call(doing, task, now);
}

/* The running task leaves the processor in a window. */
INLINE void leave_in_window(struct processor *cpu, struct task_record *record, struct task_struct *task, u32 state, u64 now)
{
	if (state & DEAD) {
		count_last_faults(task);
		count_call(cpu, this_processor(), now, 0);
	} else {
		leave_call(cpu, now);
	}
	record->doing = cpu->doing;
	record->name = cpu->name;
	record->out = now;
}

/* A task comes to the processor in a window. */
INLINE void enter_in_window(struct processor *cpu, struct task_record *record, u64 came)
{
	u64 off = record->out && came > record->out ? came - record->out : 0;
	cpu->doing = record->doing;
	cpu->doing.call.off += off;
	cpu->doing.fault.off += off;
	cpu->slot = 0;
	cpu->name = record->name;
	record->out = 0;
	record->doing.call.began = record->doing.fault.began = 0; /* over, unless an event reports that the task leaves */
}

/* The running task leaves the processor; `state` is 0 if it stays ready. */
INLINE void leave(void *context, struct processor *cpu, struct task_struct *task, u32 state, u64 now)
{
	struct task_record *record = record_of(task);
	u64 ran = now > cpu->since ? now - cpu->since : 0;
	if (!record)
		return;
	if (sampled) {
		leave_in_window(cpu, record, task, state, now);
		return;
	}
	if (!cpu->name)
		cpu->name = record->name = name_of(task, record->slot);
	charge_run(cpu, record, ran, state & DEAD);
	remove_from_counts(cpu, record, now);
	record->loaded += ran;
	if (exact && state & DEAD) {
		count_last_faults(task);
		count_call(cpu, this_processor(), now, 0); /* the call from which the task never returns */
	}
	if (exact)
		record->doing = cpu->doing;
	record->out = now;
	record->run_delay = task->sched_info.run_delay;
	if (state)
		add_to_waiting(record, cause_of(context, cpu, task, record, state), now);
	else if (throttled(task))
		add_to_waiting(record, GOVERNED, now);
	else {
		record->cause = NO_CAUSE;
		add_to_ready(cpu, record, now);
	}
}

/* When the task that came to the processor at `came` became ready, if no program saw its wake-up. This follows from `run_delay`, the
 * scheduler's count of the task's time ready. The scheduler adds the last wait to it at the arrival, which is after the tracepoint. */
INLINE u64 became_ready_unseen(struct processor *cpu, struct task_struct *task, struct task_record *record, u64 came)
{
	u64 queued = task->sched_info.last_queued;
	u64 waited = task->sched_info.run_delay - record->run_delay;
	if (queued && cpu->ahead && queued + cpu->ahead < came)
		waited += came - (queued + cpu->ahead);
	return waited < came - record->out ? came - waited : record->out;
}

/* A task has come to the processor at `came`. Returns when it became ready; 0 if that is not known. */
INLINE u64 enter(struct processor *cpu, struct task_struct *task, u64 now, u64 came)
{
	struct task_record *record = record_of(task);
	if (!record) {
		see_first(&cpu->doing, task, came);
		cpu->slot = cpu->name = 0;
		return 0;
	}
	if (record->doing.known != present_window()) {
		see_first(&record->doing, task, came);
		record->name = 0; /* in windows it may have another one now */
	}
	if (sampled) {
		enter_in_window(cpu, record, came);
		return 0;
	}
	if (!record->name)
		record->name = name_of(task, record->slot);
	u64 ready = record->ready, out = record->out;
	if (!ready && out && out < came && record->cause != GOVERNED)
		ready = became_ready_unseen(cpu, task, record, came);
	remove_from_counts(cpu, record, now);
	if (exact) {
		u64 off = out && came > out ? came - out : 0;
		cpu->doing = record->doing;
		cpu->doing.call.off += off;
		cpu->doing.fault.off += off;
	} else {
		cpu->doing.category = record->doing.category;
	}
	cpu->slot = record->slot;
	cpu->name = record->name;
	if (out) {
		u64 woken = ready ? ready : came;
		charge_wait(record, woken > out ? woken - out : 0, ready && came > ready ? came - ready : 0);
	}
	record->out = 0;
	record->doing.call.began = record->doing.fault.began = 0; /* over, unless an event reports that the task leaves */
	return ready;
}

/* Longest time for which a comparison of our clock with the scheduler's holds: they drift some microseconds apart in a second. */
enum { CLOCKS_AGREE_NS = 10000000 };

/* Compares our clock with the scheduler's, which it updated a moment ago for the switch to `task`. A hypervisor may take the processor
 * in that moment. So the difference grows by at most a thousandth of the time since the last comparison. */
INLINE void compare_clocks(struct processor *cpu, struct task_struct *task, u64 now)
{
	if (!FIELD_EXISTS(task->se.cfs_rq->rq))
		return;
	u64 ahead = now - task->se.cfs_rq->rq->clock;
	u64 most = cpu->ahead + ((now - cpu->compared) >> 10);
	cpu->ahead = cpu->ahead && (s64)(ahead - most) > 0 ? most : ahead;
	cpu->compared = now;
}

/* When the running task, which no event reported, came to the processor: by the scheduler's clock, but not before the last task that
 * was seen to come. */
INLINE u64 unreported_arrival(struct processor *cpu, struct task_struct *task, u64 now)
{
	u64 came = task->sched_info.last_arrival + cpu->ahead;
	if (!cpu->ahead || came > now)
		return now;
	return came < cpu->since ? cpu->since : came;
}

/* Takes the running task up if no event has reported the switch to it. The function is not static, so that the kernel checks it once
 * by itself. A static function is checked again for each state of its callers: `on_switch` then takes two thirds longer to load. */
__attribute__((noinline)) int take_over(struct processor *cpu, u64 now)
{
	struct task_struct *task = current_task_btf();
	if (!cpu || task->pid == cpu->pid)
		return 0;
	u64 came = unreported_arrival(cpu, task, now);
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
			take_over(cpu, now); /* some kernels do not report every switch */
		if (exact)
			fault_leaves(cpu, before, now);
		leave(context, cpu, before, state, now);
		cpu->preemptions += !state; /* the kernel counts these as involuntary switches, whether in a kernel that pre-empts or not */
	}
	if (after->pid) {
		cpu->switches++;
		ready = enter(cpu, after, now, now);
		if (exact)
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

/* A task becomes ready. Nothing changes for a task that runs or is ready already. */
INLINE int wake_up(struct task_struct *task)
{
	struct task_record *record = record_of(task);
	struct processor *cpu = processor_now();
	u64 now = ktime_ns();
	if (!record || !cpu || !record->out || record->ready || unseen())
		return 0;
	remove_from_counts(cpu, record, now);
	if (!throttled(task)) {
		add_to_ready(cpu, record, now);
		return 0;
	}
	charge_wait(record, now > record->out ? now - record->out : 0, 0);
	record->out = now;
	add_to_waiting(record, GOVERNED, now);
	return 0;
}

SECTION("tp_btf/sched_wakeup")
int on_wakeup(u64 *context)
{
	return wake_up((void *)context[0]);
}

SECTION("tp_btf/sched_wakeup_new")
int on_wakeup_new(u64 *context)
{
	return wake_up((void *)context[0]);
}
