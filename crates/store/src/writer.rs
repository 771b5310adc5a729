//! Writes rows to the streams of a run folder, and counts the rows that could not be written.

use std::io;
use std::sync::Arc;

use arrow_array::RecordBatch;
use loadgo_core::record::{LostRow, MeterRows};
use loadgo_core::time::Instant;

use crate::rows::{PackedInteraction, QueuedRows, WAKE_WRITER_ROWS};
use crate::stream::Stream;
use crate::table::batch;
use crate::{Folder, Result, Table};

/// Largest number of rows of a batch, so that neither writing nor reading one takes much memory.
const BATCH_ROWS: usize = WAKE_WRITER_ROWS;

/// The open streams of a run.
pub struct Writer {
    streams: Vec<(Table, Stream)>,
    commands: Vec<Arc<str>>,
    unwritten: Vec<LostRow>,
    written: u64,
    lost: u64,
}

impl Writer {
    /// Begins a stream for each table in `folder`.
    pub fn create(folder: Folder) -> Result<Writer> {
        let streams = Table::ALL.into_iter().map(|table| Ok((table, Stream::create(&folder, table)?)));
        let streams = streams.collect::<Result<Vec<_>>>().inspect_err(|_| remove_streams(&folder))?;
        Ok(Writer { streams, commands: Vec::new(), unwritten: Vec::new(), written: 0, lost: 0 })
    }

    /// Number of interactions written.
    pub fn interactions(&self) -> u64 {
        self.written
    }

    /// Number of rows that could not be written.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// Appends all `rows` to the streams and empties `rows`. Rows that the disk refuses are counted in a row of `lost`.
    pub fn write(&mut self, rows: &mut QueuedRows) {
        self.commands.append(&mut rows.commands);
        for chunk in rows.interactions.chunks(BATCH_ROWS) {
            self.write_interactions(chunk);
        }
        rows.interactions.clear();
        self.write_rows(Table::Sessions, &mut rows.sessions, batch::sessions, |row| row.ended);
        self.write_rows(Table::Screens, &mut rows.screens, batch::screens, |row| row.at);
        self.write_sampled(&mut rows.sampled);
        self.write_rows(Table::Phases, &mut rows.phases, batch::phases, |row| row.1);
        if let Some((count, at)) = rows.dropped.take() {
            self.lose(count, at, "the disk was slower than the records: put the run on a faster one".into());
        }
        self.write_lost(&mut rows.lost);
    }

    fn write_sampled(&mut self, rows: &mut MeterRows) {
        self.write_rows(Table::Time, &mut rows.time, batch::time, |row| row.at);
        self.write_rows(Table::Processes, &mut rows.processes, batch::processes, |row| row.at);
        self.write_rows(Table::Faults, &mut rows.faults, batch::faults, |row| row.at);
        self.write_rows(Table::Segments, &mut rows.segments, batch::segments, |row| row.at);
        self.write_rows(Table::Primitives, &mut rows.primitives, batch::primitives, |row| row.at);
        self.write_rows(Table::Queue, &mut rows.queue, batch::queue, |row| row.at);
        self.write_rows(Table::Stacks, &mut rows.stacks, batch::stacks, |row| row.at);
        self.write_rows(Table::Memory, &mut rows.memory, batch::memory, |row| row.at);
        self.write_rows(Table::SessionUsage, &mut rows.session_usage, batch::session_usage, |row| row.at);
        self.write_rows(Table::UserLimits, &mut rows.user_limits, batch::user_limits, |row| row.at);
        self.write_rows(Table::MeterPrice, &mut rows.meter_price, batch::meter_price, |row| row.at);
        self.write_rows(Table::MeterWindows, &mut rows.meter_windows, batch::meter_windows, |row| row.at);
        self.write_rows(Table::LockWaits, &mut rows.lock_waits, batch::lock_waits, |row| row.at);
        self.write_rows(Table::WindowEvents, &mut rows.window_events, batch::window_events, |row| row.at);
        self.write_rows(Table::WorkingSets, &mut rows.working_sets, batch::working_sets, |row| row.at);
        self.write_rows(Table::ProcessorSpeed, &mut rows.processor_speed, batch::processor_speed, |row| row.at);
    }

    fn write_interactions(&mut self, interactions: &[PackedInteraction]) {
        let batch = batch::interactions(interactions, &self.commands);
        match self.append(Table::Interactions, &batch) {
            Ok(()) => self.written += interactions.len() as u64,
            Err(error) => self.count_lost(Table::Interactions, interactions.len(), Instant(interactions[0].sent_ns), &error),
        }
    }

    /// Appends `rows`, of which each has a time `at`, and leaves `rows` empty.
    fn write_rows<R>(&mut self, table: Table, rows: &mut Vec<R>, batch: fn(&[R]) -> RecordBatch, at: fn(&R) -> Instant) {
        for chunk in rows.chunks(BATCH_ROWS) {
            if let Err(error) = self.append(table, &batch(chunk)) {
                self.count_lost(table, chunk.len(), at(&chunk[0]), &error);
            }
        }
        rows.clear();
    }

    /// Writes the losses `rows`, with earlier ones that could not be written. If the disk refuses again, keeps them all.
    fn write_lost(&mut self, rows: &mut Vec<LostRow>) {
        self.unwritten.append(rows);
        if !self.unwritten.is_empty() {
            let batch = batch::lost(&self.unwritten);
            if self.append(Table::Lost, &batch).is_ok() {
                self.unwritten.clear();
            }
        }
    }

    fn append(&mut self, table: Table, batch: &RecordBatch) -> io::Result<()> {
        let (_, stream) = self.streams.iter_mut().find(|(of, _)| *of == table).expect("every table has a stream");
        stream.append(batch)
    }

    /// Counts `count` rows of `table` as lost, because of `error`.
    fn count_lost(&mut self, table: Table, count: usize, at: Instant, error: &io::Error) {
        self.lose(count as u64, at, format!("{} could not be written: {error}", table.name()));
    }

    /// Counts `count` rows as lost. Losses for one reason become one row of `lost`, so a disk that stays full takes no memory.
    fn lose(&mut self, count: u64, at: Instant, reason: String) {
        self.lost += count;
        match self.unwritten.iter_mut().find(|known| known.what == "record" && known.reason == reason) {
            Some(known) => known.count += count,
            None => self.unwritten.push(LostRow { at, user: None, what: "record", count, reason }),
        }
    }

    /// Ends all streams. Returns the losses that could not be written to `lost`.
    pub fn end(mut self) -> Vec<LostRow> {
        self.write_lost(&mut Vec::new());
        for (_, stream) in &mut self.streams {
            // A missing end mark is no loss: readers take the complete batches.
            let _ = stream.end();
        }
        self.unwritten
    }
}

/// Removes the streams of a run that cannot begin. This may free the room that `run.toml` needs to say why.
fn remove_streams(folder: &Folder) {
    for table in Table::ALL {
        let _ = std::fs::remove_file(folder.stream(table));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::full::FullDisk;
    use loadgo_core::record::{Phase, TimeRow};
    use std::sync::atomic::Ordering;

    #[test]
    fn a_full_disk_costs_one_loss_for_each_table_however_long_it_is_full() {
        let (dir, disk) = (tempfile::tempdir().unwrap(), FullDisk::default());
        let folder = Folder::create_on(Arc::new(disk.clone()), dir.path().join("run"), "format = 1\n").unwrap();
        let mut writer = Writer::create(folder).unwrap();
        disk.is_full.store(true, Ordering::Relaxed);
        let rounds = 100;
        for at in (0..rounds).map(Instant) {
            let mut rows = QueuedRows { dropped: Some((2, at)), ..QueuedRows::default() };
            rows.phases.push((Phase::Steady, at));
            rows.sampled.time.push(TimeRow { at, span_ns: 1, processor: None, category: "idle", time_ns: 1 });
            writer.write(&mut rows);
        }
        let unwritten: Vec<_> = writer.end().iter().map(|row| (row.what, row.at, row.count)).collect();
        assert_eq!(unwritten, [rounds, rounds, 2 * rounds].map(|count| ("record", Instant(0), count)));
    }
}
