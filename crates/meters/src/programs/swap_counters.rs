//! Where the kernel counts the pages that a processor swaps in, found in the kernel's own types (BTF).
//!
//! A major fault that swapped a page in raises the same event as one that read a file. What tells them apart is the
//! processor's count of swap-ins, which is no symbol that every kernel publishes. But it stands in the processor's own memory as
//! its run queue does, whose address each task knows: the way from one to the other is the difference of their places.

/// The places, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SwapCounters {
    /// From a processor's run queue to its counters; 0: not known, and swap-ins count as major faults.
    pub to_events: u64,
    /// In the counters: pages from a swap device, pages from zswap, pages of zeros. What a kernel lacks is as the first.
    pub events: [u32; 3],
}

/// Finds them in the types of the running kernel.
pub(crate) fn swap_counters() -> SwapCounters {
    std::fs::read("/sys/kernel/btf/vmlinux").ok().and_then(|types| find(&types)).unwrap_or_default()
}

fn find(bytes: &[u8]) -> Option<SwapCounters> {
    let types = Types::of(bytes)?;
    let mut variables = Vec::new(); // (number of the type, whether it is the run queues)
    let mut events = None;
    for (index, kind) in types.iter().enumerate() {
        let number = index as u32 + 1;
        match kind.kind {
            VARIABLE if types.named(kind.name, b"runqueues") => variables.push((number, true)),
            VARIABLE if types.named(kind.name, b"vm_event_states") => variables.push((number, false)),
            ENUMERATION if types.named(kind.name, b"vm_event_item") => events = events_of(&types, kind),
            _ => {}
        }
    }
    let sections: Vec<Type> = types.iter().filter(|kind| kind.kind == SECTION).collect();
    let place = |run_queues: bool| {
        let (number, _) = variables.iter().find(|(_, is)| *is == run_queues)?;
        sections.iter().flat_map(|section| section.members(12)).find(|member| member[0] == *number).map(|member| member[1])
    };
    let to_events = i64::from(place(false)?) - i64::from(place(true)?);
    Some(SwapCounters { to_events: to_events as u64, events: events? })
}

/// The places of the counters of swap-ins: eight bytes each.
fn events_of(types: &Types<'_>, events: Type<'_>) -> Option<[u32; 3]> {
    let place = |name: &[u8]| events.members(8).find(|member| types.named(member[0], name)).map(|member| member[1] * 8);
    let first = place(b"PSWPIN")?;
    Some([first, place(b"ZSWPIN").unwrap_or(first), place(b"SWPIN_ZERO").unwrap_or(first)])
}

const ENUMERATION: u32 = 6;
const VARIABLE: u32 = 14;
const SECTION: u32 = 15;

/// The kernel's types, as `include/uapi/linux/btf.h` has them.
struct Types<'a> {
    types: &'a [u8],
    names: &'a [u8],
}

/// One of them.
#[derive(Clone, Copy)]
struct Type<'a> {
    kind: u32,
    name: u32,
    body: &'a [u8],
}

impl<'a> Types<'a> {
    fn of(bytes: &'a [u8]) -> Option<Types<'a>> {
        let word = |at: usize| word(bytes, at).map(|word| word as usize);
        let start = word(4)?;
        let part = |at: usize, length: usize| bytes.get(start + at..start + at + length);
        Some(Types { types: part(word(8)?, word(12)?)?, names: part(word(16)?, word(20)?)? })
    }

    fn named(&self, at: u32, name: &[u8]) -> bool {
        self.names.get(at as usize..).is_some_and(|rest| rest.starts_with(name) && rest.get(name.len()) == Some(&0))
    }

    /// All, in the order of their numbers, which begin at 1.
    fn iter(&self) -> impl Iterator<Item = Type<'a>> {
        let mut rest = self.types;
        std::iter::from_fn(move || {
            let (name, info) = (word(rest, 0)?, word(rest, 4)?);
            let kind = info >> 24 & 31;
            let body = rest.get(12..12 + body_length(kind, info as usize & 0xffff))?;
            rest = &rest[12 + body.len()..];
            Some(Type { kind, name, body })
        })
    }
}

impl<'a> Type<'a> {
    /// The first two numbers of each member of `length` bytes.
    fn members(self, length: usize) -> impl Iterator<Item = [u32; 2]> + use<'a> {
        self.body.chunks_exact(length).filter_map(|member| Some([word(member, 0)?, word(member, 4)?]))
    }
}

/// How many bytes follow a type's first twelve.
fn body_length(kind: u32, members: usize) -> usize {
    match kind {
        1 | VARIABLE | 17 => 4,               // integer, variable, tag
        3 => 12,                              // array
        4 | 5 | SECTION | 19 => 12 * members, // structure, union, section, 64-bit enumeration
        ENUMERATION | 13 => 8 * members,      // enumeration, prototype of a function
        _ => 0,
    }
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..at + 4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_kernel_counts_swap_ins_beside_its_run_queues() {
        let found = swap_counters();
        if std::path::Path::new("/sys/kernel/btf/vmlinux").exists() {
            assert_ne!(found.to_events, 0, "{found:?}");
            assert_eq!(found.events[0] % 8, 0);
        }
    }

    #[test]
    fn what_is_no_btf_tells_nothing() {
        assert_eq!(find(b"no types here at all, and not even a header of them"), None);
    }
}
