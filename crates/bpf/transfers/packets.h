/* Assigns incoming packets to accounts by their headers. */
#pragma once
#include "flows.h"

struct sk_buff {
	struct sock *sk;
	u32 len;
	u32 data_len;
	u16 protocol;
	u8 *data;
} RELOCATED;

enum { PACKET_4 = 0x0008, PACKET_6 = 0xdd86 }; /* ETH_P_IP, ETH_P_IPV6, in network byte order */

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

/* Reads the flow of a packet from its network header on. Returns 0 if the packet certainly has no account. */
INLINE u32 read_packet(struct flow *flow, struct sk_buff *packet)
{
	u16 ports[2] = {};
	u8 *header = packet->data;
	if (packet->protocol == PACKET_4) {
		struct header_4 head;
		if (READ(head, *header))
			return 0;
		as_version_6(&flow->local, head.destination);
		as_version_6(&flow->remote, head.source);
		flow->protocol = head.protocol;
		header += (head.length & 15) * 4;
	} else if (packet->protocol == PACKET_6) {
		struct header_6 head;
		if (READ(head, *header))
			return 0;
		flow->local = head.destination;
		flow->remote = head.source;
		flow->protocol = head.protocol;
		header += sizeof(head);
	} else {
		return 0;
	}
	if (READ(ports, *header))
		return 0;
	flow->remote_port = ports[0];
	flow->local_port = ports[1];
	return 1;
}

INLINE u32 account_of_packet(struct sk_buff *packet)
{
	struct flow flow = {};
	return read_packet(&flow, packet) ? account_of_flow(&flow) : NOBODY;
}

/* The account of a packet that is sent, by its socket. */
INLINE u32 account_of_sent(struct sk_buff *packet)
{
	struct sock *sk = packet->sk;
	struct flow flow = {};
	if (!sk)
		return NOBODY;
	read_flow(&flow, sk, PROTOCOL_TCP);
	return account_of_flow(&flow);
}
