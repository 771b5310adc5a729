//! Records of a perf ring, from their bytes: `include/uapi/linux/perf_event.h`, for the one set of fields that we ask for.
//!
//! Samples of the clock hold the address, thread, time, processor and a chain, those of faults thread, time, address. The other records end in
//! thread, time and processor. `perf-event2` reads records too, but its `parse_record` leaves out when anything but a sample was.

use std::sync::Arc;

/// Something that happened, when, and to whom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Event {
    /// Nanoseconds of CLOCK_MONOTONIC.
    pub time: u64,
    /// The process; 0: the idle loop.
    pub pid: u32,
    /// The thread.
    pub tid: u32,
    /// What happened.
    pub what: Told,
}

/// What the kernel tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Told {
    /// A piece of memory was mapped, or became longer.
    Mapped(Mapped),
    /// A task has a name; `exec`: by loading a program, which takes all its mappings away.
    Named { name: Arc<str>, exec: bool },
    /// The process was forked by another.
    Forked { parent: u32 },
    /// The process is over.
    Ended,
    /// The clock found it on `processor` at `address`; `chain` is as the kernel walks it, with its marks between kernel and user.
    Sampled { processor: u32, address: u64, chain: Box<[u64]> },
    /// It waited for a page.
    Major { address: u64 },
    /// A page fault; only where no kernel program counts them.
    Minor { address: u64 },
    /// A full ring had no room for so many.
    Lost { count: u64 },
}

/// A mapping.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mapped {
    pub start: u64,
    pub length: u64,
    /// Where in the file it begins.
    pub offset: u64,
    pub path: Arc<str>,
    /// Whether it may be run: what is on a chain of callers must be.
    pub runs: bool,
    /// Of the file, where it has one and it was in memory.
    pub build_id: Option<Arc<[u8]>>,
}

/// What a ring tells besides notes on mappings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Clock,
    Majors,
    Minors,
}

/// A record's parts beside its type.
pub(crate) struct Fields<'a> {
    pub kind: Kind,
    pub misc: u16,
    pub bytes: &'a [u8],
}

const LOST: u32 = 2;
const COMM: u32 = 3;
const EXIT: u32 = 4;
const FORK: u32 = 7;
const SAMPLE: u32 = 9;
const MMAP2: u32 = 10;
const LOST_SAMPLES: u32 = 13;

const COMM_EXEC: u16 = 1 << 13;
const HAS_BUILD_ID: u16 = 1 << 14;
const PROT_EXEC: u32 = 4;
/// Thread, time and processor at the end of what is no sample.
const TRAILER: usize = 24;

/// The event that a record tells of, if it is one that we know.
pub(crate) fn event(record_type: u32, fields: &Fields<'_>) -> Option<Event> {
    if record_type == SAMPLE {
        return sample(fields);
    }
    let length = fields.bytes.len().checked_sub(TRAILER)?;
    let (body, trailer) = fields.bytes.split_at(length);
    let mut event = Event { time: u64_at(trailer, 8)?, pid: u32_at(trailer, 0)?, tid: u32_at(trailer, 4)?, what: Told::Ended };
    event.what = match record_type {
        LOST => Told::Lost { count: u64_at(body, 8)? },
        LOST_SAMPLES => Told::Lost { count: u64_at(body, 0)? },
        COMM => Told::Named { name: text(body.get(8..)?), exec: fields.misc & COMM_EXEC != 0 },
        FORK => Told::Forked { parent: u32_at(body, 4)? },
        EXIT => Told::Ended,
        MMAP2 => Told::Mapped(mapped(fields.misc, body)?),
        _ => return None,
    };
    if matches!(record_type, COMM | FORK | EXIT | MMAP2) {
        event.pid = u32_at(body, 0)?;
        event.tid = u32_at(body, if matches!(record_type, FORK | EXIT) { 8 } else { 4 })?;
    }
    Some(event)
}

fn sample(fields: &Fields<'_>) -> Option<Event> {
    let bytes = fields.bytes;
    let (head, what) = match fields.kind {
        Kind::Majors => (bytes, Told::Major { address: u64_at(bytes, 16)? }),
        Kind::Minors => (bytes, Told::Minor { address: u64_at(bytes, 16)? }),
        Kind::Clock => {
            let (processor, address) = (u32_at(bytes, 24)?, u64_at(bytes, 0)?);
            (bytes.get(8..)?, Told::Sampled { processor, address, chain: chain(bytes.get(32..)?)? })
        }
    };
    Some(Event { pid: u32_at(head, 0)?, tid: u32_at(head, 4)?, time: u64_at(head, 8)?, what })
}

fn chain(bytes: &[u8]) -> Option<Box<[u64]>> {
    let count = u64_at(bytes, 0)? as usize;
    let words = bytes.get(8..8 + count.checked_mul(8)?)?;
    Some(words.chunks_exact(8).map(|word| u64::from_ne_bytes(word.try_into().expect("chunks of eight"))).collect())
}

fn mapped(misc: u16, body: &[u8]) -> Option<Mapped> {
    let build_id = (misc & HAS_BUILD_ID != 0).then(|| {
        let length = usize::from(*body.get(32)?).min(20);
        body.get(36..36 + length).map(Arc::from)
    });
    Some(Mapped {
        start: u64_at(body, 8)?,
        length: u64_at(body, 16)?,
        offset: u64_at(body, 24)?,
        build_id: build_id.flatten(),
        path: text(body.get(64..)?),
        runs: u32_at(body, 56)? & PROT_EXEC != 0,
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
        for (misc, build_id) in [(HAS_BUILD_ID, Some(Arc::from([0xab, 0xab, 0xab]))), (0, None)] {
            let found = event(MMAP2, &Fields { kind: Kind::Clock, misc, bytes: &body }).unwrap();
            let mapping =
                Mapped { start: 0x1000, length: 0x2000, offset: 0x3000, path: "/bin/true".into(), runs: true, build_id };
            assert_eq!(found, Event { time: 99, pid: 7, tid: 8, what: Told::Mapped(mapping) });
        }
    }

    #[test]
    fn a_record_that_is_cut_is_no_event() {
        let mut bytes = Vec::from(11u64.to_ne_bytes());
        bytes.extend(7u32.to_ne_bytes());
        bytes.extend(8u32.to_ne_bytes());
        bytes.extend(5u64.to_ne_bytes());
        bytes.extend([1, 0, 0, 0, 0, 0, 0, 0]);
        bytes.extend(2u64.to_ne_bytes());
        bytes.extend(11u64.to_ne_bytes());
        bytes.extend(12u64.to_ne_bytes());
        let whole = event(SAMPLE, &Fields { kind: Kind::Clock, misc: 0, bytes: &bytes }).unwrap();
        assert_eq!(whole.what, Told::Sampled { processor: 1, address: 11, chain: Box::from([11, 12]) });
        for length in 0..bytes.len() {
            assert_eq!(event(SAMPLE, &Fields { kind: Kind::Clock, misc: 0, bytes: &bytes[..length] }), None);
        }
    }
}
