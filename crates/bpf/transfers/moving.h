/* The bytes that the command's sockets move: by the socket's own counters for TCP, else by each call. */
#pragma once
#include "connections.h"

enum { PEEKED = 0x2, OF_ERRORS = 0x2000 };

INLINE u32 protocol_of(struct sock *sk)
{
	u32 family = sk->__sk_common.skc_family;
	return family == FAMILY_4 || family == FAMILY_6 ? sk->sk_protocol : 0;
}

/* Sockets that found no room among `connections`, as long as there are any. */
struct {
	MAP_UINT(type, MAP_SK_STORAGE);
	MAP_UINT(map_flags, NO_PREALLOC);
	MAP_TYPE(key, s32);
	MAP_TYPE(value, u32);
} lost_sockets SECTION(".maps");

/* A socket counts as one connection, however often it is used. */
INLINE void lose_connection(struct sock *sk)
{
	u32 *uses = sk_storage_get(&lost_sockets, sk, 0, STORAGE_CREATE);
	if (!uses || !__sync_fetch_and_add(uses, 1))
		lose(CONNECTIONS_LOST);
}

/* A connection that a task of the command has made or uses. */
INLINE struct connection *remember(struct sock *sk)
{
	u64 key = (u64)sk;
	struct connection new = {};
	struct connection *known = map_lookup(&connections, &key);
	if (known)
		return known;
	map_update(&connections, &key, &new, 1);
	known = map_lookup(&connections, &key);
	if (!known)
		lose_connection(sk);
	return known;
}

/* Notes a connection that is used. If it is over already, it is counted at once. */
INLINE void know(struct sock *sk)
{
	struct connection *known = remember(sk);
	if (!known || known->counted || known->flow.local_port)
		return;
	if (sk->__sk_common.skc_state == TCP_CLOSED)
		count_connection(sk, known);
	else
		learn_flow(sk, known);
}

INLINE u32 kind_of_datagrams(struct sock *sk)
{
	struct flow flow = {};
	read_flow(&flow, sk, PROTOCOL_UDP);
	u32 port = __builtin_bswap16(flow.local_port);
	u32 *account = map_lookup(&ports, &port);
	if (account)
		*account = COMMAND;
	return is_nothing(&flow.remote) ? UDP_ANYWHERE : is_loopback(&flow) ? UDP_LOOPBACK : UDP_OUTSIDE;
}

/* Multipath TCP moves its bytes over TCP sockets of its own, which count them. */
INLINE u32 kind_of(struct sock *sk)
{
	u32 family = sk->__sk_common.skc_family;
	if (family == FAMILY_UNIX)
		return UNIX;
	if (family == FAMILY_VSOCK)
		return OTHER;
	switch (protocol_of(sk)) {
	case 0:
	case PROTOCOL_MPTCP:
		return NO_KIND;
	case PROTOCOL_TCP: {
		struct flow flow = {};
		know(sk);
		read_flow(&flow, sk, PROTOCOL_TCP);
		return is_loopback(&flow) ? TCP_LOOPBACK : TCP_OUTSIDE;
	}
	case PROTOCOL_UDP:
	case PROTOCOL_UDPLITE:
		return kind_of_datagrams(sk);
	}
	return OTHER;
}

SECTION("tp_btf/sock_send_length")
int on_send(u64 *context)
{
	struct sock *sk = (void *)context[0];
	s32 length = context[1];
	if (length <= 0 || !sk || !is_marked(current_task_btf()))
		return 0;
	u32 kind = kind_of(sk);
	struct moved *sums = moved_by(kind);
	if (!sums)
		return 0;
	add(&sums->sends, 1);
	if (kind > TCP_LOOPBACK)
		add(&sums->sent, length);
	return 0;
}

SECTION("tp_btf/sock_recv_length")
int on_receive(u64 *context)
{
	struct sock *sk = (void *)context[0];
	s32 length = context[1];
	if (length <= 0 || !sk || context[2] & (PEEKED | OF_ERRORS) || !is_marked(current_task_btf()))
		return 0;
	u32 kind = kind_of(sk);
	struct moved *sums = moved_by(kind);
	if (!sums)
		return 0;
	add(&sums->receives, 1);
	if (kind > TCP_LOOPBACK)
		add(&sums->received, length);
	return 0;
}

/* A socket connects in the task that wants it to. Its addresses are whole when it is connected, its counts when it is closed.
 * This runs before the socket itself has the new state. */
SECTION("tp_btf/inet_sock_set_state")
int on_state(u64 *context)
{
	struct sock *sk = (void *)context[0];
	u64 key = (u64)sk;
	s32 state = context[2];
	if (protocol_of(sk) != PROTOCOL_TCP)
		return 0;
	struct connection *known = map_lookup(&connections, &key);
	if (state == TCP_SYN_SENT && is_marked(current_task_btf())) {
		if (known)
			known->counted = known->flow.local_port = 0; /* it connects anew */
		else
			remember(sk);
	} else if (known && state == TCP_ESTABLISHED && !known->counted) {
		learn_flow(sk, known);
	} else if (known && state == TCP_CLOSED) {
		count_connection(sk, known);
	}
	return 0;
}

SECTION("tp_btf/tcp_destroy_sock")
int on_destroy(u64 *context)
{
	struct sock *sk = (void *)context[0];
	u64 key = (u64)sk;
	struct connection *known = map_lookup(&connections, &key);
	if (!known)
		return 0;
	count_connection(sk, known);
	map_delete(&connections, &key);
	return 0;
}

/* Run by the reader on a socket of `connections`: whether anybody holds it; with a second argument, it is counted as it is. */
SECTION("raw_tp/look")
int on_look(u64 *context)
{
	struct sock *sk = (void *)context[0];
	u64 key = context[0], flags = 0;
	struct connection *known = map_lookup(&connections, &key);
	if (!known || known->counted)
		return 0;
	READ(flags, sk->__sk_common.skc_flags);
	known->orphan = flags & SOCK_DEAD;
	if (context[1])
		count_connection(sk, known);
	return 0;
}
