//! A recording: the recorder that the driver calls, the sender that a sampler calls, and the thread that writes their rows.

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

/// Longest time from the arrival of a row to its writing. A run that is killed loses no more than this.
const WRITE_PERIOD: Duration = Duration::from_millis(400);

/// A recording under way; dropping it ends the writer's thread.
#[derive(Debug)]
pub struct Recording {
    folder: Folder,
    stop: StopRequest,
    /// `None` after it has been joined.
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
        let is_over = Arc::clone(&over.0);
        let back = WriterLoop {
            over,
            writer,
            stop: stop.clone(),
            driven: Arc::clone(&driven),
            sampled: Arc::clone(&sampled),
            counts: Arc::clone(&counts),
        };
        let (tid_sender, tid_receiver) = mpsc::channel();
        let begin = move || {
            let _ = tid_sender.send(own_tid());
            back.run()
        };
        let thread = thread::Builder::new().name("loadgo-writer".into()).spawn(begin);
        let thread = thread.map_err(Error::refused("start the thread that writes", &dir))?;
        let tid = tid_receiver.recv().expect("the writer's thread sends its id first");
        let writer = WriterThread { thread: thread.thread().clone(), over: is_over };
        let recorder = DriverRecorder::new(Arc::clone(&driven), writer.clone(), when_full);
        Ok((recorder, Recording { folder, stop, thread: Some(thread), writer, when_full, driven, sampled, counts, tid }))
    }

    /// The kernel's id of the writer's thread.
    pub fn tid(&self) -> u32 {
        self.tid
    }

    /// Number of interactions written so far.
    pub fn interactions(&self) -> u64 {
        self.counts.written.load(Ordering::Relaxed)
    }

    /// Number of rows lost so far, because the disk was full or too slow.
    pub fn lost(&self) -> u64 {
        self.counts.lost.load(Ordering::Relaxed)
    }

    /// True while the writer's thread is at work; false when it has panicked, and nothing is written any more.
    pub fn is_written(&self) -> bool {
        self.writer.lives()
    }

    /// A sender of meter rows, for a thread that samples.
    pub fn row_sender(&self) -> RowSender {
        RowSender { rows: Arc::clone(&self.sampled), writer: self.writer.clone(), when_full: self.when_full }
    }

    /// Ends the recording. Rows are then on the disk, or are counted in the result, if the [`DriverRecorder`] was dropped before.
    pub fn stop(mut self) -> StoppedRecording {
        let (unwritten, panicked) = self.end();
        let interactions = self.counts.written.load(Ordering::Relaxed);
        StoppedRecording { folder: self.folder.clone(), unwritten, interactions, panicked }
    }

    /// Ends the writer's thread. Returns the losses that are not on the disk, and whether the thread has panicked.
    fn end(&mut self) -> (Vec<LostRow>, bool) {
        let Some(thread) = self.thread.take() else { return (Vec::new(), false) };
        self.stop.set();
        match thread.join() {
            Ok(unwritten) => (unwritten, false),
            Err(panic) => (vec![self.loss_by_panic(&*panic)], true),
        }
    }

    /// The loss of all rows that wait for a writer's thread that has panicked, and of at least one that it was writing.
    fn loss_by_panic(&self, panic: &(dyn Any + Send)) -> LostRow {
        let waiting = [&self.driven, &self.sampled].map(|rows| locked(rows).count());
        let message = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
        let reason = format!("the writer's thread panicked: {}", message.unwrap_or("it gave no reason"));
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

/// Locks the rows that wait for the writer. They are consistent even if a thread panicked while it held the lock.
fn locked(rows: &Mutex<QueuedRows>) -> MutexGuard<'_, QueuedRows> {
    rows.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A recording that was stopped.
#[derive(Debug)]
pub struct StoppedRecording {
    /// The folder with its streams.
    pub folder: Folder,
    /// Losses that could not be written to the table `lost` either; the caller writes them into `run.toml`.
    pub unwritten: Vec<LostRow>,
    /// Number of interactions on the disk.
    pub interactions: u64,
    /// Whether the writer's thread has panicked; `unwritten` says why.
    pub panicked: bool,
}

/// Sends a sampler's rows to the writer. A call may wait for the writer's lock.
#[derive(Clone, Debug)]
pub struct RowSender {
    rows: Arc<Mutex<QueuedRows>>,
    writer: WriterThread,
    when_full: WhenFull,
}

/// Largest number of sampled rows that wait for the writer. On a live host, further rows are lost.
const MOST_QUEUED_SAMPLED_ROWS: u64 = 1 << 17;

impl RowSender {
    /// Records the processors' time.
    pub fn time(&self, rows: &[TimeRow]) {
        self.sample(MeterRows { time: rows.to_vec(), ..MeterRows::default() });
    }

    /// Records the processor time of processes.
    pub fn processes(&self, rows: &[ProcessRow]) {
        self.sample(MeterRows { processes: rows.to_vec(), ..MeterRows::default() });
    }

    /// Records the rows of all meters for one span.
    pub fn sample(&self, mut rows: MeterRows) {
        while self.when_full == WhenFull::Wait && self.writer.lives() && self.waiting() >= MOST_QUEUED_SAMPLED_ROWS {
            self.writer.unpark();
            thread::sleep(Duration::from_micros(200));
        }
        self.with_rows(|waiting| match waiting.sampled.rows().0 < MOST_QUEUED_SAMPLED_ROWS {
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
        self.with_rows(|waiting| waiting.lost.push(row));
    }

    fn with_rows(&self, add: impl FnOnce(&mut QueuedRows)) {
        add(&mut locked(&self.rows));
    }
}

/// The work of the writer's thread.
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
        let (mut driven, mut sampled) = (QueuedRows::default(), QueuedRows::default());
        loop {
            let last = self.stop.is_set();
            take(&self.driven, &mut driven);
            self.writer.write(&mut driven);
            driven.free_spare_memory();
            take(&self.sampled, &mut sampled);
            self.writer.write(&mut sampled);
            sampled.sampled = MeterRows::default(); // frees memory that only the rows of thousands of log-ins needed
            self.counts.written.store(self.writer.interactions(), Ordering::Relaxed);
            self.counts.lost.store(self.writer.lost(), Ordering::Relaxed);
            if last {
                return self.writer.end();
            }
            thread::park_timeout(WRITE_PERIOD);
        }
    }
}

/// Takes the waiting rows into `rows`, and leaves the empty `rows` with its memory in their place.
fn take(waiting: &Mutex<QueuedRows>, rows: &mut QueuedRows) {
    std::mem::swap(rows, &mut locked(waiting));
}

/// The calling thread's id, read from /proc; 0 where there is no /proc.
fn own_tid() -> u32 {
    let link = std::fs::read_link(Path::new("/proc/thread-self")).unwrap_or_default();
    link.file_name().and_then(|tid| tid.to_str()?.parse().ok()).unwrap_or(0)
}
