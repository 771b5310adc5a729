//! Totals that the kernel programs of transfers keep: bytes and calls of sockets, and interrupt time.

use std::ops::{AddAssign, Sub};

/// Kinds of sockets, in the order of `enum kind` (`bpf/transfers/connections.h`).
pub const SOCKET_KINDS: [&str; 7] =
    ["TCP, network", "TCP, loopback", "UDP, network", "UDP, loopback", "UDP, to anywhere", "Unix", "other"];

/// Words of `struct socket_sums`.
pub(crate) const MOVED_WORDS: usize = 8;
/// Words of `struct network`, which begins with its sums.
pub(crate) const NETWORK_WORDS: usize = 13 + 2 * 8;
/// Words of `struct account_work`.
pub(crate) const WORK_WORDS: usize = 4;

/// Totals of all sockets of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SocketTotals {
    /// Number of connections. TCP only: the end of other sockets is not seen.
    pub sockets: u64,
    /// Bytes sent, each counted once.
    pub sent: u64,
    /// Bytes received.
    pub received: u64,
    /// Bytes retransmitted.
    pub sent_again: u64,
    /// Calls that sent something.
    pub sends: u64,
    /// Calls that received something.
    pub receives: u64,
    /// Segments sent, including those without data. TCP only.
    pub segments_sent: u64,
    /// Segments received. TCP only.
    pub segments_received: u64,
}

/// Time in the network's interrupts on all processors, in nanoseconds, and the part of one account.
///
/// An account is a command, or an end of a transfer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NetworkInterruptTime {
    /// Soft interrupts whose sockets are known, of all accounts.
    pub soft: u64,
    /// The part of `soft` for the account's own sockets.
    pub soft_ours: u64,
    /// Soft interrupts without a packet.
    pub soft_unknown: u64,
    /// Soft interrupts for any account that interrupted this account's tasks.
    pub soft_inside: u64,
    /// Device interrupts that raised a receiving soft interrupt.
    pub hard: u64,
    /// The part of `hard` that interrupted the account's tasks.
    pub hard_inside: u64,
    /// Packets received.
    pub packets: u64,
    /// The part of `packets` for the account.
    pub packets_ours: u64,
}

impl SocketTotals {
    pub(crate) fn from_words(
        [sockets, sent, received, sent_again, sends, receives, segments_sent, segments_received]: [u64; MOVED_WORDS],
    ) -> SocketTotals {
        SocketTotals { sockets, sent, received, sent_again, sends, receives, segments_sent, segments_received }
    }
}

impl AddAssign for SocketTotals {
    fn add_assign(&mut self, more: SocketTotals) {
        self.sockets += more.sockets;
        self.sent += more.sent;
        self.received += more.received;
        self.sent_again += more.sent_again;
        self.sends += more.sends;
        self.receives += more.receives;
        self.segments_sent += more.segments_sent;
        self.segments_received += more.segments_received;
    }
}

impl NetworkInterruptTime {
    /// Time of soft interrupts for the account's own sockets, with its share of those without a packet.
    pub fn soft_interrupt_ns(&self) -> u64 {
        self.soft_ours + share(self.soft_unknown, self.soft_ours, self.soft)
    }

    /// Estimated time of device interrupts for the account's own sockets, shared in proportion to the soft interrupts.
    pub fn device_interrupt_ns(&self) -> u64 {
        share(self.hard, self.soft_ours, self.soft)
    }

    pub(crate) fn from_all(words: &[u64; NETWORK_WORDS]) -> NetworkInterruptTime {
        let [soft, soft_unknown, hard, packets, ..] = *words;
        NetworkInterruptTime { soft, soft_unknown, hard, packets, ..NetworkInterruptTime::default() }
    }

    pub(crate) fn from_account(words: &[u64; WORK_WORDS]) -> NetworkInterruptTime {
        let [soft_ours, soft_inside, hard_inside, packets_ours] = *words;
        NetworkInterruptTime { soft_ours, soft_inside, hard_inside, packets_ours, ..NetworkInterruptTime::default() }
    }
}

/// The part `ours / all` of `time_ns`; 0 if `all` is 0.
fn share(time_ns: u64, ours: u64, all: u64) -> u64 {
    if all == 0 { 0 } else { (u128::from(time_ns) * u128::from(ours) / u128::from(all)) as u64 }
}

impl AddAssign for NetworkInterruptTime {
    fn add_assign(&mut self, more: NetworkInterruptTime) {
        self.soft += more.soft;
        self.soft_ours += more.soft_ours;
        self.soft_unknown += more.soft_unknown;
        self.soft_inside += more.soft_inside;
        self.hard += more.hard;
        self.hard_inside += more.hard_inside;
        self.packets += more.packets;
        self.packets_ours += more.packets_ours;
    }
}

impl Sub for NetworkInterruptTime {
    type Output = NetworkInterruptTime;

    fn sub(self, before: NetworkInterruptTime) -> NetworkInterruptTime {
        NetworkInterruptTime {
            soft: self.soft - before.soft,
            soft_ours: self.soft_ours - before.soft_ours,
            soft_unknown: self.soft_unknown - before.soft_unknown,
            soft_inside: self.soft_inside - before.soft_inside,
            hard: self.hard - before.hard,
            hard_inside: self.hard_inside - before.hard_inside,
            packets: self.packets - before.packets,
            packets_ours: self.packets_ours - before.packets_ours,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_without_a_packet_is_shared_as_the_other_time() {
        let half =
            NetworkInterruptTime { soft: 1000, soft_ours: 500, soft_unknown: 40, hard: 10, ..NetworkInterruptTime::default() };
        assert_eq!((half.soft_interrupt_ns(), half.device_interrupt_ns()), (520, 5));
        let none = NetworkInterruptTime { soft_unknown: 40, hard: 10, ..NetworkInterruptTime::default() };
        assert_eq!((none.soft_interrupt_ns(), none.device_interrupt_ns()), (0, 0));
    }

    #[test]
    fn sums_are_added_and_taken_away_field_by_field() {
        let mut first = NetworkInterruptTime::from_all(&std::array::from_fn(|index| index as u64 + 1));
        first += NetworkInterruptTime::from_account(&[5, 6, 7, 8]);
        let mut second = first;
        second += first;
        assert_eq!(second - first, first);
        assert_eq!((second.soft, second.packets_ours), (2, 16));
        let mut moved = SocketTotals::from_words([1, 2, 3, 4, 5, 6, 7, 8]);
        moved += moved;
        assert_eq!(moved, SocketTotals::from_words([2, 4, 6, 8, 10, 12, 14, 16]));
    }
}
