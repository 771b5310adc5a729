//! Finds the kernel's counters of pages that a processor swaps in, by the kernel's own types (BTF).
//!
//! A major fault that swapped a page in raises the same event as one that read a file. The processor's count of swap-ins
//! distinguishes them, but not every kernel publishes its address. The count is in the processor's own memory, like the run
//! queue, whose address each task has. So the offset from the run queue to the count is the same on all processors.

/// Offsets of the counters in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SwapCounters {
    /// Offset from a processor's run queue to its counters. If not known it is 0, and swap-ins count as major faults.
    pub to_events: u64,
    /// Offsets of three counters: pages from a swap device, from zswap, and of zeros. One that the kernel lacks is the same as the first.
    pub events: [u32; 3],
}

/// Finds the offsets in the types of the running kernel.
pub(crate) fn swap_counters() -> SwapCounters {
    std::fs::read("/sys/kernel/btf/vmlinux").ok().and_then(|types| find(&types)).unwrap_or_default()
}

fn find(bytes: &[u8]) -> Option<SwapCounters> {
    let types = KernelTypes::parse(bytes)?;
    let mut variables = Vec::new(); // (number of the type, whether it is of the run queues)
    let mut events = None;
    for (index, kind) in types.iter().enumerate() {
        let number = index as u32 + 1;
        match kind.kind {
            VARIABLE_KIND_ID if types.is_named(kind.name, b"runqueues") => variables.push((number, true)),
            VARIABLE_KIND_ID if types.is_named(kind.name, b"vm_event_states") => variables.push((number, false)),
            ENUM_KIND_ID if types.is_named(kind.name, b"vm_event_item") => events = counter_offsets(&types, kind),
            _ => {}
        }
    }
    let sections: Vec<KernelType> = types.iter().filter(|kind| kind.kind == SECTION_KIND_ID).collect();
    let offset = |of_run_queues: bool| {
        let (number, _) = variables.iter().find(|(_, is_run_queues)| *is_run_queues == of_run_queues)?;
        sections.iter().flat_map(|section| section.members(12)).find(|member| member[0] == *number).map(|member| member[1])
    };
    let to_events = i64::from(offset(false)?) - i64::from(offset(true)?);
    Some(SwapCounters { to_events: to_events as u64, events: events? })
}

/// Offsets of the counters of swap-ins, which have eight bytes each.
fn counter_offsets(types: &KernelTypes<'_>, events: KernelType<'_>) -> Option<[u32; 3]> {
    let offset = |name: &[u8]| events.members(8).find(|member| types.is_named(member[0], name)).map(|member| member[1] * 8);
    let first = offset(b"PSWPIN")?;
    Some([first, offset(b"ZSWPIN").unwrap_or(first), offset(b"SWPIN_ZERO").unwrap_or(first)])
}

// Kinds of types in linux/btf.h.
const ENUM_KIND_ID: u32 = 6;
const VARIABLE_KIND_ID: u32 = 14;
const SECTION_KIND_ID: u32 = 15;

/// The kernel's types, as `include/uapi/linux/btf.h` has them.
struct KernelTypes<'a> {
    types: &'a [u8],
    names: &'a [u8],
}

/// One type of the kernel.
#[derive(Clone, Copy)]
struct KernelType<'a> {
    kind: u32,
    name: u32,
    body: &'a [u8],
}

impl<'a> KernelTypes<'a> {
    fn parse(bytes: &'a [u8]) -> Option<KernelTypes<'a>> {
        let word = |offset: usize| word(bytes, offset).map(|word| word as usize);
        let start = word(4)?;
        let section = |offset: usize, length: usize| bytes.get(start + offset..start + offset + length);
        Some(KernelTypes { types: section(word(8)?, word(12)?)?, names: section(word(16)?, word(20)?)? })
    }

    fn is_named(&self, offset: u32, name: &[u8]) -> bool {
        self.names.get(offset as usize..).is_some_and(|text| text.starts_with(name) && text.get(name.len()) == Some(&0))
    }

    /// All types in the order of their numbers, which begin at 1.
    fn iter(&self) -> impl Iterator<Item = KernelType<'a>> {
        let mut remaining = self.types;
        std::iter::from_fn(move || {
            let (name, info) = (word(remaining, 0)?, word(remaining, 4)?);
            let kind = info >> 24 & 31;
            let body = remaining.get(12..12 + body_length(kind, info as usize & 0xffff))?;
            remaining = &remaining[12 + body.len()..];
            Some(KernelType { kind, name, body })
        })
    }
}

impl<'a> KernelType<'a> {
    /// The first two numbers of each member of `length` bytes.
    fn members(self, length: usize) -> impl Iterator<Item = [u32; 2]> + use<'a> {
        self.body.chunks_exact(length).filter_map(|member| Some([word(member, 0)?, word(member, 4)?]))
    }
}

/// Number of bytes that follow a type's first twelve.
fn body_length(kind: u32, members: usize) -> usize {
    match kind {
        1 | VARIABLE_KIND_ID | 17 => 4,               // integer, variable, tag
        3 => 12,                                      // array
        4 | 5 | SECTION_KIND_ID | 19 => 12 * members, // structure, union, section, 64-bit enumeration
        ENUM_KIND_ID | 13 => 8 * members,             // enumeration, prototype of a function
        _ => 0,
    }
}

fn word(bytes: &[u8], offset: usize) -> Option<u32> {
    bytes.get(offset..offset + 4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_kernel_counts_swap_ins_beside_its_run_queues() {
        let counters = swap_counters();
        if std::path::Path::new("/sys/kernel/btf/vmlinux").exists() {
            assert_ne!(counters.to_events, 0, "{counters:?}");
            assert_eq!(counters.events[0] % 8, 0);
        }
    }

    #[test]
    fn bytes_that_are_no_btf_have_no_counters() {
        assert_eq!(find(b"no types here at all, and not even a header of them"), None);
    }
}
