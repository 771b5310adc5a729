//! The Arrow IPC stream of one table, which grows by complete batches.

use std::io::{self, SeekFrom};

use arrow_array::RecordBatch;
use arrow_ipc::writer::StreamWriter;

use crate::checksum::with_checksums;
use crate::disk::DiskFile;
use crate::{Error, Folder, Result, Table};

/// A stream that is open for appending. A batch that does not fit is cut off again, at the latest before the next one.
pub struct Stream {
    file: Box<dyn DiskFile>,
    /// The end of the last complete batch.
    length: u64,
    /// Whether a part of a batch may stand behind `length`.
    has_fragment: bool,
    encoder: StreamWriter<Vec<u8>>,
    /// A batch without rows, which stands before the end mark.
    last: RecordBatch,
}

impl Stream {
    /// Begins `table`'s stream in `folder` with its schema.
    pub fn create(folder: &Folder, table: Table) -> Result<Stream> {
        let path = folder.stream(table);
        let begin = || {
            let file = folder.disk().create_new(&path)?;
            let encoder = StreamWriter::try_new(Vec::new(), &table.schema()).map_err(io::Error::other)?;
            let last = RecordBatch::new_empty(table.schema());
            let mut stream = Stream { file, length: 0, has_fragment: false, encoder, last };
            stream.put()?;
            Ok(stream)
        };
        begin().map_err(Error::refused("write", &path))
    }

    /// Appends `batch`. After an error the stream is as before, and a later batch can be appended when there is room again.
    pub fn append(&mut self, batch: &RecordBatch) -> io::Result<()> {
        self.encoder.write(batch).map_err(io::Error::other)?;
        self.put()
    }

    /// Ends the stream with a batch without rows and the end mark, which zeros of a torn write cannot be together.
    pub fn end(&mut self) -> io::Result<()> {
        self.encoder.write(&self.last).map_err(io::Error::other)?;
        self.encoder.finish().map_err(io::Error::other)?;
        self.put()
    }

    /// Writes the encoded bytes to the file, and forgets them: the stream has all of them, or none.
    fn put(&mut self) -> io::Result<()> {
        let written = self.cut_off_fragment().and_then(|()| self.write_encoded());
        self.encoder.get_mut().clear();
        written
    }

    fn write_encoded(&mut self) -> io::Result<()> {
        let bytes = with_checksums(self.encoder.get_mut());
        let written = self.file.write_all(&bytes);
        if written.is_ok() {
            self.length += bytes.len() as u64;
        } else {
            self.has_fragment = true;
            let _ = self.cut_off_fragment(); // if the disk refuses, the next batch tries again
        }
        written
    }

    /// Cuts the file to the end of its last complete batch.
    fn cut_off_fragment(&mut self) -> io::Result<()> {
        if self.has_fragment {
            self.file.cut(self.length)?;
            self.file.seek(SeekFrom::Start(self.length))?;
            self.has_fragment = false;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::full::FullDisk;
    use crate::table::batch::phases;
    use crate::{Follower, whole_part};
    use loadgo_core::record::Phase;
    use loadgo_core::time::Instant;
    use std::sync::Arc;
    use std::sync::atomic::Ordering;

    #[test]
    fn a_stream_whose_cut_was_refused_is_whole_again_when_there_is_room() {
        let (dir, disk) = (tempfile::tempdir().unwrap(), FullDisk::default());
        let folder = Folder::create_on(Arc::new(disk.clone()), dir.path().join("run"), "format = 1\n").unwrap();
        let mut stream = Stream::create(&folder, Table::Phases).unwrap();
        let phase = |at| phases(&[(Phase::Steady, Instant(at))]);
        stream.append(&phase(1)).unwrap();
        disk.is_full.store(true, Ordering::Relaxed);
        for at in 2..5 {
            stream.append(&phase(at)).expect_err("the disk is full");
        }
        disk.is_full.store(false, Ordering::Relaxed);
        stream.append(&phase(5)).unwrap();
        stream.end().unwrap();
        let path = folder.stream(Table::Phases);
        assert_eq!(whole_part(&path).unwrap().rows, 2, "the first batch and the last, each once");
        let mut follower = Follower::open(&path).unwrap();
        let batches: Vec<_> = std::iter::from_fn(|| follower.next_batch().unwrap()).collect();
        assert_eq!(batches, [phase(1), phase(5)]);
        assert!(follower.ended());
    }

    #[test]
    fn a_bit_that_changes_is_seen_and_the_batches_before_it_are_read() {
        let dir = tempfile::tempdir().unwrap();
        let folder = Folder::create(dir.path().join("run"), "format = 1\n").unwrap();
        let mut stream = Stream::create(&folder, Table::Phases).unwrap();
        let written = [1, 2, 3].map(|at| phases(&[(Phase::Steady, Instant(at)), (Phase::RampDown, Instant(at + 1))]));
        written.iter().for_each(|batch| stream.append(batch).unwrap());
        stream.end().unwrap();
        let path = folder.stream(Table::Phases);
        let bytes = std::fs::read(&path).unwrap();
        assert_eq!(whole_part(&path).unwrap().rest, None);
        for bit in (0..8 * bytes.len()).step_by(3) {
            let mut changed = bytes.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            std::fs::write(&path, &changed).unwrap();
            let mut follower = Follower::open(&path).unwrap();
            let before: Vec<_> = std::iter::from_fn(|| follower.next_batch().ok().flatten()).collect();
            assert!(written.starts_with(&before), "bit {bit}");
            assert!(whole_part(&path).unwrap().rest.is_some(), "bit {bit}");
        }
    }

    #[test]
    fn zeros_are_no_end_mark() {
        let dir = tempfile::tempdir().unwrap();
        let folder = Folder::create(dir.path().join("run"), "format = 1\n").unwrap();
        let mut stream = Stream::create(&folder, Table::Phases).unwrap();
        [1, 2].iter().for_each(|at| stream.append(&phases(&[(Phase::Steady, Instant(*at))])).unwrap());
        let path = folder.stream(Table::Phases);
        let first = { whole_part(&path).unwrap().bytes as usize };
        stream.append(&phases(&[(Phase::RampDown, Instant(3))])).unwrap();
        let mut bytes = std::fs::read(&path).unwrap();
        bytes[first + 4..].fill(0); // a torn write: the head's first four bytes and zeros look like the end
        std::fs::write(&path, &bytes).unwrap();
        let whole = whole_part(&path).unwrap();
        assert_eq!(whole.rows, 2);
        assert!(whole.rest.unwrap().contains("no end"), "the third batch is lost, and not in silence");
    }
}
