//! The thread that samples the processors once a second, apart from the driver's.

use loadgo_core::time::Instant;
use loadgo_host::kernel::{monotonic_ns, thread_id};
use loadgo_host::sampler::{OurThreads, Sampler};
use loadgo_store::Recording;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

const PERIOD: Duration = Duration::from_secs(1);

/// Sampling under way.
pub(crate) struct Sampling {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// Begins to sample; where the host refuses, the table stays empty and says so in `lost`.
pub(crate) fn start(groups: crate::Shared, driver: i32, recording: &Recording, origin_ns: u64) -> Sampling {
    let stop = Arc::new(AtomicBool::new(false));
    let (sink, told, writer) = (recording.sampler(), Arc::clone(&stop), recording.tid() as i32);
    let sample = move || {
        let now = || Instant(monotonic_ns() - origin_ns);
        let threads = OurThreads { driver: vec![driver], meters: vec![writer, thread_id()] };
        let Ok(mut sampler) = Sampler::begin(groups, threads, now()) else { return };
        loop {
            thread::park_timeout(PERIOD);
            let last = told.load(Ordering::Acquire);
            let (mut time, mut processes) = (Vec::new(), Vec::new());
            if sampler.sample_into(now(), &mut time, &mut processes).is_ok() {
                sink.time(&time);
                sink.processes(&processes);
            }
            if last {
                return;
            }
        }
    };
    let thread = thread::Builder::new().name("loadgo-sampler".into()).spawn(sample).ok();
    Sampling { stop, thread }
}

impl Sampling {
    /// Ends the sampling with the span in hand.
    pub(crate) fn stop(self) {
        self.stop.store(true, Ordering::Release);
        if let Some(thread) = self.thread {
            thread.thread().unpark();
            let _ = thread.join();
        }
    }
}
