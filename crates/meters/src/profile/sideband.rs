//! Reads the kernel's perf rings: clock samples, page faults, and notes about mappings and processes.
//!
//! One ring for each processor holds the clock samples *and* the notes on mappings, names, forks and ends, in the order of time.
//! So the segment of an address is known even for a process that lived for a millisecond. Users who may not load kernel programs
//! use the same rings for a command of their own. Records that a full ring loses are counted.

use crate::clock::period_ns;
use crate::profile::records::{KernelNote, RecordFields, SampleKind, SidebandEvent, parse_event};
use crate::refusal::MeterRefusal;
use perf_event::events::Software;
use perf_event::{Builder, Clock, SampleFlag, Sampler};
use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// Options of the rings.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RingRequest {
    /// Samples per second on each processor.
    pub hz: u32,
    /// Size of a processor's ring.
    pub ring_bytes: usize,
    /// The processes of the rings.
    pub scope: RingScope,
}

/// The processes whose events the rings hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RingScope {
    /// All processes.
    All,
    /// Processes that this thread forks from now on, from the first program that they load; without the kernel's part.
    Children,
}

/// The rings of all processors.
pub(crate) struct Rings {
    rings: Vec<(SampleKind, Sampler)>,
    pending: Vec<SidebandEvent>,
    /// Number of mappings that were recorded so far.
    mappings: Arc<AtomicU64>,
}

impl Rings {
    /// Opens the rings, and starts the clock.
    ///
    /// # Errors
    /// The kernel's refusal, with the remedy.
    pub fn open(processors: &[u32], request: RingRequest) -> Result<Rings, MeterRefusal> {
        let kinds: &[SampleKind] = match request.scope {
            RingScope::All => &[SampleKind::Clock, SampleKind::Majors],
            RingScope::Children => &[SampleKind::Clock, SampleKind::Majors, SampleKind::Minors],
        };
        let mut rings = Vec::new();
        for processor in processors {
            for kind in kinds {
                let ring = open_ring(*processor, request, *kind).map_err(|error| perf_refusal(error, request.scope))?;
                rings.push((*kind, ring));
            }
        }
        Ok(Rings { rings, pending: Vec::new(), mappings: Arc::default() })
    }

    /// The number of mappings that were recorded so far, for another thread.
    pub fn mappings(&self) -> Arc<AtomicU64> {
        self.mappings.clone()
    }

    /// Lets a kernel program run at each clock sample from now on, and drops the samples before.
    #[cfg(test)]
    pub(crate) fn run_at_samples(&mut self, program: std::os::fd::RawFd) -> io::Result<()> {
        self.rings.retain(|(kind, _)| *kind == SampleKind::Clock);
        self.stop()?;
        self.take(u64::MAX);
        for (_, ring) in &mut self.rings {
            ring.set_bpf(program)?;
            ring.enable()?;
        }
        Ok(())
    }

    /// Stops the clock.
    #[cfg(test)]
    pub(crate) fn stop(&mut self) -> io::Result<()> {
        self.rings.iter_mut().try_for_each(|(_, ring)| ring.disable())
    }

    /// Removes and returns the events before `until` (CLOCK_MONOTONIC), in the order of time.
    pub fn take(&mut self, until: u64) -> Vec<SidebandEvent> {
        for (kind, ring) in &mut self.rings {
            while let Some(record) = ring.next_record() {
                let fields = RecordFields { kind: *kind, misc: record.misc(), bytes: &record.to_contiguous() };
                let event = parse_event(record.ty(), &fields);
                if event.as_ref().is_some_and(|event| matches!(event.note, KernelNote::Mapped(_))) {
                    self.mappings.fetch_add(1, Relaxed);
                }
                self.pending.extend(event);
            }
        }
        self.pending.sort_by_key(|event| event.time);
        let later = self.pending.partition_point(|event| event.time < until);
        let later_events = self.pending.split_off(later);
        std::mem::replace(&mut self.pending, later_events)
    }
}

fn open_ring(processor: u32, request: RingRequest, kind: SampleKind) -> io::Result<Sampler> {
    match kind {
        SampleKind::Clock => open_clock(processor, request),
        SampleKind::Majors => open_faults(Software::PAGE_FAULTS_MAJ, processor, request, request.ring_bytes / 8),
        SampleKind::Minors => open_faults(Software::PAGE_FAULTS_MIN, processor, request, request.ring_bytes),
    }
}

fn open_clock(processor: u32, request: RingRequest) -> io::Result<Sampler> {
    let mut builder = builder(Software::CPU_CLOCK, processor, request);
    builder.sample(SampleFlag::IP).sample(SampleFlag::CALLCHAIN).sample_period(period_ns(request.hz)).exclude_idle(true);
    builder.exclude_callchain_kernel(request.scope == RingScope::Children);
    builder.mmap(true).mmap_data(true).mmap2(true).build_id(true).comm(true).comm_exec(true).task(true);
    builder.build()?.sampled(request.ring_bytes)
}

fn open_faults(event: Software, processor: u32, request: RingRequest, ring_bytes: usize) -> io::Result<Sampler> {
    let mut builder = builder(event, processor, request);
    builder.sample(SampleFlag::ADDR).sample_period(1);
    builder.build()?.sampled(ring_bytes)
}

fn builder(event: Software, processor: u32, request: RingRequest) -> Builder<'static> {
    let mut builder = Builder::new(event);
    builder.one_cpu(processor as usize).clockid(Clock::MONOTONIC).sample_id_all(true);
    builder.sample(SampleFlag::TID).sample(SampleFlag::TIME).sample(SampleFlag::CPU);
    builder.exclude_hv(false).exclude_kernel(request.scope == RingScope::Children);
    builder.wakeup_watermark(request.ring_bytes); // no wake-ups: the rings are read periodically
    match request.scope {
        RingScope::All => builder.any_pid().enabled(true),
        RingScope::Children => builder.observe_self().inherit(true).enable_on_exec(true).enabled(false),
    };
    builder
}

fn perf_refusal(error: io::Error, scope: RingScope) -> MeterRefusal {
    let paranoid = std::fs::read_to_string("/proc/sys/kernel/perf_event_paranoid").unwrap_or_default();
    let paranoid = format!("kernel.perf_event_paranoid is {}", paranoid.trim());
    match (error.kind(), scope) {
        (io::ErrorKind::PermissionDenied, RingScope::All) => {
            format!("it takes root, or CAP_PERFMON and CAP_SYSLOG, to profile more than one's own programs ({paranoid})").into()
        }
        (io::ErrorKind::PermissionDenied, RingScope::Children) => {
            MeterRefusal::new(paranoid).with_remedy("sysctl kernel.perf_event_paranoid=2 lets users profile their own programs")
        }
        (io::ErrorKind::NotFound | io::ErrorKind::Unsupported, _) => format!("this kernel has no perf events ({error})").into(),
        _ => ("perf_event_open", error).into(),
    }
}

/// The mark in a chain before addresses of the kernel (PERF_CONTEXT_KERNEL).
pub(crate) const KERNEL_FOLLOWS: u64 = -128_i64 as u64;
/// The mark in a chain before addresses of the user (PERF_CONTEXT_USER).
pub(crate) const USER_FOLLOWS: u64 = -512_i64 as u64;
// The lowest mark in a chain, in linux/perf_event.h; greater words are no addresses.
pub(crate) const PERF_CONTEXT_MAX: u64 = -4095_i64 as u64;

#[cfg(test)]
mod tests {
    use super::*;
    use loadgo_sys::clock::monotonic_ns;
    use std::collections::HashSet;
    use std::io::Write;
    use std::process::Command;

    fn request(ring_bytes: usize) -> RingRequest {
        RingRequest { hz: 1000, ring_bytes, scope: RingScope::All }
    }

    fn online() -> Vec<u32> {
        aya::util::online_cpus().unwrap()
    }

    /// Rings of the whole host. Where it may not be profiled, prints why; the test harness does not capture that.
    fn rings(ring_bytes: usize) -> Option<Rings> {
        let rings = Rings::open(&online(), request(ring_bytes));
        if let Err(refusal) = &rings {
            writeln!(io::stderr(), "not tried: {refusal}").expect("standard error is open");
        }
        rings.ok()
    }

    #[test]
    fn records_that_a_full_ring_loses_are_counted() {
        let Some(mut rings) = rings(4096) else { return };
        let mut lost = 0;
        for _ in 0..3 {
            for _ in 0..30 {
                Command::new("true").status().unwrap(); // each has some twenty mappings
            }
            for event in rings.take(monotonic_ns()) {
                if let KernelNote::Lost { count } = event.note {
                    lost += count;
                }
            }
        }
        assert!(lost > 0);
    }

    #[test]
    fn the_mappings_of_a_program_that_ended_at_once_are_known_in_the_order_of_time() {
        let Some(mut rings) = rings(8 << 20) else { return }; // room for all events of a busy host until the child gets a processor
        let mut child = Command::new("true").spawn().unwrap();
        child.wait().unwrap();
        let events = rings.take(monotonic_ns());
        assert!(events.is_sorted_by_key(|event| event.time));
        let of_child: Vec<&KernelNote> = events.iter().filter(|event| event.pid == child.id()).map(|event| &event.note).collect();
        let exec =
            of_child.iter().position(|note| matches!(note, KernelNote::Named { exec: true, .. })).expect("it loaded a program");
        let paths: HashSet<&str> = of_child[exec..]
            .iter()
            .filter_map(|note| if let KernelNote::Mapped(mapped) = note { Some(&*mapped.path) } else { None })
            .collect();
        assert!(paths.iter().any(|path| path.ends_with("/true")), "{paths:?}");
        assert!(paths.contains("[vdso]"), "{paths:?}");
        let last_note = of_child.iter().rfind(|note| !matches!(note, KernelNote::Sampled { .. })); // the kernel's work for it is sampled until it is gone
        assert_eq!(last_note, Some(&&KernelNote::Ended));
    }
}
