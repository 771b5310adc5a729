//! Usage of processes that have ended, by user.
//!
//! The kernel sends a record for every thread on the machine at its end, before the waiting parent learns of the end. So at the
//! ready mark, the records of all descendants of a command are in the socket. A record names the parent process, not the user. So
//! sums are kept under their parent's id until the parent's own record comes, or until the parent is known as a session's leader.
//! A process that outlives its parent becomes a child of process 1, and its faults and waits are charged to nobody.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::io;

use rustix::io::Errno;

use loadgo_core::system::UserId;

use crate::usage::taskstats::{Record, Sums, TASKSTATS_CMD_GET, TASKSTATS_GENL_NAME, record_in};
use loadgo_sys::netlink::{ERROR_MESSAGE_ID, NetlinkRequest, NetlinkSocket, payload, u16_at};

/// Size of the socket's buffer for records that were not yet taken.
const BUFFER_BYTES: usize = 64 << 20;
/// Largest number of parents under whose ids sums are kept.
const MOST_PENDING_PARENTS: usize = 1 << 16;

// The attribute that registers a listener, from linux/taskstats.h.
const TASKSTATS_CMD_ATTR_REGISTER_CPUMASK: u16 = 3;

/// The records of ended processes, sorted to users.
#[derive(Debug)]
pub struct Exits {
    socket: NetlinkSocket,
    message: Box<[u8; 4096]>,
    family_tree: FamilyTree,
    drops_seen: u64,
    lost: u64,
}

/// Usage of a user's ended processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// A process (with those below it) or a thread that the session's leader had started.
    Descendant(Sums),
    /// The first thread of the session's leader: its final account.
    Leader(Sums),
}

impl Exits {
    /// Listens on all processors, for `users` leaders. This needs CAP_NET_ADMIN in the host's own namespaces.
    pub fn listen(users: usize) -> io::Result<Exits> {
        Exits::listen_with_buffer(users, BUFFER_BYTES)
    }

    /// Listens like [`Exits::listen`], with a socket buffer of so many bytes for records that were not yet taken.
    pub fn listen_with_buffer(users: usize, bytes: usize) -> io::Result<Exits> {
        let socket = NetlinkSocket::open()?;
        socket.set_buffer_size(bytes);
        let family = socket.family(TASKSTATS_GENL_NAME)?;
        let mut processors = std::fs::read("/sys/devices/system/cpu/possible")?;
        processors.retain(|byte| !byte.is_ascii_whitespace());
        processors.push(0);
        socket.send(
            &NetlinkRequest::new(family, TASKSTATS_CMD_GET, TASKSTATS_CMD_ATTR_REGISTER_CPUMASK, &processors).acknowledged(),
        )?;
        let mut exits =
            Exits { socket, message: Box::new([0; 4096]), family_tree: FamilyTree::new(users), drops_seen: 0, lost: 0 };
        exits.await_acknowledgement()?;
        Ok(exits)
    }

    fn await_acknowledgement(&mut self) -> io::Result<()> {
        loop {
            let length = self.socket.receive(&mut self.message[..])?;
            let acknowledged = u16_at(&self.message[..length], 4) == Some(ERROR_MESSAGE_ID);
            payload(&self.message[..length])?;
            if acknowledged {
                return Ok(());
            }
        }
    }

    /// Records that `pid` leads the session of `user` from now on.
    pub fn began(&mut self, user: UserId, pid: u32) {
        self.family_tree.began(user, pid);
    }

    /// Records that the session which `pid` led is over.
    pub fn ended(&mut self, pid: u32) {
        self.family_tree.ended(pid);
    }

    /// Takes all records that have come and gives each to its user; no allocation.
    pub fn drain(&mut self, mut credit: impl FnMut(UserId, Ended)) {
        loop {
            match self.socket.receive_now(&mut self.message[..]) {
                Ok(length) => {
                    if let Ok(Some(record)) = record_in(&self.message[..length]) {
                        self.lost += self.family_tree.ended_task(&record, &mut credit);
                    }
                }
                Err(error) if Errno::from_io_error(&error) == Some(Errno::NOBUFS) => self.overran(),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return,
            }
        }
    }

    /// Usage of the ended processes and threads whose records wait for the record of `pid`, which lives on.
    pub(crate) fn waiting_for(&self, pid: u32) -> Sums {
        self.family_tree.pending.get(pid).unwrap_or_default()
    }

    /// The number of records lost since the last call.
    pub fn take_lost(&mut self) -> u64 {
        std::mem::take(&mut self.lost)
    }

    /// Counts the records that the kernel threw away, and forgets all waiting sums. Their parents' records may be among the lost
    /// records, and their process ids may be in use again.
    fn overran(&mut self) {
        let drops = self.socket.drops().unwrap_or(self.drops_seen + 1);
        self.lost += drops.saturating_sub(self.drops_seen).max(1);
        self.drops_seen = drops.max(self.drops_seen);
        self.family_tree.forget_pending();
    }
}

/// Parents and children among tasks, as far as records of ended tasks name them.
#[derive(Debug)]
struct FamilyTree {
    me: u32,
    leaders: ByPid<UserId>,
    pending: PendingSums,
}

/// Sums that wait for the record of their parent, by the parent's process id.
///
/// There is room for all from the beginning, because a table that grows would make the driver's thread late. The sums are in a list
/// of their own, so that only as much memory is touched as sums wait.
#[derive(Debug)]
struct PendingSums {
    places: ByPid<u32>,
    sums: Vec<Sums>,
    free: Vec<u32>,
}

impl PendingSums {
    fn new() -> PendingSums {
        let mut places = ByPid::default();
        places.reserve(MOST_PENDING_PARENTS);
        PendingSums { places, sums: Vec::with_capacity(MOST_PENDING_PARENTS), free: Vec::with_capacity(MOST_PENDING_PARENTS) }
    }

    fn get(&self, pid: u32) -> Option<Sums> {
        self.places.get(&pid).map(|place| self.sums[*place as usize])
    }

    fn remove(&mut self, pid: u32) -> Option<Sums> {
        let place = self.places.remove(&pid)?;
        self.free.push(place);
        Some(self.sums[place as usize])
    }

    /// Adds to the sums that wait at `pid`; false if there is no room.
    fn add(&mut self, pid: u32, sums: Sums) -> bool {
        if let Some(place) = self.places.get(&pid) {
            self.sums[*place as usize] += sums;
            return true;
        }
        if self.places.len() >= MOST_PENDING_PARENTS {
            return false;
        }
        let place = match self.free.pop() {
            Some(place) => {
                self.sums[place as usize] = sums;
                place
            }
            None => {
                self.sums.push(sums);
                self.sums.len() as u32 - 1
            }
        };
        self.places.insert(pid, place);
        true
    }

    fn clear(&mut self) {
        self.places.clear();
        self.sums.clear();
        self.free.clear();
    }
}

type ByPid<T> = HashMap<u32, T, BuildHasherDefault<PidHasher>>;

impl FamilyTree {
    fn new(users: usize) -> FamilyTree {
        let mut leaders = ByPid::default();
        leaders.reserve(users);
        FamilyTree { me: std::process::id(), leaders, pending: PendingSums::new() }
    }

    fn began(&mut self, user: UserId, pid: u32) {
        self.pending.remove(pid);
        self.leaders.insert(pid, user);
    }

    fn ended(&mut self, pid: u32) {
        self.leaders.remove(&pid);
    }

    fn forget_pending(&mut self) {
        self.pending.clear();
    }

    /// Assigns the record of one ended task. Returns the number of records that were dropped because the table is full.
    fn ended_task(&mut self, record: &Record, credit: &mut impl FnMut(UserId, Ended)) -> u64 {
        let process = record.process.unwrap_or(record.pid);
        if let Some(user) = self.leaders.get(&process) {
            let first_thread = record.pid == process;
            let ended = if first_thread { Ended::Leader(record.sums) } else { Ended::Descendant(record.sums.clocked()) };
            credit(*user, ended);
            return 0;
        }
        if record.process.is_some() && !record.last_thread {
            return self.wait_at(process, record.sums.clocked());
        }
        let mut sums = self.pending.remove(process).unwrap_or_default();
        sums += record.sums.clocked();
        match self.leaders.get(&record.parent) {
            Some(user) => credit(*user, Ended::Descendant(sums)),
            None if record.parent <= 1 || record.parent == self.me => {}
            None => return self.wait_at(record.parent, sums),
        }
        0
    }

    fn wait_at(&mut self, pid: u32, sums: Sums) -> u64 {
        u64::from(!self.pending.add(pid, sums))
    }
}

/// A hash that spreads consecutive small numbers, which suffices for process ids.
#[derive(Debug, Default)]
struct PidHasher(u64);

impl Hasher for PidHasher {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u32(u32::from(*byte)));
    }
    fn write_u32(&mut self, pid: u32) {
        self.0 = (self.0 ^ u64::from(pid)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(pid: u32, process: u32, parent: u32, last_thread: bool) -> Record {
        let sums = Sums { minor: 1, ..Sums::default() };
        Record { pid, process: Some(process), parent, last_thread, sums }
    }

    fn credited(tree: &mut FamilyTree, records: &[Record]) -> Vec<(UserId, Ended)> {
        let mut seen = Vec::new();
        for record in records {
            assert_eq!(tree.ended_task(record, &mut |user, ended| seen.push((user, ended))), 0);
        }
        seen
    }

    #[test]
    fn a_grandchild_is_charged_when_its_parent_ends() {
        let mut tree = FamilyTree::new(2);
        tree.began(7, 100);
        assert_eq!(credited(&mut tree, &[task(102, 102, 101, true)]), []);
        let sums = Sums { minor: 2, ..Sums::default() };
        assert_eq!(credited(&mut tree, &[task(101, 101, 100, true)]), [(7, Ended::Descendant(sums))]);
        assert!(tree.pending.places.is_empty());
    }

    #[test]
    fn threads_wait_for_the_last_of_their_process() {
        let mut tree = FamilyTree::new(2);
        tree.began(7, 100);
        let first_threads = [task(102, 101, 100, false), task(101, 101, 100, false)];
        assert_eq!(credited(&mut tree, &first_threads), []);
        let sums = Sums { minor: 3, ..Sums::default() };
        assert_eq!(credited(&mut tree, &[task(103, 101, 100, true)]), [(7, Ended::Descendant(sums))]);
    }

    #[test]
    fn a_wait_that_is_not_known_spoils_the_one_reading_in_which_its_task_ended() {
        let mut tree = FamilyTree::new(2);
        tree.began(7, 100);
        // The parent, process 101, lives on through all readings.
        let mut waits_so_far = |block_ns| {
            let sums = Sums { elapsed_ns: 1_000_000, block_ns, ..Sums::default() };
            assert_eq!(credited(&mut tree, &[Record { sums, ..task(102, 102, 101, true) }]), []);
            tree.pending.get(101).expect("they wait for their parent")
        };
        let mut before = Sums::default();
        let known = [6_600_000_000_000, 500, 7_000_000_000_000, 300].map(|block_ns| {
            let now = waits_so_far(block_ns);
            let line = now.since(std::mem::replace(&mut before, now)).expect("nobody has left");
            (line.unclocked, line.block_ns)
        });
        assert_eq!(known, [(1, 0), (0, 500), (1, 0), (0, 300)]);
    }

    #[test]
    fn a_stranger_is_charged_to_nobody() {
        let mut tree = FamilyTree::new(2);
        tree.began(7, 100);
        assert_eq!(credited(&mut tree, &[task(300, 300, 1, true), task(301, 301, 300, true)]), []);
    }

    #[test]
    fn an_id_that_becomes_a_leader_does_not_inherit() {
        let mut tree = FamilyTree::new(2);
        credited(&mut tree, &[task(301, 301, 300, true)]);
        tree.began(7, 300);
        tree.ended(300);
        assert_eq!(credited(&mut tree, &[task(300, 300, 1, true)]), []);
        assert!(tree.pending.places.is_empty());
    }

    #[test]
    fn a_full_table_counts_what_it_throws_away() {
        let mut tree = FamilyTree::new(1);
        let strangers = 1 << 30..;
        for parent in strangers.take(MOST_PENDING_PARENTS) {
            assert_eq!(tree.ended_task(&task(2, 2, parent, true), &mut |_, _| {}), 0);
        }
        assert_eq!(tree.ended_task(&task(2, 2, 5, true), &mut |_, _| {}), 1);
    }
}
