//! The machine's own load: users who think and give commands, and users who come, give one command and go.

use super::clockwork::Clockwork;
use super::errand::whole;
use super::process::State;
use crate::disciplines::{Job, ReadyList};
use crate::draw::Draw;
use crate::spec::Population;
use loadgo_core::random::{Purpose, Stream};

/// The most users who came by themselves that are on a machine at once.
const MOST_AT_ONCE: usize = 1_000_000;

/// The classes and their users.
#[derive(Clone, Debug, Default)]
pub(crate) struct OwnLoad {
    classes: Vec<OwnClass>,
    users: Vec<Owner>,
    /// Processes of users that have gone, for those to come.
    free: Vec<Job>,
}

#[derive(Clone, Debug)]
struct OwnClass {
    think: Draw,
    commands: Vec<u32>,
    /// Of a class that comes by itself.
    arrivals: Option<Arrivals>,
}

/// How users come by themselves.
#[derive(Clone, Debug)]
struct Arrivals {
    mean_gap_ns: f64,
    stream: Stream,
    /// Which of the class's commands the next one gives.
    next: u32,
}

/// Whom a process belongs to.
#[derive(Clone, Debug)]
struct Owner {
    class: u32,
    /// Which of the class's commands is next, of a user who stays.
    next: u32,
    think: Stream,
}

impl<L: ReadyList> Clockwork<L> {
    /// Puts the machine's own load on it.
    ///
    /// # Errors
    /// The system table has no room for its users.
    pub fn load(&mut self) -> Result<(), String> {
        let machine = self.machine.clone();
        let mut own = OwnLoad::default();
        let mut arriving = Vec::new();
        for (number, class) in machine.load.iter().enumerate() {
            let mut arrivals = None;
            match class.population {
                Population::Closed(users) => {
                    for _ in 0..users {
                        let job = own.users.len() as Job;
                        own.users.push(Owner::new(self.seed, job, number));
                        self.make_room(job);
                        self.enter_table(job)?;
                    }
                }
                Population::Open(rate) => {
                    let stream = Stream::new(self.seed, number as u32 + 1, Purpose::Start);
                    arrivals = Some(Arrivals { mean_gap_ns: 1e9 / rate, stream, next: 0 });
                    arriving.push(number);
                }
            }
            let commands = class.commands.iter().map(|command| *command as u32).collect();
            own.classes.push(OwnClass { think: class.think.clone(), commands, arrivals });
        }
        let users = own.users.len() as Job;
        self.own = Some(Box::new(own));
        (0..users).for_each(|job| self.thinks_first(job));
        arriving.into_iter().for_each(|class| self.next_arrival(class));
        Ok(())
    }

    fn thinks_first(&mut self, job: Job) {
        self.place(job, State::Thinking);
        let think_ns = self.own.as_mut().expect("a machine with its own load").think_ns(job);
        self.enter_thought(job, think_ns);
    }

    /// The command of `job` is answered: its user thinks, or goes.
    #[inline]
    pub(super) fn thinks(&mut self, job: Job) {
        let own = self.own.as_mut().expect("a machine with its own load");
        let class = own.users[job as usize].class as usize;
        self.finished = Some((class, self.now - self.processes[job as usize].began));
        if own.classes[class].arrivals.is_some() {
            own.free.push(job);
            return self.leave_memory(job);
        }
        let think_ns = own.think_ns(job);
        self.enter_thought(job, think_ns);
    }

    /// The user of `job` has thought, and gives the next command.
    #[inline]
    pub(super) fn thought(&mut self, job: Job) {
        let command = self.own.as_mut().expect("a machine with its own load").next_command(job);
        self.begin(job, command, &[]);
    }

    /// A user of an open class comes, and the next one after a time.
    pub(super) fn arrives(&mut self, class: usize) {
        self.next_arrival(class);
        let seed = self.seed;
        let own = self.own.as_mut().expect("a machine with its own load");
        let free = own.free.pop();
        let job = free.unwrap_or(own.users.len() as Job);
        if free.is_none() {
            own.users.push(Owner::new(seed, job, class));
            if own.users.len() >= MOST_AT_ONCE {
                let name = &self.machine.load[class].name;
                self.trouble = Some(format!(
                    "{MOST_AT_ONCE} users are on the machine at once, the last of load {name:?}: they come faster than it can answer; \
                     lower `arrivals`, or ask for fewer interactions"
                ));
            }
            self.make_room(job);
            self.place(job, State::Thinking);
        }
        self.list.new_process(job);
        let own = self.own.as_mut().expect("a machine with its own load");
        own.users[job as usize].class = class as u32;
        let command = own.arriving_command(class);
        self.begin(job, command, &[]);
    }

    fn next_arrival(&mut self, class: usize) {
        let own = self.own.as_mut().expect("a machine with its own load");
        let arrivals = own.classes[class].arrivals.as_mut().expect("a class that comes by itself");
        let gap_ns = whole(arrivals.mean_gap_ns * arrivals.stream.quick_exponential());
        self.enter_arrival(class, gap_ns);
    }
}

impl OwnLoad {
    #[inline]
    fn think_ns(&mut self, job: Job) -> u64 {
        let owner = &mut self.users[job as usize];
        whole(self.classes[owner.class as usize].think.draw(&mut owner.think))
    }

    #[inline]
    fn next_command(&mut self, job: Job) -> u32 {
        let owner = &mut self.users[job as usize];
        in_turn(&self.classes[owner.class as usize].commands, &mut owner.next)
    }

    fn arriving_command(&mut self, class: usize) -> u32 {
        let OwnClass { commands, arrivals, .. } = &mut self.classes[class];
        in_turn(commands, &mut arrivals.as_mut().expect("a class that comes by itself").next)
    }
}

/// The command whose turn it is; after the last one it is the first one's.
#[inline]
fn in_turn(commands: &[u32], next: &mut u32) -> u32 {
    let command = commands[*next as usize];
    *next = if *next as usize + 1 == commands.len() { 0 } else { *next + 1 };
    command
}

impl Owner {
    fn new(seed: u64, job: Job, class: usize) -> Owner {
        Owner { class: class as u32, next: 0, think: Stream::new(seed, job + 1, Purpose::Think) }
    }
}
