//! The records of the kernel programs (`bpf/sessions/lines.h`), read from their bytes.

/// Number of words of a record.
const RECORD_WORDS: usize = 26;
/// Index of the first word of a record that says what was used.
const USE_INDEX: usize = 12;
/// Index of the first word of the name.
const NAME_INDEX: usize = 10;
/// Number of words that say what was used.
const USE_WORDS: usize = RECORD_WORDS - USE_INDEX;
/// Flag of a line in which a shell began that people typed to.
const SHELL_WITHIN_BITS: u64 = 1;
/// Flag of a line whose storage traffic the kernel counts.
const STORAGE_COUNTS_BITS: u64 = 4;

/// Use of processes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Use {
    /// Processor time, in nanoseconds.
    pub cpu_ns: u64,
    /// User time by the kernel's ticks; only its ratio to `system_ticks_ns` counts.
    pub user_ticks_ns: u64,
    /// System time by the kernel's ticks.
    pub system_ticks_ns: u64,
    /// Time ready without a processor.
    pub queued_ns: u64,
    /// Minor page faults.
    pub faults_minor: u64,
    /// Major page faults.
    pub faults_major: u64,
    /// Bytes read by calls.
    pub read_bytes: u64,
    /// Bytes written by calls.
    pub written_bytes: u64,
    /// Bytes read from storage.
    pub storage_read_bytes: u64,
    /// Bytes of pages that were changed, and go to storage.
    pub storage_written_bytes: u64,
    /// Bytes of such pages that were thrown away before they went there.
    pub storage_cancelled_bytes: u64,
    /// Most pages of one process that were in memory at once.
    pub held_pages: u64,
    /// Number of processes.
    pub processes: u64,
    /// How often a process waited for the terminal.
    pub terminal_waits: u64,
}

impl Use {
    fn from_words(words: &[u64; USE_WORDS]) -> Use {
        let [
            cpu,
            user,
            system,
            queued,
            minor,
            major,
            read,
            written,
            from_storage,
            to_storage,
            cancelled,
            pages,
            processes,
            waits,
        ] = *words;
        Use {
            cpu_ns: cpu,
            user_ticks_ns: user,
            system_ticks_ns: system,
            queued_ns: queued,
            faults_minor: minor,
            faults_major: major,
            read_bytes: read,
            written_bytes: written,
            storage_read_bytes: from_storage,
            storage_written_bytes: to_storage,
            storage_cancelled_bytes: cancelled,
            held_pages: pages,
            processes,
            terminal_waits: waits,
        }
    }

    /// Adds the use of a process that ended later.
    pub(crate) fn add(&mut self, more: &Use) {
        self.cpu_ns += more.cpu_ns;
        self.user_ticks_ns += more.user_ticks_ns;
        self.system_ticks_ns += more.system_ticks_ns;
        self.queued_ns += more.queued_ns;
        self.faults_minor += more.faults_minor;
        self.faults_major += more.faults_major;
        self.read_bytes += more.read_bytes;
        self.written_bytes += more.written_bytes;
        self.storage_read_bytes += more.storage_read_bytes;
        self.storage_written_bytes += more.storage_written_bytes;
        self.storage_cancelled_bytes += more.storage_cancelled_bytes;
        self.held_pages = self.held_pages.max(more.held_pages);
    }
}

/// The event that a record reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EventKind {
    LineEnded,
    SessionEnded,
    ProcessEndedLate,
    SessionBegan,
    ProgramBeganLate,
}

/// A record. Times are those of CLOCK_MONOTONIC in nanoseconds; 0 is not known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Record {
    pub kind: EventKind,
    pub shell: u32,
    pub at_ns: u64,
    pub prompt_ns: u64,
    pub first_key_ns: u64,
    pub last_key_ns: u64,
    /// The number of the line; 0 for none.
    pub line: u64,
    /// When the session became known: it tells sessions of the same shell's number apart.
    pub began_ns: u64,
    pub user: u32,
    pub has_shell_within: bool,
    pub has_storage_counts: bool,
    /// The name of the line's first program; empty if it ran none.
    pub name: [u8; 16],
    pub used: Use,
}

impl Record {
    /// The record in these bytes; None if they are none.
    pub fn from_bytes(bytes: &[u8]) -> Option<Record> {
        let (chunks, _) = bytes.as_chunks::<8>();
        let words: [u64; RECORD_WORDS] =
            chunks.get(..RECORD_WORDS)?.iter().map(|chunk| u64::from_ne_bytes(*chunk)).collect::<Vec<_>>().try_into().ok()?;
        let kind = match words[0] as u32 {
            1 => EventKind::LineEnded,
            2 => EventKind::SessionEnded,
            3 => EventKind::ProcessEndedLate,
            4 => EventKind::SessionBegan,
            5 => EventKind::ProgramBeganLate,
            _ => return None,
        };
        let mut name = [0; 16];
        name.copy_from_slice(bytes.get(NAME_INDEX * 8..USE_INDEX * 8)?);
        let used: [u64; USE_WORDS] = words[USE_INDEX..].try_into().ok()?;
        Some(Record {
            kind,
            shell: (words[0] >> 32) as u32,
            at_ns: words[1],
            prompt_ns: words[2],
            first_key_ns: words[3],
            last_key_ns: words[4],
            line: words[5],
            began_ns: words[7],
            user: words[8] as u32,
            has_shell_within: words[8] >> 32 & SHELL_WITHIN_BITS != 0,
            has_storage_counts: words[8] >> 32 & STORAGE_COUNTS_BITS != 0,
            name,
            used: Use::from_words(&used),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_read_word_by_word() {
        let mut words: [u64; RECORD_WORDS] = std::array::from_fn(|index| index as u64);
        words[0] = 4711 << 32 | 1;
        words[8] = SHELL_WITHIN_BITS << 32 | 1000;
        words[10] = u64::from_ne_bytes(*b"make\0\0\0\0");
        words[11] = 0;
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        let record = Record::from_bytes(&bytes).unwrap();
        assert_eq!((record.kind, record.shell, record.user), (EventKind::LineEnded, 4711, 1000));
        assert_eq!((record.at_ns, record.prompt_ns, record.first_key_ns, record.last_key_ns), (1, 2, 3, 4));
        assert_eq!((record.line, record.began_ns, record.has_shell_within), (5, 7, true));
        assert_eq!(&record.name[..5], b"make\0");
        assert_eq!((record.used.cpu_ns, record.used.held_pages, record.used.terminal_waits), (12, 23, 25));
        let storage = (record.used.storage_read_bytes, record.used.storage_written_bytes, record.used.storage_cancelled_bytes);
        assert_eq!((storage, record.has_storage_counts), ((20, 21, 22), false));
    }

    #[test]
    fn other_bytes_are_no_record() {
        assert_eq!(Record::from_bytes(&[0; RECORD_WORDS * 8]), None);
        assert_eq!(Record::from_bytes(&[1; 8]), None);
    }
}
