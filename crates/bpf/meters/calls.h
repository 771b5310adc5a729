/* System calls of users' programs, from the entry into the kernel to the return. Tables call them primitives. */
#pragma once
#include "faulting.h"
#include "who.h"

enum { PRIMITIVES = 512, OTHER_PRIMITIVE = PRIMITIVES - 1 }; /* by number; the last is for all calls without a number of their own */
enum { MOST_ERRORS = 4095 };
enum { BEGAN_UNSEEN = 1 << 16 }; /* in `call.number`: the call began before the window */

/* The return value of this call is the value of a restored register, not a result. */
const volatile u32 sigreturn_number = 0xffff;

/* The calls of one number on one processor. */
struct primitive {
	u64 count;
	u64 failed;
	u64 time; /* ns from entry to return; in windows only those on the processor, also of calls without an end there */
	u64 off; /* ns of `time` off the processor */
	u64 faults; /* page faults meanwhile */
	u32 buckets[BUCKETS]; /* of the time from entry to return, where both were seen */
};

struct {
	MAP_UINT(type, MAP_ARRAY);
	MAP_UINT(max_entries, MOST_PROCESSORS * PRIMITIVES);
	MAP_UINT(map_flags, MMAPABLE);
	MAP_TYPE(key, u32);
	MAP_TYPE(value, struct primitive);
} primitives SECTION(".maps");

INLINE struct processor *processor_at(u32 here)
{
	return map_lookup(&processors, &here);
}

/* Whether the calling program is a 32-bit one, whose numbers stand for other calls. */
INLINE u32 is_32_bit(struct pt_regs *registers)
{
	if (FIELD_EXISTS(registers->cs))
		return (registers->cs & 0xffff) == 0x23; /* x86: the kernel's __USER32_CS */
	if (FIELD_EXISTS(registers->pstate))
		return registers->pstate >> 4 & 1; /* arm64: PSR_MODE32_BIT */
	return 0;
}

__attribute__((noinline)) int take_over(struct processor *cpu, u64 now); /* in switch.h */

/* Takes the running task up if its switch was not reported, as some kernels do not report every switch. */
INLINE void see_task(struct processor *cpu, u64 registers, u64 now)
{
	if (cpu->entered == registers)
		return;
	cpu->entered = registers;
	take_over(cpu, now);
}

/* Charges the time of the call under way since it began or last came to this processor. */
INLINE void charge_call(struct processor *cpu, struct primitive *sums, u64 now)
{
	u64 began = cpu->doing.call.began, from = began > cpu->since ? began : cpu->since;
	sums->time += now > from ? now - from : 0;
}

/* Counts the call that is under way, if it was seen before. */
INLINE void count_call(struct processor *cpu, u32 here, u64 now, s64 result)
{
	struct call *call = &cpu->doing.call;
	u64 began = call->began;
	u32 number = call->number & (PRIMITIVES - 1), index = here * PRIMITIVES + number;
	if (!began)
		return;
	struct primitive *sums = map_lookup(&primitives, &index);
	if (sums && sampled && cpu->pid != window_thread)
		charge_call(cpu, sums, now);
	call->began = 0;
	if (!sums || (sampled && cpu->pid == window_thread))
		return;
	struct tally single = { .count = 1, .time = now > began ? now - began : 0, .wait = call->off };
	if ((u64)-result - 1 < MOST_ERRORS && number != sigreturn_number)
		single.failed = 1;
	sums->count++;
	sums->failed += single.failed;
	if (!sampled) {
		sums->time += single.time;
		sums->off += single.wait;
	}
	sums->faults += call->faults;
	if (!(call->number & BEGAN_UNSEEN))
		sums->buckets[bucket_of(single.time)]++;
	count_who(cpu, here, number, single);
}

SECTION("tp_btf/sys_enter")
int on_call(u64 *context)
{
	u32 here = this_processor();
	struct processor *cpu = processor_at(here);
	u64 now = ktime_ns();
	if (!cpu)
		return 0;
	u64 number = context[1];
	if (number >= OTHER_PRIMITIVE || is_32_bit((void *)context[0]))
		number = OTHER_PRIMITIVE;
	u32 category = number == brk_number ? BOUND_FAULT : PRIMITIVE;
	cpu->interrupts = cpu->soft = 0;
	see_task(cpu, context[0], now);
	give_up_fault(cpu, now);
	cpu->doing.call.began = now;
	cpu->doing.call.off = 0;
	cpu->doing.call.number = number;
	cpu->doing.call.faults = 0;
	cpu->doing.category = category;
	turn_awake(cpu, now, category);
	return 0;
}

SECTION("tp_btf/sys_exit")
int on_return(u64 *context)
{
	u32 here = this_processor();
	struct processor *cpu = processor_at(here);
	u64 now = ktime_ns();
	if (!cpu)
		return 0;
	see_task(cpu, context[0], now);
	give_up_fault(cpu, now);
	count_call(cpu, here, now, context[1]);
	cpu->doing.category = USER;
	turn_awake(cpu, now, USER);
	return 0;
}
