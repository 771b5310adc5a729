/* The command's TCP connections, by the address of their socket in the kernel; and the sums of all its sockets, by kind. */
#pragma once
#include "flows.h"
#include "marked.h"

/* As the kernel numbers them. */
enum { TCP_ESTABLISHED = 1, TCP_SYN_SENT = 2, TCP_CLOSED = 7 };
enum { SOCK_DEAD = 1 << 0, SOCK_DONE = 1 << 1 }; /* no process holds the socket; its far end has closed */

struct tcp_sock {
	u64 bytes_sent;
	u64 bytes_retrans;
	u64 bytes_received;
	u32 segs_out;
	u32 segs_in;
} RELOCATED;

/* Kinds of sockets, in the order of src/sums.rs. A datagram socket without a far end is UDP_ANYWHERE: it may send to any host. */
enum kind { TCP_OUTSIDE, TCP_LOOPBACK, UDP_OUTSIDE, UDP_LOOPBACK, UDP_ANYWHERE, UNIX, OTHER, KINDS, NO_KIND };

/* What the sockets of a kind have moved. */
struct socket_sums {
	u64 sockets; /* TCP alone: no event reports the end of another socket */
	u64 sent; /* bytes, each counted once */
	u64 received;
	u64 sent_again;
	u64 sends; /* calls that moved bytes */
	u64 receives;
	u64 segments_sent; /* TCP alone; also segments without bytes */
	u64 segments_received;
};

struct connection {
	struct flow flow; /* its addresses; not known yet while the local port is 0 */
	u32 counted; /* whether it is over and in the sums */
	u32 orphan; /* whether no process holds it any more; the kernel still sends the rest */
};

struct {
	MAP_UINT(type, MAP_PERCPU_ARRAY);
	MAP_UINT(max_entries, KINDS);
	MAP_TYPE(key, u32);
	MAP_TYPE(value, struct socket_sums);
} moved SECTION(".maps");

struct {
	MAP_UINT(type, MAP_HASH);
	MAP_UINT(max_entries, 65536);
	MAP_TYPE(key, u64);
	MAP_TYPE(value, struct connection);
} connections SECTION(".maps");

INLINE struct socket_sums *sums_of(u32 kind)
{
	return map_lookup(&moved, &kind);
}

INLINE void add(u64 *to, u64 value)
{
	__sync_fetch_and_add(to, value);
}

/* Adds the counters of a TCP socket to the sums, once. A socket counts its far end's closing as a received byte; it is subtracted. */
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
	struct socket_sums *sums = sums_of(is_loopback(&flow) ? TCP_LOOPBACK : TCP_OUTSIDE);
	if (!sums)
		return;
	add(&sums->sockets, 1);
	add(&sums->sent, sent - again);
	add(&sums->sent_again, again);
	add(&sums->received, received - (flags & SOCK_DONE && received));
	add(&sums->segments_sent, segments_sent);
	add(&sums->segments_received, segments_received);
}

/* Notes the connection's addresses if it has all of them. */
INLINE void learn_flow(struct sock *sk, struct connection *connection)
{
	u32 account = COMMAND;
	struct flow flow = {};
	read_flow(&flow, sk, PROTOCOL_TCP);
	if (!flow.local_port || !flow.remote_port)
		return;
	connection->flow = flow;
	if (map_update(&flows, &flow, &account, 0))
		lose(FLOWS_LOST);
}
