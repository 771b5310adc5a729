//! The end of a span of the meters: after a period, or where a phase of the run begins.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, Thread};
use std::time::Duration;

/// A request to end the present span before its time.
#[derive(Debug, Default)]
pub(crate) struct SpanEnd {
    is_asked: AtomicBool,
    sampler: OnceLock<Thread>,
}

impl SpanEnd {
    /// Ends the span of the thread that waits here, at once or after the sample that it takes.
    pub(crate) fn ask(&self) {
        self.is_asked.store(true, Ordering::Release);
        self.sampler.get().inspect(|sampler| sampler.unpark());
    }

    /// Waits for the end of a span: `period`, or a request. Only one thread may wait.
    pub(crate) fn wait(&self, period: Duration) {
        self.sampler.get_or_init(thread::current);
        if !self.is_asked.swap(false, Ordering::AcqRel) {
            thread::park_timeout(period);
            self.is_asked.store(false, Ordering::Release);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;
    use std::time::Instant;

    const REQUESTS: u32 = 10;
    const PERIOD: Duration = Duration::from_secs(1);

    #[test]
    fn a_request_that_comes_while_the_thread_samples_ends_its_next_span_at_once() {
        let span_end = SpanEnd::default();
        let (begun, begins) = channel();
        let (asked, asks) = channel();
        let (span_end, asked) = (&span_end, &asked);
        let waited = thread::scope(|scope| {
            let sampler = scope.spawn(move || {
                let mut waited = Duration::ZERO;
                for _ in 0..REQUESTS {
                    begun.send(()).expect("the test listens");
                    asks.recv().expect("the test asks"); // as a sample, it may take the wake-up
                    let before = Instant::now();
                    span_end.wait(PERIOD);
                    waited += before.elapsed();
                }
                waited
            });
            for () in begins.iter().take(REQUESTS as usize) {
                span_end.ask();
                asked.send(()).expect("the thread samples");
            }
            sampler.join().expect("the thread ends")
        });
        assert!(waited < PERIOD * REQUESTS, "{waited:?} for {REQUESTS} spans of {PERIOD:?}");
    }
}
