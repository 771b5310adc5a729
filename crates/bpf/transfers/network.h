/* Time of the network's interrupts, and each account's share of it.
 *
 * A soft interrupt that receives is divided into slices, one from each packet's entry into the protocols to the next. A slice belongs
 * to the account of the packet's socket. The time before the first slice, in the driver, is divided in proportion to the slices.
 * Other soft interrupts are divided by the packets that they send. The kernel charges the time to the task that was interrupted:
 * `soft_inside` is the time that an account's own tasks were charged with, whichever account the interrupts worked for. */
#pragma once
#include "marked.h"
#include "packets.h"

enum { NET_TX = 2, NET_RX = 3, SOFT_KINDS = 10 };
/* Soft interrupts in which the network works: timers, sending, receiving, tasklets of both priorities, precise timers. */
enum { NETWORK_KINDS = 1 << 0 | 1 << 1 | 1 << NET_TX | 1 << NET_RX | 1 << 6 | 1 << 8 };
enum { SHARES = 8 }; /* accounts that one soft interrupt is divided among */

/* An account's part of the soft interrupt under way: in ns if it receives, otherwise in packets. */
struct share {
	u64 account;
	u64 part;
};

/* Number of the window. The programs are detached between windows, perhaps during an interrupt. So an interrupt that began in another
 * window is ignored. */
u64 windows = 0;

/* A processor: its sums in the order of src/sums.rs, then its interrupts under way. */
struct network {
	u64 soft; /* ns of soft interrupts that were divided among accounts */
	u64 soft_unknown; /* ns of the network's soft interrupts without a packet, as when they free packets that were sent */
	u64 hard; /* ns of device interrupts that raised the receiving soft interrupt */
	u64 packets;

	u64 began; /* when the soft interrupt under way began; 0: none of NETWORK_KINDS */
	u64 kind;
	u64 cut; /* when the slice under way began */
	u64 whose; /* the slice's account; ACCOUNTS: before the first packet */
	u64 window; /* the window in which the soft interrupt began */
	u64 hard_began;
	u64 hard_window;
	u64 receives; /* whether the device interrupt under way raised the receiving soft interrupt */
	u64 shared; /* number of `shares` in use */
	struct share shares[SHARES];
};

/* The sums of one account on a processor, in the order of src/sums.rs too. */
struct account_work {
	u64 soft; /* ns for the account's sockets */
	u64 soft_inside; /* ns that interrupted the account's tasks, for whichever account */
	u64 hard_inside; /* likewise, of device interrupts */
	u64 packets;
};

struct {
	MAP_UINT(type, MAP_PERCPU_ARRAY);
	MAP_UINT(max_entries, 1);
	MAP_TYPE(key, u32);
	MAP_TYPE(value, struct network);
} networks SECTION(".maps");

struct {
	MAP_UINT(type, MAP_PERCPU_ARRAY);
	MAP_UINT(max_entries, ACCOUNTS);
	MAP_TYPE(key, u32);
	MAP_TYPE(value, struct account_work);
} works SECTION(".maps");

INLINE struct network *network_here(void)
{
	u32 zero = 0;
	return map_lookup(&networks, &zero);
}

INLINE u32 is_under_way(struct network *here)
{
	return here->began && here->window == windows;
}

INLINE struct account_work *work_of(u32 account)
{
	return map_lookup(&works, &account);
}

/* The sums of the account whose task is running, or was interrupted. */
INLINE struct account_work *work_of_current_task(void)
{
	u32 account = account_of(current_task_btf());
	return account ? work_of(account) : 0;
}

SECTION("tp_btf/softirq_entry")
int on_network(u64 *context)
{
	struct network *here = network_here();
	u64 kind = context[0];
	if (!here || kind >= SOFT_KINDS || !(NETWORK_KINDS >> kind & 1))
		return 0;
	here->kind = kind;
	here->whose = ACCOUNTS;
	here->shared = 0;
	here->window = windows;
	here->began = here->cut = ktime_ns();
	return 0;
}

/* Adds to an account's part. Accounts beyond SHARES get only their slices, without a part of the driver's time. */
INLINE void add_part(struct network *here, u64 account, u64 part)
{
	for (u32 index = 0; index < SHARES; index++) {
		struct share *share = &here->shares[index];
		if (index >= here->shared) {
			here->shared = index + 1;
			share->account = account;
			share->part = part;
			return;
		}
		if (share->account == account) {
			share->part += part;
			return;
		}
	}
	struct account_work *work = work_of(account);
	if (work && here->kind == NET_RX)
		work->soft += part;
}

INLINE void end_slice(struct network *here, u64 now)
{
	if (here->whose != ACCOUNTS)
		add_part(here, here->whose, now - here->cut);
	here->cut = now;
}

SECTION("tp_btf/netif_receive_skb")
int on_packet(u64 *context)
{
	struct network *here = network_here();
	if (!here || !is_under_way(here) || here->kind != NET_RX)
		return 0;
	end_slice(here, ktime_ns());
	here->whose = account_of_packet((void *)context[0]);
	here->packets++;
	struct account_work *work = here->whose ? work_of(here->whose) : 0;
	if (work)
		work->packets++;
	return 0;
}

SECTION("tp_btf/net_dev_queue")
int on_packet_sent(u64 *context)
{
	struct network *here = network_here();
	if (!here || !is_under_way(here) || here->kind == NET_RX)
		return 0;
	add_part(here, account_of_sent((void *)context[0]), 1);
	return 0;
}

/* Charges a soft interrupt of `ran` ns to the accounts that it worked for. Returns whether it worked for the network. */
INLINE u32 charge_soft(struct network *here, u64 ran)
{
	u64 all = 0;
	for (u32 index = 0; index < SHARES && index < here->shared; index++)
		all += here->shares[index].part;
	if (!all) {
		u32 is_of_network = here->kind == NET_RX || here->kind == NET_TX;
		here->soft_unknown += is_of_network ? ran : 0;
		return is_of_network;
	}
	here->soft += ran;
	for (u32 index = 0; index < SHARES && index < here->shared; index++) {
		struct account_work *work = work_of(here->shares[index].account);
		if (work)
			work->soft += here->shared == 1 ? ran : ran * here->shares[index].part / all;
	}
	return 1;
}

SECTION("tp_btf/softirq_exit")
int after_network(u64 *context)
{
	struct network *here = network_here();
	if (!here || !is_under_way(here))
		return 0;
	u64 now = ktime_ns(), ran = now - here->began;
	end_slice(here, now);
	here->began = 0;
	if (!charge_soft(here, ran))
		return 0;
	struct account_work *work = work_of_current_task();
	if (work)
		work->soft_inside += ran;
	return 0;
}

/* The reader runs this before it attaches the programs again. */
SECTION("raw_tp/window")
int on_window(u64 *context)
{
	windows++;
	return 0;
}
