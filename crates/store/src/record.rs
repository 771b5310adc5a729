//! A recording: the driver's front, a sampler's handle, and the thread that writes behind them.

use std::any::Any;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use loadgo_core::record::{LostRow, MeterRows, ProcessRow, TimeRow};
use loadgo_core::stop::StopRequest;
use loadgo_core::time::Instant;

use crate::error::{Error, Result};
use crate::folder::Folder;
use crate::rows::{DriverRecorder, QueuedRows, WhenFull, WriterThread};
use crate::writer::Writer;

/// Rows reach their file this long after they came, at the most: a killed run loses no more.
const WRITE_PERIOD: Duration = Duration::from_millis(400);

/// A recording under way; dropping it ends the writer's thread.
#[derive(Debug)]
pub struct Recording {
    folder: Folder,
    stop: StopRequest,
    /// `None` once it was waited for.
    thread: Option<JoinHandle<Vec<LostRow>>>,
    writer: WriterThread,
    when_full: WhenFull,
    driven: Arc<Mutex<QueuedRows>>,
    sampled: Arc<Mutex<QueuedRows>>,
    counts: Arc<Counts>,
    tid: u32,
}

/// Counts that the writer's thread keeps while it works.
#[derive(Debug, Default)]
struct Counts {
    written: AtomicU64,
    lost: AtomicU64,
}

impl Recording {
    /// Begins to record into `folder`; the [`DriverRecorder`] is for the driver.
    ///
    /// Errors: the system's refusal of making the streams or the thread, before anything is recorded.
    pub fn start(folder: Folder, when_full: WhenFull) -> Result<(DriverRecorder, Recording)> {
        let dir = folder.dir().to_path_buf();
        let writer = Writer::create(folder.clone())?;
        let (stop, driven, sampled, counts) = (StopRequest::default(), Arc::default(), Arc::default(), Arc::default());
        let over = OverOnDrop(Arc::default());
        let tells_when_over = Arc::clone(&over.0);
        let back = WriterLoop {
            over,
            writer,
            stop: stop.clone(),
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
        let writer = WriterThread { thread: thread.thread().clone(), over: tells_when_over };
        let front = DriverRecorder::new(Arc::clone(&driven), writer.clone(), when_full);
        Ok((front, Recording { folder, stop, thread: Some(thread), writer, when_full, driven, sampled, counts, tid }))
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

    /// True while the writer's thread is at work; false when it has panicked, and nothing is written any more.
    pub fn is_written(&self) -> bool {
        self.writer.lives()
    }

    /// A handle for a thread that samples.
    pub fn row_sender(&self) -> RowSender {
        RowSender { rows: Arc::clone(&self.sampled), writer: self.writer.clone(), when_full: self.when_full }
    }

    /// Ends the recording when the [`DriverRecorder`] has been dropped: all rows are on the disk then, or counted in what comes back.
    pub fn stop(mut self) -> StoppedRecording {
        let (unwritten, panicked) = self.end();
        let interactions = self.counts.written.load(Ordering::Relaxed);
        StoppedRecording { folder: self.folder.clone(), unwritten, interactions, panicked }
    }

    /// Ends the writer's thread; what is not on the disk, and whether the thread has panicked.
    fn end(&mut self) -> (Vec<LostRow>, bool) {
        let Some(thread) = self.thread.take() else { return (Vec::new(), false) };
        self.stop.set();
        match thread.join() {
            Ok(unwritten) => (unwritten, false),
            Err(panic) => (vec![self.left_by_a_panic(&*panic)], true),
        }
    }

    /// The rows that wait for a writer's thread that has panicked, as a loss; at least those that it had in hand.
    fn left_by_a_panic(&self, panic: &(dyn Any + Send)) -> LostRow {
        let waiting = [&self.driven, &self.sampled].map(|rows| locked(rows).count());
        let said = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
        let reason = format!("the writer's thread panicked: {}", said.unwrap_or("it gave no reason"));
        LostRow { at: Instant(0), user: None, what: "record", count: waiting.iter().sum::<u64>().max(1), reason }
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        self.end();
    }
}

/// Sets its flag when it is dropped, however the writer's thread ends.
struct OverOnDrop(Arc<AtomicBool>);

impl Drop for OverOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

/// The rows that wait for the writer; a thread that panicked with them in hand has left them whole.
fn locked(rows: &Mutex<QueuedRows>) -> MutexGuard<'_, QueuedRows> {
    rows.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The result of a recording.
#[derive(Debug)]
pub struct StoppedRecording {
    /// Where its streams are.
    pub folder: Folder,
    /// Losses that the table `lost` could not hold either; they belong into `run.toml`.
    pub unwritten: Vec<LostRow>,
    /// How many interactions are on the disk.
    pub interactions: u64,
    /// Whether the writer's thread has panicked; `unwritten` says why.
    pub panicked: bool,
}

/// Brings a sampler's rows to the writer; it may wait for a moment.
#[derive(Clone, Debug)]
pub struct RowSender {
    rows: Arc<Mutex<QueuedRows>>,
    writer: WriterThread,
    when_full: WhenFull,
}

/// Most sampled rows that wait for the writer; on a live host further ones are lost.
const MOST_QUEUED_SAMPLED_ROWS: u64 = 1 << 17;

impl RowSender {
    /// Records total time.
    pub fn time(&self, rows: &[TimeRow]) {
        self.sample(MeterRows { time: rows.to_vec(), ..MeterRows::default() });
    }

    /// Records who used the processors.
    pub fn processes(&self, rows: &[ProcessRow]) {
        self.sample(MeterRows { processes: rows.to_vec(), ..MeterRows::default() });
    }

    /// Records what the meters tell of a span.
    pub fn sample(&self, mut rows: MeterRows) {
        while self.when_full == WhenFull::Wait && self.writer.lives() && self.waiting() >= MOST_QUEUED_SAMPLED_ROWS {
            self.writer.unpark();
            thread::sleep(Duration::from_micros(200));
        }
        self.with(|waiting| match waiting.sampled.rows().0 < MOST_QUEUED_SAMPLED_ROWS {
            true => waiting.sample(&mut rows),
            false => {
                let (count, at) = rows.rows();
                waiting.drop_rows(count, at);
            }
        });
    }

    fn waiting(&self) -> u64 {
        locked(&self.rows).sampled.rows().0
    }

    /// Records a loss.
    pub fn lost(&self, row: LostRow) {
        self.with(|waiting| waiting.lost.push(row));
    }

    fn with(&self, put: impl FnOnce(&mut QueuedRows)) {
        put(&mut locked(&self.rows));
    }
}

/// The writing thread's side.
struct WriterLoop {
    writer: Writer,
    over: OverOnDrop,
    stop: StopRequest,
    driven: Arc<Mutex<QueuedRows>>,
    sampled: Arc<Mutex<QueuedRows>>,
    counts: Arc<Counts>,
}

impl WriterLoop {
    fn run(mut self) -> Vec<LostRow> {
        let _over = self.over;
        self.stop.unparks_this_thread();
        let mut rows = QueuedRows::default();
        loop {
            let last = self.stop.is_set();
            take(&self.driven, &mut rows);
            self.writer.write(&mut rows);
            take(&self.sampled, &mut rows);
            self.writer.write(&mut rows);
            rows.sampled = MeterRows::default(); // thousands of log-ins fill it once, and never again
            self.counts.written.store(self.writer.interactions(), Ordering::Relaxed);
            self.counts.lost.store(self.writer.lost(), Ordering::Relaxed);
            if last {
                return self.writer.end();
            }
            thread::park_timeout(WRITE_PERIOD);
        }
    }
}

/// Exchanges `rows`, which are empty but keep their memory, for those that wait.
fn take(waiting: &Mutex<QueuedRows>, rows: &mut QueuedRows) {
    std::mem::swap(rows, &mut locked(waiting));
}

/// The calling thread's number, as /proc tells it; 0 where there is no /proc.
fn own_tid() -> u32 {
    let link = std::fs::read_link(Path::new("/proc/thread-self")).unwrap_or_default();
    link.file_name().and_then(|tid| tid.to_str()?.parse().ok()).unwrap_or(0)
}
