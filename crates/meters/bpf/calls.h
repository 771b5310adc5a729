/* Primitives: what users' programs ask of the kernel. */
#pragma once
#include "tasks.h"

SECTION("tp_btf/sys_enter")
int on_call(u64 *context)
{
	struct processor *cpu = processor_now();
	u64 now = ktime_ns();
	if (!cpu)
		return 0;
	u32 number = context[1];
	cpu->interrupts = cpu->soft = 0;
	cpu->doing.fault.began = 0;
	cpu->doing.call.began = now;
	cpu->doing.call.off = 0;
	cpu->doing.call.number = number;
	cpu->doing.category = number == brk_number ? BOUND_FAULT : PRIMITIVE;
	turn(cpu, now, cpu->doing.category);
	return 0;
}

SECTION("tp_btf/sys_exit")
int on_return(u64 *context)
{
	struct processor *cpu = processor_now();
	u64 now = ktime_ns();
	if (!cpu)
		return 0;
	cpu->doing.call.number = NO_PRIMITIVE;
	cpu->doing.category = USER;
	turn(cpu, now, USER);
	return 0;
}
