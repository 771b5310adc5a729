//! The sockets of one command and of all that it starts: what they moved, to the byte, and the interrupts that worked for them.
//!
//! The programs (`bpf/transfers/transfers.bpf.c`) follow tasks from the command's fork on. A TCP socket is read when it closes, which
//! is after the command's end where the kernel still empties it: [`SocketMeter::end`] waits for those, within bounds.

use crate::charge::{Charge, charge};
use crate::programs::{DEVICES, Hook, Programs, SOFT};
use crate::sums::{Interrupts, KINDS, MOVED_WORDS, Moved};
use aya::maps::{HashMap, MapData, PerCpuArray};
use aya::programs::tp_btf::BtfTracePointLink;
use loadgo_meters::Meter;
use loadgo_meters::Unavailable;
use loadgo_meters::available::{Available, How, TYPES, possible, tracepoints};
use loadgo_meters::refused::words;
use std::collections::HashSet;
use std::fs;
use std::thread;
use std::time::{Duration, Instant};

/// What follows a command's tasks and sockets, and what is not known without it.
const MOVING: [(Hook, &str); 4] = [
    (("inet_sock_set_state", "on_state"), BYTES),
    (("tcp_destroy_sock", "on_destroy"), BYTES),
    (("sock_send_length", "on_send"), CALLS),
    (("sock_recv_length", "on_receive"), CALLS),
];
/// Forks come last: before all else is there, nobody is followed.
const FORKS: (Hook, &str) = (("sched_process_fork", "on_command_fork"), BYTES);
const BYTES: &str = "the bytes of its sockets";
const CALLS: &str = "messages, datagrams, Unix sockets and connections that it accepts";
const INTERRUPTS: &str = "the interrupts that worked for it";

/// Words of `struct connection`, each of four bytes, and where it says that it is over and that nobody holds it.
const CONNECTION_WORDS: usize = 12;
const COUNTED: usize = 10;
const ORPHAN: usize = 11;

/// How long sockets that nobody holds may take to send what was given to them, and how often that is looked at.
const TO_EMPTY: Duration = Duration::from_secs(5);
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// The number of the command's account, as the kernel's programs have it.
const COMMAND: u32 = 1;

/// The programs at work; dropping it unloads them.
pub(crate) struct SocketMeter {
    programs: Programs,
    _links: Vec<BtfTracePointLink>,
    missing: Vec<String>,
    interrupts: bool,
    before: Interrupts,
    charge: Charge,
}

/// What was counted of a command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// By kind, in the order of [`KINDS`].
    pub moved: [Moved; KINDS.len()],
    /// `None`: the kernel has no programs' place for that.
    pub interrupts: Option<Interrupts>,
    /// Connections that somebody still holds: counted as far as they were.
    pub held: u64,
    /// Connections that nobody held and that were not empty in time: counted as far as they were.
    pub unsent: u64,
    /// Tasks and connections that found no room, each once: bytes and interrupts are at least what is told.
    pub lost: u64,
    /// Whether interrupts that came upon the command are in its own processor time.
    pub charge: Charge,
}

impl SocketMeter {
    /// Loads the programs, which takes about a tenth of a second.
    ///
    /// # Errors
    /// [`Unavailable`] when not even bytes can be counted.
    pub fn begin() -> Result<SocketMeter, Unavailable> {
        SocketMeter::with_room(&[])
    }

    /// With room for so many in the maps that are named.
    fn with_room(room: &[(&'static str, u32)]) -> Result<SocketMeter, Unavailable> {
        let mut programs = Programs::open(room)?;
        let (mut missing, mut links) = (Vec::new(), Vec::new());
        for (hook, what) in hooks() {
            match programs.load(hook).and_then(|()| programs.attach(hook)) {
                Ok(link) => links.push(link),
                Err(why) if what == BYTES => {
                    return Err(Unavailable(format!("the kernel does not take {} at {}: {why}", hook.1, hook.0).into()));
                }
                Err(why) => missing.push(format!("{what}: not known in full: nothing runs at {}: {why}", hook.0)),
            }
        }
        let interrupts = !missing.iter().any(|why| why.starts_with(INTERRUPTS));
        for program in ["on_command", "on_look", "on_enter"] {
            programs.prepare(program).map_err(|why| Unavailable(why.into()))?;
        }
        let charge = if interrupts { charge(&mut programs) } else { Charge::ToTheInterrupted };
        if let Charge::Unclear(why) = &charge {
            missing.push(why.clone());
        }
        Ok(SocketMeter { programs, _links: links, missing, interrupts, before: Interrupts::default(), charge })
    }

    /// What is not known, and why.
    pub fn missing(&self) -> &[String] {
        &self.missing
    }

    /// The next process that this one forks is the command.
    ///
    /// # Errors
    /// In words, when the kernel no longer answers.
    pub(crate) fn follow_next(&mut self) -> Result<(), String> {
        self.before = self.programs.interrupts(COMMAND)?;
        self.programs.run("on_command", [0; 2])
    }

    /// What was counted, when the command has ended: waits for sockets that the kernel still empties, up to five seconds.
    ///
    /// # Errors
    /// In words, when the kernel no longer answers.
    pub fn end(&mut self) -> Result<Counted, String> {
        let until = Instant::now() + TO_EMPTY;
        let (mut held, mut orphans) = self.open()?;
        while !orphans.is_empty() && Instant::now() < until {
            thread::sleep(LOOK_EVERY);
            (held, orphans) = self.open()?;
        }
        for socket in held.iter().chain(&orphans) {
            self.programs.run("on_look", [*socket, 1])?;
        }
        Ok(Counted {
            moved: self.moved()?,
            interrupts: if self.interrupts { Some(self.programs.interrupts(COMMAND)? - self.before) } else { None },
            held: held.len() as u64,
            unsent: orphans.len() as u64,
            lost: self.programs.lost()?,
            charge: self.charge.clone(),
        })
    }

    /// The connections that are not over: held by somebody, and by nobody.
    fn open(&mut self) -> Result<(Vec<u64>, Vec<u64>), String> {
        for socket in self.connections(|connection| connection[COUNTED] == 0)? {
            self.programs.run("on_look", [socket, 0])?;
        }
        let held = self.connections(|connection| connection[COUNTED] == 0 && connection[ORPHAN] == 0)?;
        Ok((held, self.connections(|connection| connection[COUNTED] == 0 && connection[ORPHAN] != 0)?))
    }

    fn connections(&self, wanted: impl Fn(&[u32; CONNECTION_WORDS]) -> bool) -> Result<Vec<u64>, String> {
        let map: HashMap<&MapData, u64, [u32; CONNECTION_WORDS]> = self.programs.map("connections")?;
        let mut sockets = Vec::new();
        for entry in map.iter() {
            let (socket, connection) = entry.map_err(|error| words(&error))?;
            if wanted(&connection) {
                sockets.push(socket);
            }
        }
        Ok(sockets)
    }

    fn moved(&self) -> Result<[Moved; KINDS.len()], String> {
        let map: PerCpuArray<&MapData, [u64; MOVED_WORDS]> = self.programs.map("moved")?;
        let mut moved = [Moved::default(); KINDS.len()];
        for (number, sum) in moved.iter_mut().enumerate() {
            let processors = map.get(&(number as u32), 0).map_err(|error| words(&error))?;
            processors.iter().for_each(|counts| *sum += Moved::of(*counts));
        }
        Ok(moved)
    }
}

/// Whether a command's sockets can be followed on this host, without loading anything.
pub fn here() -> Available {
    let how = possible().map_or_else(How::NotHere, |()| how(&tracepoints(&fs::read(TYPES).unwrap_or_default())));
    Available { meter: Meter::SocketsOfCommand, how }
}

fn how(tracepoints: &HashSet<String>) -> How {
    let absent = hooks().find(|((tracepoint, _), _)| !tracepoints.contains(*tracepoint));
    match absent {
        None => How::Exact,
        Some(((tracepoint, _), BYTES)) => How::NotHere(format!("this kernel has no tracepoint {tracepoint}")),
        Some(((tracepoint, _), what)) => How::Estimated(format!("without {what}: this kernel has no tracepoint {tracepoint}")),
    }
}

/// Which program runs where, in this order, and what is not known without it.
fn hooks() -> impl Iterator<Item = (Hook, &'static str)> {
    let interrupts = SOFT.into_iter().chain(DEVICES).map(|hook| (hook, INTERRUPTS));
    MOVING.into_iter().chain(interrupts).chain([FORKS])
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{self, Write};
    use std::net::TcpListener;

    #[test]
    fn a_kernel_without_the_calls_tracepoints_has_the_bytes_of_what_connects() {
        let all: HashSet<String> = hooks().map(|((tracepoint, _), _)| tracepoint.to_owned()).collect();
        let without = |name: &str| how(&all.iter().filter(|known| *known != name).cloned().collect());
        assert_eq!(how(&all), How::Exact);
        assert!(matches!(without("sock_send_length"), How::Estimated(why) if why.contains("messages")));
        assert!(matches!(without("inet_sock_set_state"), How::NotHere(why) if why.contains("inet_sock_set_state")));
    }

    /// A command of a shell: so many connections to `port`, each used so often.
    fn connects(port: u16, connections: usize, uses: usize) -> std::process::Command {
        let words = format!(
            "for i in $(seq {connections}); do exec {{fd}}<>/dev/tcp/127.0.0.1/{port}; \
             for j in $(seq {uses}); do echo $j >&$fd; done; done"
        );
        let mut command = std::process::Command::new("bash");
        command.args(["-c", &words]);
        command
    }

    #[test]
    fn connections_without_room_are_counted_each_once_however_often_they_are_used() {
        let mut meter = match SocketMeter::with_room(&[("connections", 2)]) {
            Ok(meter) => meter,
            Err(why) => {
                let _ = writeln!(io::stderr(), "not tried: connections without room: {why}");
                return;
            }
        };
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("its address").port();
        meter.follow_next().expect("the kernel answers");
        let ended = connects(port, 7, 20).status().expect("bash runs");
        assert!(ended.success());
        drop(listener); // with all that nobody has accepted
        let counted = meter.end().expect("the kernel answers");
        assert_eq!(counted.lost, 5);
        assert_eq!(counted.moved[1].sockets, 2);
    }
}
