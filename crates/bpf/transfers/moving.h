/* Counts the bytes that the command's sockets move: by the socket's own counters for TCP, otherwise at each call. */
#pragma once
#include "connections.h"

enum { PEEKED = 0x2, OF_ERRORS = 0x2000 }; /* MSG_PEEK, MSG_ERRQUEUE: calls that move no bytes of the transfer */

INLINE u32 protocol_of(struct sock *sk)
{
	u32 family = sk->__sk_common.skc_family;
	return family == FAMILY_4 || family == FAMILY_6 ? sk->sk_protocol : 0;
}

/* Sockets for which `connections` had no room, until they are gone. */
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

/* The entry of a connection that a task of the command opens or uses; it is added if there is none. */
INLINE struct connection *remember(struct sock *sk)
{
	u64 key = (u64)sk;
	struct connection new = {};
	struct connection *connection = map_lookup(&connections, &key);
	if (connection)
		return connection;
	map_update(&connections, &key, &new, 1);
	connection = map_lookup(&connections, &key);
	if (!connection)
		lose_connection(sk);
	return connection;
}

/* Notes a connection that is used. If it is over already, it is counted at once. */
INLINE void note_use(struct sock *sk)
{
	struct connection *connection = remember(sk);
	if (!connection || connection->counted || connection->flow.local_port)
		return;
	if (sk->__sk_common.skc_state == TCP_CLOSED)
		count_connection(sk, connection);
	else
		learn_flow(sk, connection);
}

INLINE u32 kind_of_datagrams(struct sock *sk)
{
	struct flow flow = {};
	read_flow(&flow, sk, PROTOCOL_UDP);
	u32 port = __builtin_bswap16(flow.local_port);
	u32 *account = map_lookup(&ports, &port);
	if (account)
		*account = COMMAND;
	return is_unspecified(&flow.remote) ? UDP_ANYWHERE : is_loopback(&flow) ? UDP_LOOPBACK : UDP_OUTSIDE;
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
		note_use(sk);
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
	struct socket_sums *sums = sums_of(kind);
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
	struct socket_sums *sums = sums_of(kind);
	if (!sums)
		return 0;
	add(&sums->receives, 1);
	if (kind > TCP_LOOPBACK)
		add(&sums->received, length);
	return 0;
}

/* A socket gets a new state, which it does not hold yet. It begins to connect in the task that wants it to. Its addresses are complete
 * when it is connected, its counts when it is closed. */
SECTION("tp_btf/inet_sock_set_state")
int on_state(u64 *context)
{
	struct sock *sk = (void *)context[0];
	u64 key = (u64)sk;
	s32 state = context[2];
	if (protocol_of(sk) != PROTOCOL_TCP)
		return 0;
	struct connection *connection = map_lookup(&connections, &key);
	if (state == TCP_SYN_SENT && is_marked(current_task_btf())) {
		if (connection)
			connection->counted = connection->flow.local_port = 0; /* it connects again */
		else
			remember(sk);
	} else if (connection && state == TCP_ESTABLISHED && !connection->counted) {
		learn_flow(sk, connection);
	} else if (connection && state == TCP_CLOSED) {
		count_connection(sk, connection);
	}
	return 0;
}

SECTION("tp_btf/tcp_destroy_sock")
int on_destroy(u64 *context)
{
	struct sock *sk = (void *)context[0];
	u64 key = (u64)sk;
	struct connection *connection = map_lookup(&connections, &key);
	if (!connection)
		return 0;
	count_connection(sk, connection);
	map_delete(&connections, &key);
	return 0;
}

/* The reader runs this on a socket of `connections`, to note whether a process holds it. With a second argument, it is counted now. */
SECTION("raw_tp/look")
int on_look(u64 *context)
{
	struct sock *sk = (void *)context[0];
	u64 key = context[0], flags = 0;
	struct connection *connection = map_lookup(&connections, &key);
	if (!connection || connection->counted)
		return 0;
	READ(flags, sk->__sk_common.skc_flags);
	connection->orphan = flags & SOCK_DEAD;
	if (context[1])
		count_connection(sk, connection);
	return 0;
}
