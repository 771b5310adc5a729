//! Parses records of a perf ring (`include/uapi/linux/perf_event.h`), with the fields that `sideband` requests.
//!
//! Clock samples hold address, thread, time, processor and a call chain; fault samples hold thread, time and address. Other
//! records end with thread, time and processor. `perf-event2` parses records too, but leaves out the time of all but samples.

use std::sync::Arc;

/// An event of a process, with its time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SidebandEvent {
    /// Nanoseconds of CLOCK_MONOTONIC.
    pub time: u64,
    /// The process; 0 is the idle loop.
    pub pid: u32,
    /// The thread.
    pub tid: u32,
    /// The kernel's note about the event.
    pub note: KernelNote,
}

/// The kernel's note about an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum KernelNote {
    /// Memory was mapped, or a mapping grew.
    Mapped(NewMapping),
    /// A task has a new name. With `exec` it has loaded a program, and lost its mappings.
    Named { name: Arc<str>, exec: bool },
    /// The process was forked by `parent`.
    Forked { parent: u32 },
    /// The process has ended.
    Ended,
    /// A clock sample on `processor` at `address`. `chain` has the kernel's marks between kernel and user addresses.
    Sampled { processor: u32, address: u64, chain: Box<[u64]> },
    /// A page fault that waited for a device.
    Major { address: u64 },
    /// A page fault without a device; only if no kernel program counts faults.
    Minor { address: u64 },
    /// A full ring had no room for `count` records.
    Lost { count: u64 },
}

/// A mapping.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NewMapping {
    pub start: u64,
    pub length: u64,
    /// Offset of the mapping in its file.
    pub offset: u64,
    pub path: Arc<str>,
    /// Whether it is executable, as each address of a call chain must be.
    pub is_executable: bool,
    /// The file's build id, if it has one and it was in memory.
    pub build_id: Option<Arc<[u8]>>,
}

/// The samples of a ring, besides notes about processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SampleKind {
    Clock,
    Majors,
    Minors,
}

/// The parts of a record besides its type.
pub(crate) struct RecordFields<'a> {
    pub kind: SampleKind,
    pub misc: u16,
    pub bytes: &'a [u8],
}

// Numbers of linux/perf_event.h and asm-generic/mman-common.h.
const LOST_ID: u32 = 2;
const COMM_ID: u32 = 3;
const EXIT_ID: u32 = 4;
const FORK_ID: u32 = 7;
const SAMPLE_ID: u32 = 9;
const MMAP2_ID: u32 = 10;
const LOST_SAMPLES_ID: u32 = 13;

const COMM_EXEC_FLAG: u16 = 1 << 13;
const BUILD_ID_FLAG: u16 = 1 << 14;
const PROT_EXEC_FLAG: u32 = 4;
/// Size of thread, time and processor, with which all records but samples end.
const TRAILER_BYTES: usize = 24;

/// Parses the event of a record; None if its type is unknown or the record is too short.
pub(crate) fn parse_event(record_type: u32, fields: &RecordFields<'_>) -> Option<SidebandEvent> {
    if record_type == SAMPLE_ID {
        return parse_sample(fields);
    }
    let length = fields.bytes.len().checked_sub(TRAILER_BYTES)?;
    let (body, trailer) = fields.bytes.split_at(length);
    let mut event =
        SidebandEvent { time: u64_at(trailer, 8)?, pid: u32_at(trailer, 0)?, tid: u32_at(trailer, 4)?, note: KernelNote::Ended };
    event.note = match record_type {
        LOST_ID => KernelNote::Lost { count: u64_at(body, 8)? },
        LOST_SAMPLES_ID => KernelNote::Lost { count: u64_at(body, 0)? },
        COMM_ID => KernelNote::Named { name: text(body.get(8..)?), exec: fields.misc & COMM_EXEC_FLAG != 0 },
        FORK_ID => KernelNote::Forked { parent: u32_at(body, 4)? },
        EXIT_ID => KernelNote::Ended,
        MMAP2_ID => KernelNote::Mapped(parse_mapping(fields.misc, body)?),
        _ => return None,
    };
    if matches!(record_type, COMM_ID | FORK_ID | EXIT_ID | MMAP2_ID) {
        event.pid = u32_at(body, 0)?;
        event.tid = u32_at(body, if matches!(record_type, FORK_ID | EXIT_ID) { 8 } else { 4 })?;
    }
    Some(event)
}

fn parse_sample(fields: &RecordFields<'_>) -> Option<SidebandEvent> {
    let bytes = fields.bytes;
    let (head, note) = match fields.kind {
        SampleKind::Majors => (bytes, KernelNote::Major { address: u64_at(bytes, 16)? }),
        SampleKind::Minors => (bytes, KernelNote::Minor { address: u64_at(bytes, 16)? }),
        SampleKind::Clock => {
            let (processor, address) = (u32_at(bytes, 24)?, u64_at(bytes, 0)?);
            (bytes.get(8..)?, KernelNote::Sampled { processor, address, chain: parse_chain(bytes.get(32..)?)? })
        }
    };
    Some(SidebandEvent { pid: u32_at(head, 0)?, tid: u32_at(head, 4)?, time: u64_at(head, 8)?, note })
}

fn parse_chain(bytes: &[u8]) -> Option<Box<[u64]>> {
    let count = u64_at(bytes, 0)? as usize;
    let words = bytes.get(8..8 + count.checked_mul(8)?)?;
    Some(words.chunks_exact(8).map(|word| u64::from_ne_bytes(word.try_into().expect("chunks of eight"))).collect())
}

fn parse_mapping(misc: u16, body: &[u8]) -> Option<NewMapping> {
    let build_id = (misc & BUILD_ID_FLAG != 0).then(|| {
        let length = usize::from(*body.get(32)?).min(20);
        body.get(36..36 + length).map(Arc::from)
    });
    Some(NewMapping {
        start: u64_at(body, 8)?,
        length: u64_at(body, 16)?,
        offset: u64_at(body, 24)?,
        build_id: build_id.flatten(),
        path: text(body.get(64..)?),
        is_executable: u32_at(body, 56)? & PROT_EXEC_FLAG != 0,
    })
}

fn text(bytes: &[u8]) -> Arc<str> {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into()
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_ne_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trailer() -> Vec<u8> {
        let mut bytes = Vec::new();
        bytes.extend(7u32.to_ne_bytes());
        bytes.extend(8u32.to_ne_bytes());
        bytes.extend(99u64.to_ne_bytes());
        bytes.extend([0; 8]);
        bytes
    }

    #[test]
    fn a_mapping_has_its_build_id_only_where_the_record_says_so() {
        let mut body = Vec::new();
        body.extend(7u32.to_ne_bytes());
        body.extend(8u32.to_ne_bytes());
        for word in [0x1000u64, 0x2000, 0x3000] {
            body.extend(word.to_ne_bytes());
        }
        body.extend([3, 0, 0, 0]);
        body.extend([0xab; 20]);
        body.extend(5u32.to_ne_bytes());
        body.extend([0; 4]);
        body.extend(b"/bin/true\0\0\0\0\0\0\0");
        body.extend(trailer());
        for (misc, build_id) in [(BUILD_ID_FLAG, Some(Arc::from([0xab, 0xab, 0xab]))), (0, None)] {
            let parsed = parse_event(MMAP2_ID, &RecordFields { kind: SampleKind::Clock, misc, bytes: &body }).unwrap();
            let mapping = NewMapping {
                start: 0x1000,
                length: 0x2000,
                offset: 0x3000,
                path: "/bin/true".into(),
                is_executable: true,
                build_id,
            };
            assert_eq!(parsed, SidebandEvent { time: 99, pid: 7, tid: 8, note: KernelNote::Mapped(mapping) });
        }
    }

    #[test]
    fn a_record_that_is_too_short_is_no_event() {
        let mut bytes = Vec::from(11u64.to_ne_bytes());
        bytes.extend(7u32.to_ne_bytes());
        bytes.extend(8u32.to_ne_bytes());
        bytes.extend(5u64.to_ne_bytes());
        bytes.extend([1, 0, 0, 0, 0, 0, 0, 0]);
        bytes.extend(2u64.to_ne_bytes());
        bytes.extend(11u64.to_ne_bytes());
        bytes.extend(12u64.to_ne_bytes());
        let complete = parse_event(SAMPLE_ID, &RecordFields { kind: SampleKind::Clock, misc: 0, bytes: &bytes }).unwrap();
        assert_eq!(complete.note, KernelNote::Sampled { processor: 1, address: 11, chain: Box::from([11, 12]) });
        for length in 0..bytes.len() {
            assert_eq!(parse_event(SAMPLE_ID, &RecordFields { kind: SampleKind::Clock, misc: 0, bytes: &bytes[..length] }), None);
        }
    }
}
