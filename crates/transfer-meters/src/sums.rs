//! Sums that the kernel programs of transfers keep: what sockets moved, and interrupts.

use std::ops::{AddAssign, Sub};

/// Kinds of sockets, in the order of `enum kind` (`bpf/transfers/connections.h`).
pub const KINDS: [&str; 7] =
    ["TCP, network", "TCP, loopback", "UDP, network", "UDP, loopback", "UDP, to anywhere", "Unix", "other"];

/// Words of `struct moved`.
pub(crate) const MOVED_WORDS: usize = 8;
/// Words of `struct network`, which begins with its sums.
pub(crate) const NETWORK_WORDS: usize = 13 + 2 * 8;
/// Words of `struct account_work`.
pub(crate) const WORK_WORDS: usize = 4;

/// What all sockets of a kind moved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moved {
    /// Connections; TCP alone, of others no end is seen.
    pub sockets: u64,
    /// Bytes that were sent, each once.
    pub sent: u64,
    /// Bytes that came.
    pub received: u64,
    /// Bytes that were sent again.
    pub sent_again: u64,
    /// Calls that sent something.
    pub sends: u64,
    /// Calls that received something.
    pub receives: u64,
    /// Segments that went out, with those that carry nothing; TCP alone.
    pub segments_sent: u64,
    /// Segments that came in; TCP alone.
    pub segments_received: u64,
}

/// Time in interrupts of the network on all processors, in nanoseconds, and what of it is of one account: a command, or an end of a
/// transfer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Interrupts {
    /// Soft ones of which it is known whom they were for.
    pub soft: u64,
    /// Of it, for its own sockets.
    pub soft_ours: u64,
    /// Soft ones without a packet.
    pub soft_unknown: u64,
    /// Soft ones, whomever for, that came upon its tasks: charged to them where interrupts have no account.
    pub soft_inside: u64,
    /// Devices' interrupts that called for a receiving soft one.
    pub hard: u64,
    /// Of it, what came upon its tasks.
    pub hard_inside: u64,
    /// Packets that came in.
    pub packets: u64,
    /// Of them, the account's.
    pub packets_ours: u64,
}

impl Moved {
    pub(crate) fn of(
        [sockets, sent, received, sent_again, sends, receives, segments_sent, segments_received]: [u64; MOVED_WORDS],
    ) -> Moved {
        Moved { sockets, sent, received, sent_again, sends, receives, segments_sent, segments_received }
    }
}

impl AddAssign for Moved {
    fn add_assign(&mut self, more: Moved) {
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

impl Interrupts {
    /// Soft interrupts for its own sockets: those that had no packet are shared as the others are.
    pub fn soft_for_it(&self) -> u64 {
        self.soft_ours + shared(self.soft_unknown, self.soft_ours, self.soft)
    }

    /// Devices' interrupts for its own sockets: shared as the soft ones are, which follow them; an estimate.
    pub fn hard_for_it(&self) -> u64 {
        shared(self.hard, self.soft_ours, self.soft)
    }

    pub(crate) fn of_all(words: &[u64; NETWORK_WORDS]) -> Interrupts {
        let [soft, soft_unknown, hard, packets, ..] = *words;
        Interrupts { soft, soft_unknown, hard, packets, ..Interrupts::default() }
    }

    pub(crate) fn of_account(words: &[u64; WORK_WORDS]) -> Interrupts {
        let [soft_ours, soft_inside, hard_inside, packets_ours] = *words;
        Interrupts { soft_ours, soft_inside, hard_inside, packets_ours, ..Interrupts::default() }
    }
}

/// The part of `whole` that `ours` is of `all`.
fn shared(whole: u64, ours: u64, all: u64) -> u64 {
    if all == 0 { 0 } else { (u128::from(whole) * u128::from(ours) / u128::from(all)) as u64 }
}

impl AddAssign for Interrupts {
    fn add_assign(&mut self, more: Interrupts) {
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

impl Sub for Interrupts {
    type Output = Interrupts;

    fn sub(self, before: Interrupts) -> Interrupts {
        Interrupts {
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
    fn what_is_nobodys_for_certain_is_shared_as_the_rest() {
        let half = Interrupts { soft: 1000, soft_ours: 500, soft_unknown: 40, hard: 10, ..Interrupts::default() };
        assert_eq!((half.soft_for_it(), half.hard_for_it()), (520, 5));
        let none = Interrupts { soft_unknown: 40, hard: 10, ..Interrupts::default() };
        assert_eq!((none.soft_for_it(), none.hard_for_it()), (0, 0));
    }

    #[test]
    fn sums_are_added_and_taken_away_field_by_field() {
        let mut one = Interrupts::of_all(&std::array::from_fn(|index| index as u64 + 1));
        one += Interrupts::of_account(&[5, 6, 7, 8]);
        let mut two = one;
        two += one;
        assert_eq!(two - one, one);
        assert_eq!((two.soft, two.packets_ours), (2, 16));
        let mut moved = Moved::of([1, 2, 3, 4, 5, 6, 7, 8]);
        moved += moved;
        assert_eq!(moved, Moved::of([2, 4, 6, 8, 10, 12, 14, 16]));
    }
}
