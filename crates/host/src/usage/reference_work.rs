//! The reference work: a small piece of always the same work, whose processor time says how fast the processors are.
//!
//! A processor of a virtual machine does the same work now in more time and now in less: other guests use the same caches.
//! A thread does a piece at a random moment of each interval, on each processor in turn. Its intervals are as long as it takes
//! to stay near [`MOST_SHARE`]. The moments are a stratified sample of the run, so that no periodic load is always met or always missed.

use loadgo_core::random::{RandomStream, StreamPurpose};
use loadgo_core::record::ProcessorSpeedRow;
use loadgo_core::time::Instant;
use loadgo_sys::clock::{monotonic_ns, thread_cpu_ns};
use loadgo_sys::fresh_memory::FreshMemory;
use loadgo_sys::scheduling::{allowed_processors, bind, thread_id};
use std::hint::black_box;
use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Share of the processors' time that the pieces take by themselves, at most but for one long piece.
pub const MOST_SHARE: f64 = 0.001;
/// The shortest interval, each with one piece: more pieces would say little more.
const SHORTEST_INTERVAL: Duration = Duration::from_millis(250);
/// Steps of the part that computes: 0.9 ms on a processor of 2020.
const COMPUTED_STEPS: u32 = 400_000;
/// Words of the table that the computing part reads: it fits into the smallest caches of first level.
const TABLE_WORDS: usize = 1 << 10;
/// Steps of the part that works in memory: with the pages' faults, 0.1 ms. A larger part says less of commands, since new memory
/// has a time that varies several times as much as theirs.
const MEMORY_STEPS: u32 = 2_000;
/// Words of the memory that it takes anew: 32 pages of 4 KiB.
const MEMORY_WORDS: usize = 1 << 15;

/// The thread that does the reference work. Dropping it ends the thread.
#[derive(Debug)]
pub struct ReferenceWork {
    pieces: Receiver<Piece>,
    /// Dropping it ends the thread.
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
    id: i32,
}

/// A piece that was done.
#[derive(Clone, Copy, Debug)]
struct Piece {
    began_ns: u64,
    ended_ns: u64,
    processor: usize,
    cpu_ns: u64,
}

impl ReferenceWork {
    /// Starts the thread.
    ///
    /// # Errors
    /// No thread can be started.
    pub fn start() -> io::Result<ReferenceWork> {
        let (sender, pieces) = channel();
        let (stop, stopped) = channel();
        let (id_sender, id_receiver) = sync_channel(1);
        let run = move || {
            let _ = id_sender.send(thread_id());
            do_pieces(&sender, &stopped);
        };
        let thread = thread::Builder::new().name("loadgo-speed".into()).spawn(run)?;
        let id = id_receiver.recv().map_err(|_| io::Error::other("the thread of the reference work did not begin"))?;
        Ok(ReferenceWork { pieces, stop: Some(stop), thread: Some(thread), id })
    }

    /// The id of the thread, whose time is loadgo's own.
    pub fn thread_id(&self) -> i32 {
        self.id
    }

    /// The rows of the pieces since the last call. The run began at `origin_ns` of the monotonic clock.
    pub fn rows(&self, origin_ns: u64) -> Vec<ProcessorSpeedRow> {
        let is_of_run = |piece: &Piece| piece.began_ns >= origin_ns;
        self.pieces.try_iter().filter(is_of_run).map(|piece| piece.row(origin_ns)).collect()
    }
}

impl Drop for ReferenceWork {
    fn drop(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Piece {
    fn row(self, origin_ns: u64) -> ProcessorSpeedRow {
        ProcessorSpeedRow {
            at: Instant(self.ended_ns - origin_ns),
            span_ns: self.ended_ns - self.began_ns,
            processor: self.processor as u16,
            cpu_ns: self.cpu_ns,
        }
    }
}

/// Does pieces until the other end of `stopped` is dropped, or nobody takes them any more.
fn do_pieces(pieces: &Sender<Piece>, stopped: &Receiver<()>) {
    let processors = allowed_processors();
    let mut random = RandomStream::new(monotonic_ns(), 0, StreamPurpose::Choice);
    let mut interval = SHORTEST_INTERVAL;
    let mut rest = Duration::ZERO; // of the interval that has the piece before
    for processor in processors.iter().copied().cycle() {
        let offset = interval.mul_f64(random.unit());
        if stopped.recv_timeout(rest + offset) != Err(RecvTimeoutError::Timeout) {
            return;
        }
        rest = interval - offset;
        if bind(processor).is_err() {
            continue; // it was taken out of service
        }
        let Ok(piece) = piece_on(processor) else { continue }; // there is no memory for it
        interval = interval_for(piece.cpu_ns, processors.len());
        if pieces.send(piece).is_err() {
            return;
        }
    }
}

/// The interval in which a piece of `piece_ns` takes [`MOST_SHARE`] of so many processors, or the shortest.
fn interval_for(piece_ns: u64, processors: usize) -> Duration {
    let needed_ns = piece_ns as f64 / (MOST_SHARE * processors as f64);
    Duration::from_nanos(needed_ns as u64).max(SHORTEST_INTERVAL)
}

/// Does a piece on `processor`, to which the thread is bound.
fn piece_on(processor: usize) -> io::Result<Piece> {
    let table: [u32; TABLE_WORDS] = std::array::from_fn(|word| follower(word as u32));
    let (began_ns, began_cpu_ns) = (monotonic_ns(), thread_cpu_ns());
    let computed = black_box(compute(black_box(&table)));
    let mut memory = FreshMemory::map(MEMORY_WORDS)?;
    black_box(write(memory.words(), computed));
    drop(memory);
    let cpu_ns = thread_cpu_ns() - began_cpu_ns;
    Ok(Piece { began_ns, ended_ns: monotonic_ns(), processor, cpu_ns })
}

/// The number after `number` in a fixed sequence without a visible order.
fn follower(number: u32) -> u32 {
    number.wrapping_mul(1_664_525).wrapping_add(1_013_904_223)
}

/// Works as an interpreter does: table reads, arithmetic, and branches that depend on what was read.
#[inline(never)]
fn compute(table: &[u32; TABLE_WORDS]) -> u32 {
    let (mut state, mut sum, mut turns) = (1_u32, 0_u32, 0_u32);
    for step in 0..COMPUTED_STEPS {
        let word = table[state as usize % TABLE_WORDS];
        sum = sum.rotate_left(5) ^ word.wrapping_mul(step | 1);
        if word & 3 == 0 {
            turns = turns.wrapping_add(sum >> 3);
        } else {
            turns ^= word;
        }
        state = state.wrapping_mul(1_664_525).wrapping_add(word | 1);
    }
    sum ^ turns
}

/// Changes words at random places of memory, whose pages the kernel gives at the first touch of each.
#[inline(never)]
fn write(words: &mut [u32], computed: u32) -> u32 {
    let mut number = computed;
    for _ in 0..MEMORY_STEPS {
        number = follower(number);
        let word = &mut words[(number >> 12) as usize % MEMORY_WORDS];
        *word = word.wrapping_add(number);
        number ^= *word & 1;
    }
    number
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_keep_the_price_on_any_number_of_processors() {
        for processors in [1, 2, 8, 512] {
            for piece_ns in [100_000, 1_000_000, 20_000_000] {
                let interval_ns = interval_for(piece_ns, processors).as_nanos() as f64;
                let share = piece_ns as f64 / interval_ns / processors as f64;
                assert!(share <= MOST_SHARE * 1.001, "{share} for {piece_ns} ns on {processors}");
            }
        }
    }

    #[test]
    fn each_processor_has_pieces_that_follow_each_other() {
        let origin_ns = monotonic_ns();
        let work = ReferenceWork::start().expect("a thread can be started");
        let processors = allowed_processors();
        let mut rows = Vec::new();
        while rows.len() < processors.len().min(4) {
            rows.extend(work.rows(origin_ns));
            thread::sleep(Duration::from_millis(10));
        }
        for (row, processor) in rows.iter().zip(&processors) {
            assert_eq!(usize::from(row.processor), *processor);
            assert!(row.cpu_ns > 0, "{row:?}");
        }
        assert!(rows.is_sorted_by(|before, after| before.at.0 + after.span_ns <= after.at.0), "{rows:?}");
        assert_ne!(work.thread_id(), thread_id());
    }

    #[test]
    fn pieces_from_before_the_run_are_no_rows() {
        let work = ReferenceWork::start().expect("a thread can be started");
        let (sender, pieces) = channel();
        let piece = Piece { began_ns: 50, ended_ns: 60, processor: 1, cpu_ns: 4 };
        let later = Piece { began_ns: 150, ended_ns: 170, ..piece };
        for piece in [piece, later] {
            sender.send(piece).expect("it is received");
        }
        let work = ReferenceWork { pieces, id: work.id, stop: None, thread: None };
        let row = ProcessorSpeedRow { at: Instant(70), span_ns: 20, processor: 1, cpu_ns: 4 };
        assert_eq!(work.rows(100), [row]);
    }
}
