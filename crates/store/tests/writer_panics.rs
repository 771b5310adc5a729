//! A writer's thread that panics: no thread waits for it, and the rows that it did not write are reported as lost.

mod timeouts;

use loadgo_core::record::{MeterRows, Recorder as _, TimeRow};
use loadgo_core::time::Instant;
use loadgo_store::{Disk, DiskFile, Folder, Recording, WhenFull};
use std::fs::{File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::Arc;
use timeouts::interaction;

/// More rows than may wait for the writer.
const ROWS: u64 = 300_000;

/// A disk whose files accept one write and panic at the next.
#[derive(Debug)]
struct Panicking;

struct PanickingFile {
    file: File,
    writes: u32,
}

impl Disk for Panicking {
    fn create(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        Ok(Box::new(PanickingFile { file: File::create(path)?, writes: 0 }))
    }

    fn open_or_create(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        self.create(path)
    }

    fn create_new(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        Ok(Box::new(PanickingFile { file: OpenOptions::new().write(true).create_new(true).open(path)?, writes: 0 }))
    }
}

impl Write for PanickingFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writes += 1;
        assert_eq!(self.writes, 1, "the test makes the second write panic");
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Seek for PanickingFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

impl DiskFile for PanickingFile {
    fn cut(&mut self, length: u64) -> io::Result<()> {
        self.file.set_len(length)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.file.sync_all()
    }
}

#[test]
fn nobody_waits_for_a_writer_that_has_panicked_and_its_unwritten_rows_are_reported() {
    let dir = tempfile::tempdir().unwrap();
    let folder = Folder::create_on(Arc::new(Panicking), dir.path().join("run"), "format = 1\n").unwrap();
    let (mut recorder, recording) = Recording::start(folder, WhenFull::Wait).unwrap();
    let row_sender = recording.row_sender();
    for number in 0..ROWS {
        recorder.interaction(&interaction(number));
    }
    let row = TimeRow { at: Instant(1), span_ns: 1, processor: None, category: "idle", time_ns: 1 };
    row_sender.sample(MeterRows { time: vec![row.clone(); 200_000], ..MeterRows::default() });
    row_sender.sample(MeterRows { time: vec![row], ..MeterRows::default() });
    assert!(!recording.is_written());
    drop(recorder);
    let stopped = recording.stop();
    assert!(stopped.panicked && stopped.interactions == 0);
    assert_eq!(stopped.unwritten.len(), 1);
    assert!(stopped.unwritten[0].reason.contains("the test makes the second write panic"), "{:?}", stopped.unwritten);
    assert!(stopped.unwritten[0].count > 200_000, "rows that waited: {:?}", stopped.unwritten);
}
