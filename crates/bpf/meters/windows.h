/* Windows: the exact programs may run for a short time now and then, beside others that run always.
 *
 * What they knew at the end of a window is wrong at the beginning of the next. So each window has a number, and a task's record says in which
 * window it was last true. A call that a window cuts counts in the window in which it returns. Its processor time counts where it is used. */
#pragma once
#include "calls.h"
#include "causes.h"

/* The number of the call that the task's registers show, or that of all other calls. */
INLINE u32 number_in_registers(struct task_struct *task)
{
	struct pt_regs *registers = task_registers(task);
	s64 number = OTHER_PRIMITIVE;
	if (!registers)
		return OTHER_PRIMITIVE;
	if (FIELD_EXISTS(registers->orig_ax))
		number = registers->orig_ax; /* x86 */
	else if (FIELD_EXISTS(registers->syscallno))
		number = registers->syscallno; /* arm64 */
	return number < 0 || number >= OTHER_PRIMITIVE || is_32_bit(registers) ? OTHER_PRIMITIVE : number;
}

/* Takes up the call in which a task is that has not been seen in this window. */
INLINE void take_up_call(struct doing *doing, struct task_struct *task, u64 now)
{
	if (doing->category != PRIMITIVE)
		return;
	doing->call.began = now;
	doing->call.off = 0;
	doing->call.number = number_in_registers(task) | BEGAN_UNSEEN;
	doing->call.faults = 0;
}

/* The running task leaves the processor in a call: charges what the call has used in this window. */
INLINE void leave_call(struct processor *cpu, u64 now)
{
	struct call *call = &cpu->doing.call;
	u32 index = this_processor() * PRIMITIVES + (call->number & (PRIMITIVES - 1));
	if (!call->began || cpu->pid == window_thread)
		return;
	struct primitive *sums = map_lookup(&primitives, &index);
	if (sums)
		charge_call(cpu, sums, now);
}
