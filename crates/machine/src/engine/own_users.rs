//! The users of a machine's own load: their think times, their next commands, and arrivals of open classes.

use std::sync::Arc;

use super::errand::whole;
use super::error::EngineError;
use crate::disciplines::ProcessId;
use crate::draw::AmountLaw;
use crate::spec::{Machine, Population};
use loadgo_core::random::{RandomStream, StreamPurpose};

/// Largest number of users of open classes at once. More mean that they arrive faster than the machine answers.
const MOST_OPEN_USERS: usize = 1_000_000;

/// The classes and their users. The user of process n has index n.
#[derive(Clone, Debug)]
pub(super) struct OwnUsers {
    machine: Arc<Machine>,
    seed: u64,
    classes: Vec<OwnClass>,
    users: Vec<OwnUser>,
    /// Processes whose users have gone, for users to come.
    free: Vec<ProcessId>,
}

#[derive(Clone, Debug)]
struct OwnClass {
    think: AmountLaw,
    commands: Vec<u32>,
    /// The arrivals of an open class.
    arrivals: Option<Arrivals>,
}

/// The arrivals of an open class.
#[derive(Clone, Debug)]
struct Arrivals {
    mean_gap_ns: f64,
    stream: RandomStream,
    /// Index in the class's list of the next user's command.
    next: u32,
}

/// A user.
#[derive(Clone, Debug)]
struct OwnUser {
    class: u32,
    /// Index in the class's list of the next command, for a user who stays.
    next: u32,
    think: RandomStream,
}

impl OwnUsers {
    /// The users of the machine's file; those of open classes are still to arrive.
    pub fn new(machine: &Arc<Machine>, seed: u64) -> OwnUsers {
        let mut own_users = OwnUsers { machine: machine.clone(), seed, classes: Vec::new(), users: Vec::new(), free: Vec::new() };
        for (number, class) in machine.load.iter().enumerate() {
            let arrivals = match class.population {
                Population::Closed(users) => {
                    (0..users).for_each(|_| own_users.add_user(number));
                    None
                }
                Population::Open(rate) => {
                    let stream = RandomStream::new(seed, number as u32 + 1, StreamPurpose::Start);
                    Some(Arrivals { mean_gap_ns: 1e9 / rate, stream, next: 0 })
                }
            };
            let commands = class.commands.iter().map(|command| *command as u32).collect();
            own_users.classes.push(OwnClass { think: class.think.clone(), commands, arrivals });
        }
        own_users
    }

    fn add_user(&mut self, class: usize) {
        let pid = self.users.len() as ProcessId;
        self.users.push(OwnUser {
            class: class as u32,
            next: 0,
            think: RandomStream::new(self.seed, pid + 1, StreamPurpose::Think),
        });
    }

    /// The processes of all users who are there.
    pub fn pids(&self) -> std::ops::Range<ProcessId> {
        0..self.users.len() as ProcessId
    }

    /// The open classes.
    pub fn open_classes(&self) -> Vec<usize> {
        (0..self.classes.len()).filter(|class| self.classes[*class].arrivals.is_some()).collect()
    }

    /// The class of the user of `pid`.
    #[inline]
    pub fn class(&self, pid: ProcessId) -> usize {
        self.users[pid as usize].class as usize
    }

    /// Draws the think time after an answer to `pid`. None if the user leaves; a later user may then have the process.
    #[inline]
    pub fn think_or_leave(&mut self, pid: ProcessId) -> Option<u64> {
        if self.classes[self.class(pid)].arrivals.is_some() {
            self.free.push(pid);
            return None;
        }
        Some(self.think_ns(pid))
    }

    /// Draws a think time of the user of `pid`.
    #[inline]
    pub fn think_ns(&mut self, pid: ProcessId) -> u64 {
        let user = &mut self.users[pid as usize];
        whole(self.classes[user.class as usize].think.draw(&mut user.think))
    }

    /// The next command of the user of `pid`.
    #[inline]
    pub fn next_command(&mut self, pid: ProcessId) -> u32 {
        let user = &mut self.users[pid as usize];
        take_in_turn(&self.classes[user.class as usize].commands, &mut user.next)
    }

    /// Draws the time until the next arrival of an open class.
    pub fn arrival_gap_ns(&mut self, class: usize) -> u64 {
        let arrivals = self.arrivals(class);
        whole(arrivals.mean_gap_ns * arrivals.stream.quick_exponential())
    }

    /// Lets a user of an open class arrive. Returns the user's process, and whether it is a new process.
    pub fn arrive(&mut self, class: usize) -> (ProcessId, bool) {
        let free = self.free.pop();
        let pid = free.unwrap_or(self.users.len() as ProcessId);
        if free.is_none() {
            self.add_user(class);
        }
        self.users[pid as usize].class = class as u32;
        (pid, free.is_none())
    }

    /// The message for too many users at once, of whom the last is of `class`; `None` if there are not too many.
    pub fn too_many_users(&self, class: usize) -> Option<EngineError> {
        let load = &self.machine.load[class].name;
        (self.users.len() >= MOST_OPEN_USERS).then(|| EngineError::TooManyUsers { load: load.clone(), most: MOST_OPEN_USERS })
    }

    /// The command of the user of an open class who has just arrived.
    pub fn arriving_command(&mut self, class: usize) -> u32 {
        let OwnClass { commands, arrivals, .. } = &mut self.classes[class];
        take_in_turn(commands, &mut arrivals.as_mut().expect("a class that arrives is open").next)
    }

    fn arrivals(&mut self, class: usize) -> &mut Arrivals {
        self.classes[class].arrivals.as_mut().expect("a class that arrives is open")
    }
}

/// The command at the index `next`, which then moves on; after the last command it starts again.
#[inline]
fn take_in_turn(commands: &[u32], next: &mut u32) -> u32 {
    let command = commands[*next as usize];
    *next = if *next as usize + 1 == commands.len() { 0 } else { *next + 1 };
    command
}
