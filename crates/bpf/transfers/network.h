/* Interrupts that worked for the network, and of their time each account's share.
 *
 * A soft interrupt that receives is cut where a packet enters the protocols: from there to the next one is of the socket that
 * the packet is for. What comes before the first, in the driver, is shared as the rest. Other soft interrupts count when they
 * send, by packets. The time is charged by the kernel to whoever was interrupted: `soft_upon` is what an account's own tasks
 * were charged with, whomever it was for.
 */
#pragma once
#include "marked.h"
#include "packets.h"

enum { NET_TX = 2, NET_RX = 3, SOFT_KINDS = 10 };
/* Soft interrupts in which the network works: timers, sending, receiving, tasklets of both priorities, precise timers. */
enum { LOOKED_AT = 1 << 0 | 1 << 1 | 1 << NET_TX | 1 << NET_RX | 1 << 6 | 1 << 8 };
enum { SHARES = 8 };

/* An account's part of the present soft interrupt: in ns if it receives, else in packets. */
struct share {
	u64 account;
	u64 part;
};

/* The programs are taken away between windows, perhaps amid an interrupt: what began in another window is none of this one's. */
u64 windows = 0;

/* A processor: sums in the order of src/sums.rs, then what is under way. */
struct network {
	u64 soft; /* ns, of all that is known whom it was for */
	u64 soft_unknown; /* without a packet: sent ones were given back */
	u64 hard; /* of devices whose interrupt called for the receiving soft one */
	u64 packets;

	u64 began; /* the soft interrupt under way; 0: none that is looked at */
	u64 kind;
	u64 cut; /* when the slice under way began */
	u64 whose; /* its account; ACCOUNTS: before the first packet */
	u64 window; /* that it began in */
	u64 hard_began;
	u64 hard_window;
	u64 receives; /* the interrupt under way called for the receiving soft one */
	u64 shared; /* so many of the shares are in use */
	struct share shares[SHARES];
};

/* The sums of one account on a processor, in the order of src/sums.rs too. */
struct account_work {
	u64 soft; /* ns, for its sockets */
	u64 soft_upon; /* that came upon its tasks, whomever for */
	u64 hard_upon;
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
	u32 only = 0;
	return map_lookup(&networks, &only);
}

INLINE u32 is_under_way(struct network *here)
{
	return here->began && here->window == windows;
}

INLINE struct account_work *work_of(u32 account)
{
	return map_lookup(&works, &account);
}

SECTION("tp_btf/softirq_entry")
int on_network(u64 *context)
{
	struct network *here = network_here();
	u64 kind = context[0];
	if (!here || kind >= SOFT_KINDS || !(LOOKED_AT >> kind & 1))
		return 0;
	here->kind = kind;
	here->whose = ACCOUNTS;
	here->shared = 0;
	here->window = windows;
	here->began = here->cut = ktime_ns();
	return 0;
}

/* With more accounts in one soft interrupt than there are shares, the last have their slices and nothing of the driver's. */
INLINE void add_part(struct network *here, u64 account, u64 part)
{
	for (u32 at = 0; at < SHARES; at++) {
		struct share *share = &here->shares[at];
		if (at >= here->shared) {
			here->shared = at + 1;
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

/* Charges a soft interrupt of `ran` ns to the accounts that it worked for. Returns whether it was one of the network. */
INLINE u32 charge_soft(struct network *here, u64 ran)
{
	u64 all = 0;
	for (u32 at = 0; at < SHARES && at < here->shared; at++)
		all += here->shares[at].part;
	if (!all) {
		u32 is_networks = here->kind == NET_RX || here->kind == NET_TX;
		here->soft_unknown += is_networks ? ran : 0;
		return is_networks;
	}
	here->soft += ran;
	for (u32 at = 0; at < SHARES && at < here->shared; at++) {
		struct account_work *work = work_of(here->shares[at].account);
		if (work)
			work->soft += here->shared == 1 ? ran : ran * here->shares[at].part / all;
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
	u32 upon = account_of(current_task_btf());
	struct account_work *work = upon ? work_of(upon) : 0;
	if (work)
		work->soft_upon += ran;
	return 0;
}

/* Run by the reader before it attaches the programs again. */
SECTION("raw_tp/window")
int on_window(u64 *context)
{
	windows++;
	return 0;
}
