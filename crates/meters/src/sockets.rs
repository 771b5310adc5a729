//! The sockets of one command and of all that it starts: what they moved, to the byte, and the interrupts that worked for them.
//!
//! The programs (`bpf/transfers.bpf.c`) follow tasks from the command's fork on. A TCP socket is read when it closes, which
//! is after the command's end where the kernel still empties it: [`SocketMeter::end`] waits for those, within bounds.

use crate::Unavailable;
use crate::available::{Available, How, TYPES, possible, tracepoints};
use crate::load::{program_words, words};
use crate::socket_sums::{Interrupts, KINDS, MOVED_WORDS, Moved, NETWORK_WORDS};
use aya::maps::{Array, HashMap, Map, MapData, MapError, PerCpuArray};
use aya::programs::{BtfTracePoint, RawTracePoint, RawTracePointRunOptions, TestRun};
use aya::{Btf, Ebpf, EbpfLoader};
use std::collections::HashSet;
use std::fs;
use std::thread;
use std::time::{Duration, Instant};

static OBJECT: &[u8] = aya::include_bytes_aligned!(concat!(env!("OUT_DIR"), "/transfers.bpf.o"));

/// Which program runs where, and what is not known without it. Forks come last: before all else is there, nobody is followed.
const HOOKS: [(&str, &str, &str); 12] = [
    ("inet_sock_set_state", "on_state", BYTES),
    ("tcp_destroy_sock", "on_destroy", BYTES),
    ("sock_send_length", "on_send", CALLS),
    ("sock_recv_length", "on_receive", CALLS),
    ("softirq_exit", "after_network", INTERRUPTS),
    ("softirq_entry", "on_network", INTERRUPTS),
    ("netif_receive_skb", "on_packet", INTERRUPTS),
    ("net_dev_queue", "on_packet_sent", INTERRUPTS),
    ("irq_handler_exit", "after_network_device", INTERRUPTS),
    ("irq_handler_entry", "on_network_device", INTERRUPTS),
    ("softirq_raise", "on_network_called", INTERRUPTS),
    ("sched_process_fork", "on_command_fork", BYTES),
];
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

/// The programs at work; dropping it unloads them.
pub struct SocketMeter {
    object: Ebpf,
    missing: Vec<String>,
    interrupts: bool,
    before: Interrupts,
    charges_the_interrupted: bool,
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
    /// Tasks and connections that found no room: bytes are at least what is told.
    pub lost: u64,
    /// The kernel charges interrupts to whoever was interrupted: they are in the command's own processor time.
    pub charges_the_interrupted: bool,
}

impl SocketMeter {
    /// Loads the programs, which takes about a tenth of a second.
    ///
    /// # Errors
    /// [`Unavailable`] when not even bytes can be counted.
    pub fn begin() -> Result<SocketMeter, Unavailable> {
        possible().map_err(Unavailable)?;
        let btf = Btf::from_sys_fs().map_err(|error| Unavailable(format!("the kernel's types (BTF): {error}")))?;
        let mut object = EbpfLoader::new()
            .btf(Some(&btf))
            .allow_unsupported_maps()
            .load(OBJECT)
            .map_err(|error| Unavailable(words(&error)))?;
        let mut missing = Vec::new();
        for (tracepoint, program, what) in HOOKS {
            let Err(why) = put(&mut object, tracepoint, program, &btf) else { continue };
            if what == BYTES {
                return Err(Unavailable(format!("the kernel does not take {program} at {tracepoint}: {why}")));
            }
            missing.push(format!("{what}: not known in full: nothing runs at {tracepoint}: {why}"));
        }
        let interrupts = !missing.iter().any(|why| why.starts_with(INTERRUPTS));
        for program in ["on_command", "on_look"] {
            prepare(&mut object, program).map_err(Unavailable)?;
        }
        let charges_the_interrupted = !accounts_interrupts(&fs::read(TYPES).unwrap_or_default());
        Ok(SocketMeter { object, missing, interrupts, before: Interrupts::default(), charges_the_interrupted })
    }

    /// What is not known, and why.
    pub fn missing(&self) -> &[String] {
        &self.missing
    }

    /// The next process that this one forks is the command.
    ///
    /// # Errors
    /// In words, when the kernel no longer answers.
    pub fn follow_next(&mut self) -> Result<(), String> {
        self.before = self.interrupts()?;
        self.run("on_command", [0; 2])
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
            self.run("on_look", [*socket, 1])?;
        }
        Ok(Counted {
            moved: self.moved()?,
            interrupts: if self.interrupts { Some(self.interrupts()? - self.before) } else { None },
            held: held.len() as u64,
            unsent: orphans.len() as u64,
            lost: self.lost()?,
            charges_the_interrupted: self.charges_the_interrupted,
        })
    }

    /// The connections that are not over: held by somebody, and by nobody.
    fn open(&mut self) -> Result<(Vec<u64>, Vec<u64>), String> {
        for socket in self.connections(|connection| connection[COUNTED] == 0)? {
            self.run("on_look", [socket, 0])?;
        }
        let held = self.connections(|connection| connection[COUNTED] == 0 && connection[ORPHAN] == 0)?;
        Ok((held, self.connections(|connection| connection[COUNTED] == 0 && connection[ORPHAN] != 0)?))
    }

    fn connections(&self, wanted: impl Fn(&[u32; CONNECTION_WORDS]) -> bool) -> Result<Vec<u64>, String> {
        let map: HashMap<&MapData, u64, [u32; CONNECTION_WORDS]> = self.map("connections")?;
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
        let map: PerCpuArray<&MapData, [u64; MOVED_WORDS]> = self.map("moved")?;
        let mut moved = [Moved::default(); KINDS.len()];
        for (number, sum) in moved.iter_mut().enumerate() {
            let processors = map.get(&(number as u32), 0).map_err(|error| words(&error))?;
            processors.iter().for_each(|counts| *sum += Moved::of(*counts));
        }
        Ok(moved)
    }

    fn interrupts(&self) -> Result<Interrupts, String> {
        let map: PerCpuArray<&MapData, [u64; NETWORK_WORDS]> = self.map("networks")?;
        let mut sum = Interrupts::default();
        map.get(&0, 0).map_err(|error| words(&error))?.iter().for_each(|network| sum += Interrupts::of(network));
        Ok(sum)
    }

    fn lost(&self) -> Result<u64, String> {
        let map: Array<&MapData, u64> = self.map("losses")?;
        map.iter().map(|lost| lost.map_err(|error| words(&error))).sum()
    }

    fn map<'a, T: TryFrom<&'a Map, Error = MapError>>(&'a self, name: &str) -> Result<T, String> {
        let map = self.object.map(name).ok_or_else(|| format!("{name} is not there"))?;
        T::try_from(map).map_err(|error| format!("{name}: {error}"))
    }

    /// Runs a program of the reader's own once.
    fn run(&mut self, program: &str, arguments: [u64; 2]) -> Result<(), String> {
        let program = self.object.program_mut(program).ok_or("it is not in the object")?;
        let program: &mut RawTracePoint = program.try_into().map_err(|error| program_words(&error))?;
        let mut options = RawTracePointRunOptions::new();
        options.args[..2].copy_from_slice(&arguments);
        program.test_run(options).map(|_| ()).map_err(|error| program_words(&error))
    }
}

/// Whether a command's sockets can be followed on this host, without loading anything.
pub fn here() -> Available {
    let how = possible().map_or_else(How::NotHere, |()| how(&tracepoints(&fs::read(TYPES).unwrap_or_default())));
    Available { meter: "a command's sockets", how }
}

fn how(tracepoints: &HashSet<String>) -> How {
    let absent = HOOKS.iter().find(|(tracepoint, ..)| !tracepoints.contains(*tracepoint));
    match absent {
        None => How::Exact,
        Some((tracepoint, _, BYTES)) => How::NotHere(format!("this kernel has no tracepoint {tracepoint}")),
        Some((tracepoint, _, what)) => How::Estimated(format!("without {what}: this kernel has no tracepoint {tracepoint}")),
    }
}

/// Whether this kernel keeps interrupts apart (CONFIG_IRQ_TIME_ACCOUNTING): its types then name the function that does.
fn accounts_interrupts(types: &[u8]) -> bool {
    let name = b"\0irqtime_account_irq\0";
    types.windows(name.len()).any(|window| window == name)
}

fn put(object: &mut Ebpf, tracepoint: &str, program: &str, btf: &Btf) -> Result<(), String> {
    let program = object.program_mut(program).ok_or("it is not in the object")?;
    let program: &mut BtfTracePoint = program.try_into().map_err(|error| program_words(&error))?;
    program.load(tracepoint, btf).map_err(|error| program_words(&error))?;
    program.attach().map(|_| ()).map_err(|error| program_words(&error))
}

fn prepare(object: &mut Ebpf, program: &str) -> Result<(), String> {
    let found = object.program_mut(program).ok_or("it is not in the object")?;
    let found: &mut RawTracePoint = found.try_into().map_err(|error| program_words(&error))?;
    found.load().map_err(|error| format!("{program}: {}", program_words(&error)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_without_the_calls_tracepoints_has_the_bytes_of_what_connects() {
        let all: HashSet<String> = HOOKS.iter().map(|(tracepoint, ..)| (*tracepoint).to_owned()).collect();
        let without = |name: &str| how(&all.iter().filter(|known| *known != name).cloned().collect());
        assert_eq!(how(&all), How::Exact);
        assert!(matches!(without("sock_send_length"), How::Estimated(why) if why.contains("messages")));
        assert!(matches!(without("inet_sock_set_state"), How::NotHere(why) if why.contains("inet_sock_set_state")));
    }

    #[test]
    fn a_kernel_that_keeps_interrupts_apart_is_known_by_its_function() {
        assert!(accounts_interrupts(b"int\0irqtime_account_irq\0char\0"));
        assert!(!accounts_interrupts(b"int\0irqtime_account_irqs\0char\0"));
    }
}
