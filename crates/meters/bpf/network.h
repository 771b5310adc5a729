/* Interrupts that worked for the network, and of their time the command's share.
 *
 * A soft interrupt that receives is cut where a packet enters the protocols: from there to the next one is of the socket that
 * the packet is for. What comes before the first, in the driver, is shared as the rest. Other soft interrupts count when they
 * send, by packets. The time is charged by the kernel to whoever was interrupted: `inside` is what the command itself was
 * charged with, whomever it was for.
 */
#pragma once
#include "connections.h"

enum { NET_TX = 2, NET_RX = 3, SOFT_KINDS = 10 };
/* Soft interrupts in which the network works: timers, sending, receiving, tasklets of both priorities, precise timers. */
enum { LOOKED_AT = 1 << 0 | 1 << 1 | 1 << NET_TX | 1 << NET_RX | 1 << 6 | 1 << 8 };
enum { NOBODYS, OURS, OTHERS };

/* A processor: sums in the order of src/socket_sums.rs, then what is under way. */
struct network {
	u64 soft; /* ns, of all that is known whom it was for */
	u64 soft_ours;
	u64 soft_unknown; /* without a packet: sent ones were given back */
	u64 soft_inside;
	u64 hard; /* of devices whose interrupt called for the receiving soft one */
	u64 hard_inside;
	u64 packets;
	u64 packets_ours;

	u64 began; /* the soft interrupt under way; 0: none that is looked at */
	u64 kind;
	u64 inside_ours; /* it interrupted the command */
	u64 cut; /* when the slice under way began */
	u64 whose;
	u64 slices[3]; /* ns by whom for */
	u64 sent[3]; /* packets that it sent */
	u64 hard_began;
	u64 receives; /* the interrupt under way called for the receiving soft one */
};

struct {
	MAP_UINT(type, MAP_PERCPU_ARRAY);
	MAP_UINT(max_entries, 1);
	MAP_TYPE(key, u32);
	MAP_TYPE(value, struct network);
} networks SECTION(".maps");

INLINE struct network *network_here(void)
{
	u32 only = 0;
	return map_lookup(&networks, &only);
}

SECTION("tp_btf/softirq_entry")
int on_network(u64 *context)
{
	struct network *here = network_here();
	u64 kind = context[0];
	if (!here || kind >= SOFT_KINDS || !(LOOKED_AT >> kind & 1))
		return 0;
	here->kind = kind;
	here->inside_ours = is_marked(current_task_btf());
	here->whose = NOBODYS;
	here->slices[NOBODYS] = here->slices[OURS] = here->slices[OTHERS] = 0;
	here->sent[OURS] = here->sent[OTHERS] = 0;
	here->began = here->cut = ktime_ns();
	return 0;
}

INLINE void end_slice(struct network *here, u64 now)
{
	u64 ran = now - here->cut;
	if (here->whose == OURS)
		here->slices[OURS] += ran;
	else if (here->whose == OTHERS)
		here->slices[OTHERS] += ran;
	here->cut = now;
}

struct sk_buff {
	struct sock *sk;
	u32 len;
	u32 data_len;
	u16 protocol;
	u8 *data;
} RELOCATED;

enum { PACKET_4 = 0x0008, PACKET_6 = 0xdd86 }; /* ETH_P_IP, ETH_P_IPV6, in the network's order */

struct header_4 {
	u8 length;
	u8 before[8];
	u8 protocol;
	u16 sum;
	u32 source;
	u32 destination;
};

struct header_6 {
	u8 before[6];
	u8 protocol;
	u8 hops;
	struct address source;
	struct address destination;
};

/* What a packet says of itself; 0 when it is none of ours certainly. It stands at its network header. */
INLINE u32 read_packet(struct flow *flow, struct sk_buff *packet)
{
	u16 ports[2] = {};
	u8 *at = packet->data;
	if (packet->protocol == PACKET_4) {
		struct header_4 head;
		if (READ(head, *at))
			return 0;
		as_version_6(&flow->local, head.destination);
		as_version_6(&flow->remote, head.source);
		flow->protocol = head.protocol;
		at += (head.length & 15) * 4;
	} else if (packet->protocol == PACKET_6) {
		struct header_6 head;
		if (READ(head, *at))
			return 0;
		flow->local = head.destination;
		flow->remote = head.source;
		flow->protocol = head.protocol;
		at += sizeof(head);
	} else {
		return 0;
	}
	if (READ(ports, *at))
		return 0;
	flow->remote_port = ports[0];
	flow->local_port = ports[1];
	return 1;
}

INLINE u32 whose_packet(struct sk_buff *packet)
{
	struct flow flow = {}, port = {};
	if (!read_packet(&flow, packet))
		return OTHERS;
	if (flow.protocol == PROTOCOL_TCP)
		return map_lookup(&flows, &flow) ? OURS : OTHERS;
	port.local_port = flow.local_port;
	port.protocol = flow.protocol;
	return map_lookup(&flows, &port) ? OURS : OTHERS;
}

SECTION("tp_btf/netif_receive_skb")
int on_packet(u64 *context)
{
	struct network *here = network_here();
	if (!here || !here->began)
		return 0;
	end_slice(here, ktime_ns());
	here->whose = whose_packet((void *)context[0]);
	here->packets++;
	here->packets_ours += here->whose == OURS;
	return 0;
}

SECTION("tp_btf/net_dev_queue")
int on_packet_sent(u64 *context)
{
	struct network *here = network_here();
	if (!here || !here->began || here->kind == NET_RX)
		return 0;
	struct sk_buff *packet = (void *)context[0];
	u64 key = (u64)packet->sk;
	here->sent[key && map_lookup(&connections, &key) ? OURS : OTHERS]++;
	return 0;
}

/* Charges a soft interrupt of `ran` ns to those that it was for; whether it was one of the network. */
INLINE u32 charge_soft(struct network *here, u64 ran)
{
	u64 ours = here->slices[OURS], all = ours + here->slices[OTHERS];
	if (here->kind != NET_RX || !all) {
		ours = here->sent[OURS];
		all = ours + here->sent[OTHERS];
	}
	if (all) {
		here->soft += ran;
		here->soft_ours += ran * ours / all;
		return 1;
	}
	if (here->kind != NET_RX && here->kind != NET_TX)
		return 0;
	here->soft_unknown += ran;
	return 1;
}

SECTION("tp_btf/softirq_exit")
int after_network(u64 *context)
{
	struct network *here = network_here();
	if (!here || !here->began)
		return 0;
	u64 now = ktime_ns();
	end_slice(here, now);
	u64 ran = now - here->began;
	here->began = 0;
	if (charge_soft(here, ran) && here->inside_ours)
		here->soft_inside += ran;
	return 0;
}

SECTION("tp_btf/irq_handler_entry")
int on_network_device(u64 *context)
{
	struct network *here = network_here();
	if (!here)
		return 0;
	here->receives = 0;
	here->hard_began = ktime_ns();
	return 0;
}

SECTION("tp_btf/softirq_raise")
int on_network_called(u64 *context)
{
	struct network *here = network_here();
	if (here && here->hard_began && context[0] == NET_RX)
		here->receives = 1;
	return 0;
}

/* An interrupt amid a soft one is none of that one's time. */
SECTION("tp_btf/irq_handler_exit")
int after_network_device(u64 *context)
{
	struct network *here = network_here();
	if (!here || !here->hard_began)
		return 0;
	u64 ran = ktime_ns() - here->hard_began;
	here->hard_began = 0;
	if (here->began) {
		here->began += ran;
		here->cut += ran;
	}
	if (!here->receives)
		return 0;
	here->hard += ran;
	if (is_marked(current_task_btf()))
		here->hard_inside += ran;
	return 0;
}
