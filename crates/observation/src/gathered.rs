//! The lines of an observation, gathered from records, in memory that is bounded.

use crate::records::{EventKind, Record, Use};
use std::collections::HashMap;

/// Most lines that are kept: 0.1 GB. Further ones are counted as lost.
pub const MOST_LINES: usize = 500_000;

/// A line that somebody typed. Times are those of CLOCK_MONOTONIC in nanoseconds; 0 is not known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObservedLine {
    /// The session: a number within this observation.
    pub session: u32,
    /// The number of the shell's account.
    pub user: u32,
    /// When the shell first waited at its prompt.
    pub prompt_ns: u64,
    /// When the first key came.
    pub first_key_ns: u64,
    /// When the last key before the first process came: the end of the line.
    pub typed_ns: u64,
    /// When the shell waited at its prompt again.
    pub ended_ns: u64,
    /// The name of the first program; empty if none ran.
    pub name: Vec<u8>,
    /// Whether somebody typed to a shell that the line began. That shell's lines are a session of their own.
    pub has_shell_within: bool,
    /// Whether the kernel counts bytes of storage.
    pub has_storage_counts: bool,
    /// Use of its processes.
    pub used: Use,
}

/// All lines so far, and what could not be kept.
#[derive(Debug, Default)]
pub struct Gathered {
    lines: Vec<ObservedLine>,
    /// The places of lines, by their session and number, for processes that end late.
    places: HashMap<(u32, u64), u32>,
    /// Numbers of sessions, by their shell, with the time when each became known.
    sessions: HashMap<u32, (u64, u32)>,
    session_count: u32,
    /// Lines for which there was no room.
    pub lines_lost: u64,
    /// Lines that had not ended when their session did.
    pub unfinished: u64,
    /// Processes whose line is not known any more.
    pub strays: u64,
    /// Records that could not be read.
    pub unreadable: u64,
}

impl Gathered {
    /// The lines in the order of their ends.
    pub fn lines(&self) -> &[ObservedLine] {
        &self.lines
    }

    /// Number of sessions.
    pub fn sessions(&self) -> u32 {
        self.session_count
    }

    /// Number of sessions that have not ended.
    pub fn open_sessions(&self) -> usize {
        self.sessions.len()
    }

    /// Adds a record of the kernel programs.
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        let Some(record) = Record::from_bytes(bytes) else {
            self.unreadable += 1;
            return;
        };
        match record.kind {
            EventKind::SessionBegan => _ = self.session_of(&record),
            EventKind::LineEnded => self.add_line(record),
            EventKind::SessionEnded => {
                self.unfinished += u64::from(record.line != 0);
                self.session_of(&record);
                self.sessions.remove(&record.shell);
            }
            EventKind::ProcessEndedLate => self.add_late(&record),
            EventKind::ProgramBeganLate => self.name_late(&record),
        }
    }

    /// The number of a record's session. The record of its beginning may be lost.
    fn session_of(&mut self, record: &Record) -> u32 {
        match self.sessions.get(&record.shell) {
            Some((began_ns, session)) if *began_ns == record.began_ns => *session,
            _ => {
                let session = self.session_count;
                self.session_count += 1;
                self.sessions.insert(record.shell, (record.began_ns, session));
                session
            }
        }
    }

    fn add_line(&mut self, record: Record) {
        let session = self.session_of(&record);
        if self.lines.len() >= MOST_LINES {
            self.lines_lost += 1;
            return;
        }
        self.places.insert((record.shell, record.line), self.lines.len() as u32);
        let name = name_of(&record);
        self.lines.push(ObservedLine {
            session,
            user: record.user,
            prompt_ns: record.prompt_ns,
            first_key_ns: record.first_key_ns,
            typed_ns: record.last_key_ns,
            ended_ns: record.at_ns,
            name,
            has_shell_within: record.has_shell_within,
            has_storage_counts: record.has_storage_counts,
            used: record.used,
        });
    }

    /// Adds a process that ended after its line.
    fn add_late(&mut self, record: &Record) {
        match self.places.get(&(record.shell, record.line)) {
            Some(place) => self.lines[*place as usize].used.add(&record.used),
            None => self.strays += 1,
        }
    }

    /// Names a line whose first program began after the line's end, as in the background.
    fn name_late(&mut self, record: &Record) {
        let place = self.places.get(&(record.shell, record.line));
        if let Some(line) = place.map(|place| &mut self.lines[*place as usize]).filter(|line| line.name.is_empty()) {
            line.name = name_of(record);
        }
    }
}

fn name_of(record: &Record) -> Vec<u8> {
    record.name.iter().copied().take_while(|byte| *byte != 0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: u64 = 1;
    const END: u64 = 2;
    const LATE: u64 = 3;
    const BEGIN: u64 = 4;
    const LATE_PROGRAM: u64 = 5;

    fn record(kind: u64, shell: u64, began_ns: u64, line: u64) -> Vec<u8> {
        let mut words = [0u64; 26];
        (words[0], words[5], words[7], words[12]) = (shell << 32 | kind, line, began_ns, 1000);
        words.iter().flat_map(|word| word.to_ne_bytes()).collect()
    }

    fn gathered(records: &[Vec<u8>]) -> Gathered {
        let mut gathered = Gathered::default();
        records.iter().for_each(|record| gathered.add(record));
        gathered
    }

    #[test]
    fn a_shells_number_that_is_used_again_is_another_session() {
        let all = gathered(&[record(LINE, 7, 100, 1), record(LINE, 7, 100, 2), record(END, 7, 100, 0), record(LINE, 7, 900, 3)]);
        assert_eq!(all.lines().iter().map(|line| line.session).collect::<Vec<_>>(), [0, 0, 1]);
        assert_eq!((all.sessions(), all.open_sessions()), (2, 1));
    }

    #[test]
    fn a_process_that_ends_late_is_added_to_its_line() {
        let all = gathered(&[record(LINE, 7, 100, 1), record(LINE, 7, 100, 2), record(LATE, 7, 0, 1), record(LATE, 8, 0, 1)]);
        assert_eq!(all.lines().iter().map(|line| line.used.cpu_ns).collect::<Vec<_>>(), [2000, 1000]);
        assert_eq!(all.strays, 1);
    }

    #[test]
    fn a_program_that_begins_late_names_its_line_if_nothing_else_does() {
        let named = |name: u8, kind, line| {
            let mut bytes = record(kind, 7, 100, line);
            bytes[10 * 8] = name;
            bytes
        };
        let all =
            gathered(&[named(0, LINE, 1), named(b'a', LINE, 2), named(b'b', LATE_PROGRAM, 1), named(b'b', LATE_PROGRAM, 2)]);
        assert_eq!(all.lines().iter().map(|line| line.name.as_slice()).collect::<Vec<_>>(), [b"b", b"a"]);
    }

    #[test]
    fn a_session_that_ends_within_a_line_has_an_unfinished_one() {
        let all = gathered(&[record(BEGIN, 7, 100, 0), record(END, 7, 100, 5), vec![0; 3]]);
        assert_eq!((all.unfinished, all.sessions(), all.unreadable, all.lines().len()), (1, 1, 1, 0));
    }
}
