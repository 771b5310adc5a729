/* Times of the device interrupts that raise the network's receiving soft interrupt. */
#pragma once
#include "network.h"

INLINE u32 is_in_device(struct network *here)
{
	return here->hard_began && here->hard_window == windows;
}

SECTION("tp_btf/irq_handler_entry")
int on_network_device(u64 *context)
{
	struct network *here = network_here();
	if (!here)
		return 0;
	here->receives = 0;
	here->hard_window = windows;
	here->hard_began = ktime_ns();
	return 0;
}

SECTION("tp_btf/softirq_raise")
int on_network_called(u64 *context)
{
	struct network *here = network_here();
	if (here && is_in_device(here) && context[0] == NET_RX)
		here->receives = 1;
	return 0;
}

/* The time of a device interrupt within a soft interrupt is not part of the soft interrupt's time. */
SECTION("tp_btf/irq_handler_exit")
int after_network_device(u64 *context)
{
	struct network *here = network_here();
	if (!here || !is_in_device(here))
		return 0;
	u64 ran = ktime_ns() - here->hard_began;
	here->hard_began = 0;
	if (is_under_way(here)) {
		here->began += ran;
		here->cut += ran;
	}
	if (!here->receives)
		return 0;
	here->hard += ran;
	struct account_work *work = work_of_current_task();
	if (work)
		work->hard_inside += ran;
	return 0;
}
