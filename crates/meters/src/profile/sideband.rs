//! What the kernel tells in its perf rings: who was where on a clock, which page had to be fetched, and who had what mapped.
//!
//! One ring a processor holds the samples of the clock *and* the notes on mappings, names, forks and ends, in one order of
//! time; so that an address of a process that lived for a millisecond still finds its segment. The same rings serve those who
//! may not load kernel programs, for a command of their own. What a full ring lost is counted.

use crate::profile::records::{Event, Fields, Kind, event};
use perf_event::events::Software;
use perf_event::{Builder, Clock, SampleFlag, Sampler};
use std::io;

/// What is asked of the rings.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked {
    /// Samples a second and processor.
    pub hz: u32,
    /// Whether samples have the user's stack, not the kernel's alone.
    pub user_stacks: bool,
    /// The size of a processor's ring.
    pub ring_bytes: usize,
    /// Of whom.
    pub whom: Whom,
}

/// Of whom the rings tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Whom {
    /// Of every process.
    All,
    /// Of what this thread forks from now on, from its first program on; without the kernel's part.
    Children,
}

/// The rings of all processors.
pub(crate) struct Rings {
    rings: Vec<(Kind, Sampler)>,
    pending: Vec<Event>,
}

impl Rings {
    /// Opens the rings; the clock runs from now on.
    ///
    /// # Errors
    /// In words with the remedy, when the kernel does not let us.
    pub fn open(processors: &[u32], asked: Asked) -> Result<Rings, String> {
        let mut rings = Vec::new();
        for processor in processors {
            rings.push((Kind::Clock, open_clock(*processor, asked).map_err(|error| refused(&error, asked.whom))?));
            rings
                .push((Kind::Majors, open_faults(*processor, asked, Kind::Majors).map_err(|error| refused(&error, asked.whom))?));
            if asked.whom == Whom::Children {
                rings.push((
                    Kind::Minors,
                    open_faults(*processor, asked, Kind::Minors).map_err(|error| refused(&error, asked.whom))?,
                ));
            }
        }
        Ok(Rings { rings, pending: Vec::new() })
    }

    /// What happened before `until` (CLOCK_MONOTONIC) and was not yet taken, in the order of time.
    pub fn take(&mut self, until: u64) -> Vec<Event> {
        for (kind, ring) in &mut self.rings {
            while let Some(record) = ring.next_record() {
                let fields = Fields { kind: *kind, misc: record.misc(), bytes: &record.to_contiguous() };
                self.pending.extend(event(record.ty(), &fields));
            }
        }
        self.pending.sort_by_key(|event| event.time);
        let later = self.pending.partition_point(|event| event.time < until);
        let rest = self.pending.split_off(later);
        std::mem::replace(&mut self.pending, rest)
    }
}

/// A period that keeps no step with the clock ticks of kernels (100, 250, 300, 1000 a second): 0.3 % longer than asked.
fn period_ns(hz: u32) -> u64 {
    let period = 1_000_000_000 / u64::from(hz.max(1));
    period + period / 331
}

fn open_clock(processor: u32, asked: Asked) -> io::Result<Sampler> {
    let mut builder = builder(Software::CPU_CLOCK, processor, asked);
    builder.sample(SampleFlag::IP).sample(SampleFlag::CALLCHAIN).sample_period(period_ns(asked.hz)).exclude_idle(true);
    builder.exclude_callchain_user(!asked.user_stacks).exclude_callchain_kernel(asked.whom == Whom::Children);
    builder.mmap(true).mmap_data(true).mmap2(true).build_id(true).comm(true).comm_exec(true).task(true);
    builder.build()?.sampled(asked.ring_bytes)
}

fn open_faults(processor: u32, asked: Asked, kind: Kind) -> io::Result<Sampler> {
    let event = if kind == Kind::Majors { Software::PAGE_FAULTS_MAJ } else { Software::PAGE_FAULTS_MIN };
    let mut builder = builder(event, processor, asked);
    builder.sample(SampleFlag::ADDR).sample_period(1);
    let share = if kind == Kind::Majors { 8 } else { 1 };
    builder.build()?.sampled(asked.ring_bytes / share)
}

fn builder(event: Software, processor: u32, asked: Asked) -> Builder<'static> {
    let mut builder = Builder::new(event);
    builder.one_cpu(processor as usize).clockid(Clock::MONOTONIC).sample_id_all(true);
    builder.sample(SampleFlag::TID).sample(SampleFlag::TIME).sample(SampleFlag::CPU);
    builder.exclude_hv(false).exclude_kernel(asked.whom == Whom::Children);
    builder.wakeup_watermark(asked.ring_bytes); // nobody is woken: the rings are read on a clock
    match asked.whom {
        Whom::All => builder.any_pid().enabled(true),
        Whom::Children => builder.observe_self().inherit(true).enable_on_exec(true).enabled(false),
    };
    builder
}

fn refused(error: &io::Error, whom: Whom) -> String {
    let paranoid = std::fs::read_to_string("/proc/sys/kernel/perf_event_paranoid").unwrap_or_default();
    let paranoid = paranoid.trim();
    match (error.kind(), whom) {
        (io::ErrorKind::PermissionDenied, Whom::All) => format!(
            "it takes root, or CAP_PERFMON and CAP_SYSLOG, to profile more than one's own programs \
             (kernel.perf_event_paranoid is {paranoid})"
        ),
        (io::ErrorKind::PermissionDenied, Whom::Children) => {
            format!(
                "kernel.perf_event_paranoid is {paranoid}: sysctl kernel.perf_event_paranoid=2 lets users profile their own programs"
            )
        }
        (io::ErrorKind::NotFound | io::ErrorKind::Unsupported, _) => format!("this kernel has no perf events ({error})"),
        _ => format!("perf_event_open: {error}"),
    }
}

/// The kernel's marks in a chain: what follows is of the kernel, or of the user.
pub(crate) const KERNEL_FOLLOWS: u64 = -128_i64 as u64;
/// See [`KERNEL_FOLLOWS`].
pub(crate) const USER_FOLLOWS: u64 = -512_i64 as u64;
/// Marks are not addresses: they are this or above.
pub(crate) const MARKS: u64 = -4095_i64 as u64;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::records::Told;
    use loadgo_sys::clock::monotonic_ns;
    use std::collections::HashSet;
    use std::io::Write;
    use std::process::Command;

    fn asked(ring_bytes: usize) -> Asked {
        Asked { hz: 1000, user_stacks: true, ring_bytes, whom: Whom::All }
    }

    fn online() -> Vec<u32> {
        aya::util::online_cpus().unwrap()
    }

    /// Rings of the whole host; where it may not be profiled, says why past the capture of a test that passes.
    fn rings(ring_bytes: usize) -> Option<Rings> {
        let rings = Rings::open(&online(), asked(ring_bytes));
        if let Err(why) = &rings {
            writeln!(io::stderr(), "not tried: {why}").expect("said");
        }
        rings.ok()
    }

    #[test]
    fn what_a_full_ring_had_no_room_for_is_counted() {
        let Some(mut rings) = rings(4096) else { return };
        let mut lost = 0;
        for _ in 0..3 {
            for _ in 0..30 {
                Command::new("true").status().unwrap(); // each tells of some twenty mappings
            }
            for event in rings.take(monotonic_ns()) {
                if let Told::Lost { count } = event.what {
                    lost += count;
                }
            }
        }
        assert!(lost > 0);
    }

    #[test]
    fn a_program_that_ended_at_once_has_told_what_it_mapped_in_the_order_of_time() {
        let Some(mut rings) = rings(8 << 20) else { return }; // room for what a busy host does until the child has its turn
        let mut child = Command::new("true").spawn().unwrap();
        child.wait().unwrap();
        let events = rings.take(monotonic_ns());
        assert!(events.is_sorted_by_key(|event| event.time));
        let of_child: Vec<&Told> = events.iter().filter(|event| event.pid == child.id()).map(|event| &event.what).collect();
        let exec = of_child.iter().position(|told| matches!(told, Told::Named { exec: true, .. })).expect("it loaded a program");
        let paths: HashSet<&str> = of_child[exec..]
            .iter()
            .filter_map(|told| if let Told::Mapped(mapped) = told { Some(&*mapped.path) } else { None })
            .collect();
        assert!(paths.iter().any(|path| path.ends_with("/true")), "{paths:?}");
        assert!(paths.contains("[vdso]"), "{paths:?}");
        let told_last = of_child.iter().rfind(|told| !matches!(told, Told::Sampled { .. })); // the kernel is sampled until it is gone
        assert_eq!(told_last, Some(&&Told::Ended));
    }

    #[test]
    fn a_period_is_a_little_longer_than_asked_and_keeps_no_step_with_ticks() {
        assert_eq!(period_ns(1000), 1_003_021);
        assert_ne!(4_000_000 % period_ns(1000), 0);
    }
}
