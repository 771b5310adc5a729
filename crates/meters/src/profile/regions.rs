//! Page faults by region, as the kernel programs count them (`bpf/meters/regions.h`).
//!
//! A line of the kernel's table that makes room for another is sent as a record. Lines that are still in the table are read directly,
//! and the record of such a line later counts only the faults since that reading. So every fault is counted once.

use crate::refusal::MeterRefusal;
use aya::Ebpf;
use aya::maps::{Array, MapData, RingBuf};
use std::collections::HashMap;

/// Number of lines of a processor's table.
const LINES: usize = 256;
/// Number of words in a line.
const LINE_WORDS: usize = 3;
type RegionLines = [u64; LINES * LINE_WORDS];
const TGID_BITS: u32 = 22;
const REGION_BITS: u32 = 18;
const PAGE_BITS: u32 = 12;

/// A number of faults of a process on one page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RegionFault {
    pub pid: u32,
    pub address: u64,
    pub count: u64,
}

/// The faults of a line that have been read already.
#[derive(Clone, Copy)]
struct ReportedFaults {
    count: u32,
    pages: u64,
    pass: u64,
}

/// The kernel's counts of faults by region.
pub(crate) struct Regions {
    records: RingBuf<MapData>,
    lines: Array<MapData, RegionLines>,
    lost: Array<MapData, u64>,
    processors: Vec<u32>,
    /// By processor, line, and the number of times that the line was given away.
    reported: HashMap<(u32, u32, u32), ReportedFaults>,
    pass: u64,
}

impl Regions {
    /// Takes the maps of the programs, which are already attached.
    ///
    /// # Errors
    /// A map is missing or has another type.
    pub fn begin(object: &mut Ebpf, processors: Vec<u32>) -> Result<Regions, MeterRefusal> {
        let mut take = |name: &str| object.take_map(name).ok_or(format!("the map {name} is not there"));
        let records = RingBuf::try_from(take("region_records")?)?;
        let lines = Array::try_from(take("region_lines")?)?;
        let lost = Array::try_from(take("regions_lost")?)?;
        Ok(Regions { records, lines, lost, processors, reported: HashMap::new(), pass: 0 })
    }

    /// Adds the faults of lines that made room for others.
    pub fn take(&mut self, faults: &mut Vec<RegionFault>) {
        while let Some(record) = self.records.next() {
            let word = |index: usize| u64::from_ne_bytes(record[index * 8..][..8].try_into().expect("a record has four words"));
            if record.len() < 32 {
                continue;
            }
            let line = [word(0), word(1), word(2)];
            let origin = word(3); // the processor, and the line's number
            let reported = self.reported.remove(&(origin as u32, (origin >> 32) as u32, (line[2] >> 32) as u32));
            add_faults(line, reported, faults);
        }
    }

    /// Adds the faults of lines that made room, and of those in the table.
    ///
    /// # Errors
    /// The kernel's refusal.
    pub(crate) fn take_all(&mut self, faults: &mut Vec<RegionFault>) -> Result<(), MeterRefusal> {
        self.take(faults);
        self.pass += 1;
        for processor in &self.processors {
            let lines = self.lines.get(processor, 0)?;
            for (number, line) in lines.as_chunks::<LINE_WORDS>().0.iter().enumerate() {
                let (count, turn) = (line[2] as u32, (line[2] >> 32) as u32);
                if count > 0 {
                    let now = ReportedFaults { count, pages: line[1], pass: self.pass };
                    add_faults(*line, self.reported.insert((*processor, number as u32, turn), now), faults);
                }
            }
        }
        let pass = self.pass;
        self.reported.retain(|_, reported| reported.pass + 1 >= pass); // a line's record comes with the next reading at the latest
        Ok(())
    }

    /// Number of faults whose records had no room, since the beginning.
    pub fn lost(&self) -> u64 {
        self.lost.get(&0, 0).unwrap_or(0)
    }
}

/// Adds the faults of a line that were not reported yet, divided among its pages.
fn add_faults(line: [u64; LINE_WORDS], reported: Option<ReportedFaults>, faults: &mut Vec<RegionFault>) {
    let [key, pages, counts] = line;
    let (old_count, old_pages) = reported.map_or((0, 0), |reported| (reported.count, reported.pages));
    let count = u64::from((counts as u32).saturating_sub(old_count));
    let new_pages = if pages & !old_pages == 0 { pages } else { pages & !old_pages };
    let shares = u64::from(new_pages.count_ones().max(1));
    let (pid, region) = ((key & ((1 << TGID_BITS) - 1)) as u32, key >> TGID_BITS);
    let mut remainder = count % shares;
    for page in (0..64).filter(|page| new_pages >> page & 1 == 1) {
        let page_count = count / shares + u64::from(remainder > 0);
        remainder = remainder.saturating_sub(1);
        if page_count > 0 {
            faults.push(RegionFault { pid, address: region << REGION_BITS | page << PAGE_BITS, count: page_count });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(pid: u64, region: u64, pages: u64, count: u64) -> [u64; LINE_WORDS] {
        [region << TGID_BITS | pid, pages, 7 << 32 | count]
    }

    #[test]
    fn every_fault_of_a_line_is_on_one_of_its_pages() {
        let mut faults = Vec::new();
        add_faults(line(42, 5, 0b1011, 5), None, &mut faults);
        let of = |page: u64, count| RegionFault { pid: 42, address: 5 << 18 | page << 12, count };
        assert_eq!(faults, [of(0, 2), of(1, 2), of(3, 1)]);
    }

    #[test]
    fn reported_faults_are_not_reported_again() {
        let reported = Some(ReportedFaults { count: 3, pages: 0b11, pass: 1 });
        let mut faults = Vec::new();
        add_faults(line(42, 5, 0b111, 4), reported, &mut faults);
        assert_eq!(faults, [RegionFault { pid: 42, address: 5 << 18 | 2 << 12, count: 1 }]);
        faults.clear();
        add_faults(line(42, 5, 0b11, 3), reported, &mut faults);
        assert_eq!(faults, []);
    }
}
