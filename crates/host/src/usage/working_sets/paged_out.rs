//! The pages of a process that were on a paging device when a window began, and those of them that came back since.
//!
//! `/proc/PID/pagemap` (fs/proc/task_mmu.c) has a word for each page, with a bit for a page in memory and one for a page on a device.

use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt as _;

/// Bytes of the word of a page.
const WORD_BYTES: usize = 8;
const PRESENT_BITS: u64 = 1 << 63;
const DEVICE_BITS: u64 = 1 << 62;
/// Most pages of a process that are followed; of more, every second one is, or fewer.
const MOST_PAGES: usize = 1 << 14;
/// Pages that are read at once.
const PAGES_AT_ONCE: u64 = 1 << 12;

/// Pages on a paging device that are followed until they come back.
#[derive(Debug)]
pub(crate) struct PagedOut {
    /// A file that has nothing to read any more when its process has ended or executes another program.
    pagemap: File,
    /// The numbers of the pages that have not come back, ascending.
    pages: Vec<u64>,
    /// Bytes for which a page that is followed stands.
    page_bytes: f64,
    returned: u64,
}

impl PagedOut {
    /// Follows the pages that lie now on a device, in these ranges of addresses.
    pub(crate) fn begin(pagemap: File, mappings: &[Range<u64>]) -> PagedOut {
        let size = rustix::param::page_size() as u64;
        let mut pages = Vec::new();
        for mapping in mappings {
            let numbers = mapping.start / size..mapping.end / size;
            read_words(&pagemap, numbers, |page, word| {
                if word & DEVICE_BITS != 0 {
                    pages.push(page);
                }
            });
        }
        let step = pages.len().div_ceil(MOST_PAGES).max(1);
        PagedOut {
            pagemap,
            pages: pages.into_iter().step_by(step).collect(),
            page_bytes: (size * step as u64) as f64,
            returned: 0,
        }
    }

    /// Bytes that have come back into memory since the beginning. A page that went out again between two calls may be missing.
    pub(crate) fn returned_bytes(&mut self) -> f64 {
        let PagedOut { pagemap, pages, returned, .. } = self;
        let mut left = Vec::with_capacity(pages.len());
        for run in pages.chunk_by(|one, next| next - one < PAGES_AT_ONCE / 64) {
            let (mut sought, numbers) = (run.iter().peekable(), run[0]..run[run.len() - 1] + 1);
            read_words(pagemap, numbers, |page, word| {
                if sought.next_if_eq(&&page).is_some() {
                    match (word & PRESENT_BITS != 0, word & DEVICE_BITS != 0) {
                        (true, _) => *returned += 1,
                        (false, true) => left.push(page),
                        (false, false) => {} // given back to the kernel
                    }
                }
            });
        }
        *pages = left;
        self.returned as f64 * self.page_bytes
    }
}

/// Reads the words of `pages`. A page that cannot be read has none.
fn read_words(pagemap: &File, pages: Range<u64>, mut visitor: impl FnMut(u64, u64)) {
    let mut bytes = vec![0u8; WORD_BYTES * PAGES_AT_ONCE.min(pages.end - pages.start) as usize];
    let mut page = pages.start;
    while page < pages.end {
        let count = PAGES_AT_ONCE.min(pages.end - page) as usize;
        let Ok(read) = pagemap.read_at(&mut bytes[..count * WORD_BYTES], page * WORD_BYTES as u64) else { return };
        let words = bytes[..read].chunks_exact(WORD_BYTES);
        if words.len() == 0 {
            return;
        }
        for word in words {
            visitor(page, u64::from_ne_bytes(word.try_into().expect("a chunk has its length")));
            page += 1;
        }
    }
}
