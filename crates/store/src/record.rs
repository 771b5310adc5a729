//! A recording: the driver's front, a sampler's handle, and the thread that writes behind them.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread::{self, JoinHandle, Thread};
use std::time::Duration;

use loadgo_core::record::{Lost, ProcessRow, Sample, TimeRow};

use crate::error::{Error, Result};
use crate::folder::Folder;
use crate::rows::{Front, Rows, WhenFull};
use crate::writer::Writer;

/// Rows reach their file this long after they came, at the most: a killed run loses no more.
const PERIOD: Duration = Duration::from_millis(400);

/// A recording under way.
#[derive(Debug)]
pub struct Recording {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<(Folder, Vec<Lost>)>,
    when_full: WhenFull,
    sampled: Arc<Mutex<Rows>>,
    counts: Arc<Counts>,
    tid: u32,
}

/// What the writing thread tells while it works.
#[derive(Debug, Default)]
struct Counts {
    written: AtomicU64,
    lost: AtomicU64,
}

impl Recording {
    /// Begins to record into `folder`; the [`Front`] is for the driver.
    ///
    /// Errors: the system's refusal of making the streams or the thread, before anything is recorded.
    pub fn start(folder: Folder, when_full: WhenFull) -> Result<(Front, Recording)> {
        let dir = folder.dir().to_path_buf();
        let writer = Writer::create(folder)?;
        let (stop, driven, sampled, counts) = (Arc::default(), Arc::default(), Arc::default(), Arc::default());
        let back = Back {
            writer,
            stop: Arc::clone(&stop),
            driven: Arc::clone(&driven),
            sampled: Arc::clone(&sampled),
            counts: Arc::clone(&counts),
        };
        let (tell, told) = mpsc::channel();
        let begin = move || {
            let _ = tell.send(own_tid());
            back.run()
        };
        let thread = thread::Builder::new().name("loadgo-writer".into()).spawn(begin);
        let thread = thread.map_err(Error::refused("start the thread that writes", &dir))?;
        let tid = told.recv().expect("the writer's thread tells its number first");
        let front = Front::new(driven, thread.thread().clone(), when_full);
        Ok((front, Recording { stop, thread, when_full, sampled, counts, tid }))
    }

    /// The writing thread's number, by which the kernel accounts for it.
    pub fn tid(&self) -> u32 {
        self.tid
    }

    /// How many interactions are written so far.
    pub fn interactions(&self) -> u64 {
        self.counts.written.load(Ordering::Relaxed)
    }

    /// How many rows are lost so far, because the disk was full or too slow.
    pub fn lost(&self) -> u64 {
        self.counts.lost.load(Ordering::Relaxed)
    }

    /// A handle for a thread that samples.
    pub fn sampler(&self) -> Sampler {
        Sampler { rows: Arc::clone(&self.sampled), writer: self.thread.thread().clone(), when_full: self.when_full }
    }

    /// Ends the recording when the [`Front`] has been dropped: all rows are on the disk then, or counted in what comes back.
    pub fn stop(self) -> Stopped {
        self.stop.store(true, Ordering::Release);
        self.thread.thread().unpark();
        let (folder, unwritten) = self.thread.join().expect("the writer's thread does not panic");
        Stopped { folder, unwritten, interactions: self.counts.written.load(Ordering::Relaxed) }
    }
}

/// What a recording leaves.
#[derive(Debug)]
pub struct Stopped {
    /// Where its streams are.
    pub folder: Folder,
    /// What not even `lost` could hold, to be told in `run.toml`.
    pub unwritten: Vec<Lost>,
    /// How many interactions are on the disk.
    pub interactions: u64,
}

/// Brings a sampler's rows to the writer; it may wait for a moment.
#[derive(Clone, Debug)]
pub struct Sampler {
    rows: Arc<Mutex<Rows>>,
    writer: Thread,
    when_full: WhenFull,
}

/// So many sampled rows may wait for the writer.
const SAMPLES: u64 = 1 << 17;

impl Sampler {
    /// Records total time.
    pub fn time(&self, rows: &[TimeRow]) {
        self.sample(Sample { time: rows.to_vec(), ..Sample::default() });
    }

    /// Records who used the processors.
    pub fn processes(&self, rows: &[ProcessRow]) {
        self.sample(Sample { processes: rows.to_vec(), ..Sample::default() });
    }

    /// Records what the meters tell of a span.
    pub fn sample(&self, mut rows: Sample) {
        while self.when_full == WhenFull::Wait && self.waiting() >= SAMPLES {
            self.writer.unpark();
            thread::sleep(Duration::from_micros(200));
        }
        self.with(|waiting| match waiting.sampled.rows().0 < SAMPLES {
            true => waiting.sample(&mut rows),
            false => {
                let (count, at) = rows.rows();
                waiting.drop_rows(count, at);
            }
        });
    }

    fn waiting(&self) -> u64 {
        self.rows.lock().expect("nobody panics with these rows in hand").sampled.rows().0
    }

    /// Records a loss.
    pub fn lost(&self, row: Lost) {
        self.with(|waiting| waiting.lost.push(row));
    }

    fn with(&self, put: impl FnOnce(&mut Rows)) {
        put(&mut self.rows.lock().expect("nobody panics with these rows in hand"));
    }
}

/// The writing thread's side.
struct Back {
    writer: Writer,
    stop: Arc<AtomicBool>,
    driven: Arc<Mutex<Rows>>,
    sampled: Arc<Mutex<Rows>>,
    counts: Arc<Counts>,
}

impl Back {
    fn run(mut self) -> (Folder, Vec<Lost>) {
        let mut rows = Rows::default();
        loop {
            let last = self.stop.load(Ordering::Acquire);
            take(&self.driven, &mut rows);
            self.writer.write(&mut rows);
            take(&self.sampled, &mut rows);
            self.writer.write(&mut rows);
            rows.sampled = Sample::default(); // thousands of log-ins fill it once, and never again
            self.counts.written.store(self.writer.interactions(), Ordering::Relaxed);
            self.counts.lost.store(self.writer.lost(), Ordering::Relaxed);
            if last {
                return self.writer.end();
            }
            thread::park_timeout(PERIOD);
        }
    }
}

/// Exchanges `rows`, which are empty but keep their memory, for those that wait.
fn take(waiting: &Mutex<Rows>, rows: &mut Rows) {
    std::mem::swap(rows, &mut waiting.lock().expect("nobody panics with these rows in hand"));
}

/// The calling thread's number, as /proc tells it; 0 where there is no /proc.
fn own_tid() -> u32 {
    let link = std::fs::read_link(Path::new("/proc/thread-self")).unwrap_or_default();
    link.file_name().and_then(|tid| tid.to_str()?.parse().ok()).unwrap_or(0)
}
