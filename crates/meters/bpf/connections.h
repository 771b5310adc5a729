/* The command's connections: each by its socket's place, with the addresses by which packets know it, and what kinds have moved. */
#pragma once
#include "marked.h"

/* As the kernel numbers them. */
enum { FAMILY_UNIX = 1, FAMILY_4 = 2, FAMILY_6 = 10, FAMILY_VSOCK = 40 };
enum { PROTOCOL_TCP = 6, PROTOCOL_UDP = 17, PROTOCOL_UDPLITE = 136, PROTOCOL_MPTCP = 262 };
enum { TCP_ESTABLISHED = 1, TCP_SYN_SENT = 2, TCP_CLOSED = 7 };
enum { SOCK_DEAD = 1 << 0, SOCK_DONE = 1 << 1 }; /* nobody holds it; its far end has ended */

struct address {
	u32 words[4]; /* in the network's order; IPv4 as IPv6 has it, ::ffff:a.b.c.d */
};

struct sock_common {
	u32 skc_daddr;
	u32 skc_rcv_saddr;
	u16 skc_dport;
	u16 skc_num;
	u16 skc_family;
	u8 skc_state;
	struct address skc_v6_daddr;
	struct address skc_v6_rcv_saddr;
	u64 skc_flags;
} RELOCATED;

struct sock {
	struct sock_common __sk_common;
	u16 sk_protocol;
} RELOCATED;

struct tcp_sock {
	u64 bytes_sent;
	u64 bytes_retrans;
	u64 bytes_received;
	u32 segs_out;
	u32 segs_in;
} RELOCATED;

/* What a packet that comes in says: whom it is for, and whom from. Ports in the network's order. */
struct flow {
	struct address local;
	struct address remote;
	u16 local_port;
	u16 remote_port;
	u32 protocol;
};

/* Kinds of sockets, in the order of src/socket_sums.rs; of a datagram socket without a far end it is not known where its go. */
enum kind { TCP_OUTSIDE, TCP_LOOPBACK, UDP_OUTSIDE, UDP_LOOPBACK, UDP_ANYWHERE, UNIX, OTHER, KINDS, NO_KIND };

struct moved {
	u64 sockets; /* TCP alone: others have no end that is seen */
	u64 sent; /* bytes, each once */
	u64 received;
	u64 sent_again;
	u64 sends; /* calls that moved something */
	u64 receives;
	u64 segments_sent; /* TCP alone, with those that carry nothing */
	u64 segments_received;
};

struct connection {
	struct flow flow; /* without a local port: not known yet */
	u32 counted; /* it is over, and in the sums */
	u32 orphan; /* nobody holds it any more; the kernel still empties it */
};

struct {
	MAP_UINT(type, MAP_PERCPU_ARRAY);
	MAP_UINT(max_entries, KINDS);
	MAP_TYPE(key, u32);
	MAP_TYPE(value, struct moved);
} moved SECTION(".maps");

struct {
	MAP_UINT(type, MAP_HASH);
	MAP_UINT(max_entries, 65536);
	MAP_TYPE(key, u64);
	MAP_TYPE(value, struct connection);
} connections SECTION(".maps");

/* The flows that are the command's. Datagrams are known by their local port alone, and their sockets' end is not seen. */
struct {
	MAP_UINT(type, MAP_LRU_HASH);
	MAP_UINT(max_entries, 65536);
	MAP_TYPE(key, struct flow);
	MAP_TYPE(value, u32);
} flows SECTION(".maps");

INLINE void as_version_6(struct address *address, u32 version_4)
{
	address->words[0] = address->words[1] = 0;
	address->words[2] = version_4 ? __builtin_bswap32(0xffff) : 0;
	address->words[3] = version_4;
}

INLINE u32 is_nothing(const struct address *address)
{
	return !(address->words[0] | address->words[1] | address->words[2] | address->words[3]);
}

INLINE u32 is_same(const struct address *one, const struct address *other)
{
	return one->words[0] == other->words[0] && one->words[1] == other->words[1] && one->words[2] == other->words[2] &&
	       one->words[3] == other->words[3];
}

/* 127.0.0.0/8, ::1, and a host's own address as far end. */
INLINE u32 is_loopback(const struct flow *flow)
{
	const u32 *far = flow->remote.words;
	if (!far[0] && !far[1] && far[2] == __builtin_bswap32(0xffff))
		return (far[3] & 0xff) == 127 || is_same(&flow->local, &flow->remote);
	if (!far[0] && !far[1] && !far[2])
		return far[3] == __builtin_bswap32(1);
	return is_same(&flow->local, &flow->remote);
}

#define READ(to, from) read_kernel(&(to), sizeof(to), &(from))

INLINE void read_flow(struct flow *flow, struct sock *sk, u32 protocol)
{
	struct sock_common *common = &sk->__sk_common;
	u16 family = 0, port = 0;
	u32 near = 0, far = 0;
	READ(family, common->skc_family);
	READ(port, common->skc_num);
	READ(flow->remote_port, common->skc_dport);
	flow->local_port = __builtin_bswap16(port);
	flow->protocol = protocol;
	if (family == FAMILY_6) {
		READ(flow->local, common->skc_v6_rcv_saddr);
		READ(flow->remote, common->skc_v6_daddr);
		return;
	}
	READ(near, common->skc_rcv_saddr);
	READ(far, common->skc_daddr);
	as_version_6(&flow->local, near);
	as_version_6(&flow->remote, far);
}

INLINE struct moved *moved_by(u32 kind)
{
	return map_lookup(&moved, &kind);
}

INLINE void add(u64 *to, u64 value)
{
	__sync_fetch_and_add(to, value);
}

/* Puts what a TCP socket counted into the sums: once. The far end's end counts as a byte, which is none. */
INLINE void count_connection(struct sock *sk, struct connection *connection)
{
	struct tcp_sock *tcp = (void *)sk;
	u64 sent = 0, again = 0, received = 0, flags = 0;
	u32 segments_sent = 0, segments_received = 0;
	struct flow flow = {};
	if (__sync_fetch_and_add(&connection->counted, 1))
		return;
	map_delete(&flows, &connection->flow);
	read_flow(&flow, sk, PROTOCOL_TCP);
	READ(sent, tcp->bytes_sent);
	READ(again, tcp->bytes_retrans);
	READ(received, tcp->bytes_received);
	READ(segments_sent, tcp->segs_out);
	READ(segments_received, tcp->segs_in);
	READ(flags, sk->__sk_common.skc_flags);
	struct moved *sums = moved_by(is_loopback(&flow) ? TCP_LOOPBACK : TCP_OUTSIDE);
	if (!sums)
		return;
	add(&sums->sockets, 1);
	add(&sums->sent, sent - again);
	add(&sums->sent_again, again);
	add(&sums->received, received - (flags & SOCK_DONE && received));
	add(&sums->segments_sent, segments_sent);
	add(&sums->segments_received, segments_received);
}

/* Its addresses, as soon as it has them all. */
INLINE void learn_flow(struct sock *sk, struct connection *connection)
{
	u32 yes = 1;
	struct flow flow = {};
	read_flow(&flow, sk, PROTOCOL_TCP);
	if (!flow.local_port || !flow.remote_port)
		return;
	connection->flow = flow;
	map_update(&flows, &flow, &yes, 0);
}
