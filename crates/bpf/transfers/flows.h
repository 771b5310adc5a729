/* Flows: the addresses that assign a packet to a socket, and the accounts of flows. */
#pragma once
#include "../kernel.h"

/* As the kernel numbers them. */
enum { FAMILY_UNIX = 1, FAMILY_4 = 2, FAMILY_6 = 10, FAMILY_VSOCK = 40 };
enum { PROTOCOL_TCP = 6, PROTOCOL_UDP = 17, PROTOCOL_UDPLITE = 136, PROTOCOL_MPTCP = 262 };

struct address {
	u32 words[4]; /* in network byte order; an IPv4 address has its IPv6 form ::ffff:a.b.c.d */
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

/* The addresses in an incoming packet: its receiver and its sender. Ports are in network byte order. */
struct flow {
	struct address local;
	struct address remote;
	u16 local_port;
	u16 remote_port;
	u32 protocol;
};

/* Numbers of the accounts: the command's, and those of the ends of transfers, which src/ends.rs assigns. */
enum { NOBODY, COMMAND, ACCOUNTS = 1024 };

/* The connections that have an account. A connection that ends is removed. */
struct {
	MAP_UINT(type, MAP_HASH);
	MAP_UINT(max_entries, 65536);
	MAP_TYPE(key, struct flow);
	MAP_TYPE(value, u32);
} flows SECTION(".maps");

/* The accounts of datagrams, by their local port alone, because no event reports the end of their sockets. */
struct {
	MAP_UINT(type, MAP_ARRAY);
	MAP_UINT(max_entries, 65536);
	MAP_TYPE(key, u32);
	MAP_TYPE(value, u32);
} ports SECTION(".maps");

INLINE void as_version_6(struct address *address, u32 version_4)
{
	address->words[0] = address->words[1] = 0;
	address->words[2] = version_4 ? __builtin_bswap32(0xffff) : 0;
	address->words[3] = version_4;
}

INLINE u32 is_unspecified(const struct address *address)
{
	return !(address->words[0] | address->words[1] | address->words[2] | address->words[3]);
}

INLINE u32 is_same(const struct address *left, const struct address *right)
{
	return left->words[0] == right->words[0] && left->words[1] == right->words[1] && left->words[2] == right->words[2] &&
	       left->words[3] == right->words[3];
}

/* Whether the far end is on this host: in 127.0.0.0/8, ::1, or the flow's own address. */
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

/* The account of a flow that was read from a socket, or from a packet for one. */
INLINE u32 account_of_flow(struct flow *flow)
{
	u32 port = __builtin_bswap16(flow->local_port), *account = 0;
	if (flow->protocol == PROTOCOL_TCP)
		account = map_lookup(&flows, flow);
	else if (flow->protocol == PROTOCOL_UDP)
		account = map_lookup(&ports, &port);
	return account ? *account : NOBODY;
}
