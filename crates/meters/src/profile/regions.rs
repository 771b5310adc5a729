//! Page faults by region, as the kernel programs count them (`bpf/meters/regions.h`).
//!
//! Records come from lines that made room for others; what is still in the lines is read beside, and a line's record later
//! counts only what was not read before. So every fault is counted once, whenever it is asked.

use aya::Ebpf;
use aya::maps::{Array, MapData, RingBuf};
use std::collections::HashMap;

const LINES: usize = 256;
const WORDS: usize = 3;
type Lines = [u64; LINES * WORDS];
const TGID_BITS: u32 = 22;
const REGION_BITS: u32 = 18;
const PAGE_BITS: u32 = 12;

/// So many faults of a process on a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Faults {
    pub pid: u32,
    pub address: u64,
    pub count: u64,
}

/// What was already told of a line's turn.
#[derive(Clone, Copy)]
struct Told {
    count: u32,
    pages: u64,
    pass: u64,
}

/// The kernel's counts.
pub(crate) struct Regions {
    records: RingBuf<MapData>,
    lines: Array<MapData, Lines>,
    lost: Array<MapData, u64>,
    processors: Vec<u32>,
    told: HashMap<(u32, u32, u32), Told>,
    pass: u64,
}

impl Regions {
    /// Takes over the maps of the programs, which run already.
    ///
    /// # Errors
    /// When a map is not as it should be.
    pub fn begin(object: &mut Ebpf, processors: Vec<u32>) -> Result<Regions, String> {
        let mut take = |name: &str| object.take_map(name).ok_or(format!("the map {name} is not there"));
        let records = RingBuf::try_from(take("region_records")?).map_err(|error| error.to_string())?;
        let lines = Array::try_from(take("region_lines")?).map_err(|error| error.to_string())?;
        let lost = Array::try_from(take("regions_lost")?).map_err(|error| error.to_string())?;
        Ok(Regions { records, lines, lost, processors, told: HashMap::new(), pass: 0 })
    }

    /// Adds what the lines that made room held.
    pub fn take(&mut self, faults: &mut Vec<Faults>) {
        while let Some(record) = self.records.next() {
            let word = |at: usize| u64::from_ne_bytes(record[at * 8..at * 8 + 8].try_into().expect("a record has four words"));
            if record.len() < 32 {
                continue;
            }
            let line = [word(0), word(1), word(2)];
            let place = word(3);
            let told = self.told.remove(&(place as u32, (place >> 32) as u32, (line[2] >> 32) as u32));
            faults_of(line, told, faults);
        }
    }

    /// Adds what the lines hold now, too.
    ///
    /// # Errors
    /// When the kernel no longer answers.
    pub(crate) fn take_all(&mut self, faults: &mut Vec<Faults>) -> Result<(), String> {
        self.take(faults);
        self.pass += 1;
        for processor in &self.processors {
            let lines = self.lines.get(processor, 0).map_err(|error| error.to_string())?;
            for (number, line) in lines.as_chunks::<WORDS>().0.iter().enumerate() {
                let (count, turn) = (line[2] as u32, (line[2] >> 32) as u32);
                if count > 0 {
                    let now = Told { count, pages: line[1], pass: self.pass };
                    faults_of(*line, self.told.insert((*processor, number as u32, turn), now), faults);
                }
            }
        }
        let pass = self.pass;
        self.told.retain(|_, told| told.pass + 1 >= pass); // the record of one that has gone comes with the next reading
        Ok(())
    }

    /// Faults whose records found no room, since the beginning.
    pub fn lost(&self) -> u64 {
        self.lost.get(&0, 0).unwrap_or(0)
    }
}

/// The faults of a line beside those that were told, divided among its pages.
fn faults_of(line: [u64; WORDS], told: Option<Told>, faults: &mut Vec<Faults>) {
    let [key, pages, counts] = line;
    let (told_count, told_pages) = told.map_or((0, 0), |told| (told.count, told.pages));
    let count = u64::from((counts as u32).saturating_sub(told_count));
    let fresh = if pages & !told_pages == 0 { pages } else { pages & !told_pages };
    let shares = u64::from(fresh.count_ones().max(1));
    let (pid, region) = ((key & ((1 << TGID_BITS) - 1)) as u32, key >> TGID_BITS);
    let mut rest = count % shares;
    for page in (0..64).filter(|page| fresh >> page & 1 == 1) {
        let part = count / shares + u64::from(rest > 0);
        rest = rest.saturating_sub(1);
        if part > 0 {
            faults.push(Faults { pid, address: region << REGION_BITS | page << PAGE_BITS, count: part });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(pid: u64, region: u64, pages: u64, count: u64) -> [u64; WORDS] {
        [region << TGID_BITS | pid, pages, 7 << 32 | count]
    }

    #[test]
    fn every_fault_of_a_line_is_on_one_of_its_pages() {
        let mut faults = Vec::new();
        faults_of(line(42, 5, 0b1011, 5), None, &mut faults);
        let of = |page: u64, count| Faults { pid: 42, address: 5 << 18 | page << 12, count };
        assert_eq!(faults, [of(0, 2), of(1, 2), of(3, 1)]);
    }

    #[test]
    fn what_was_told_is_not_told_again() {
        let told = Some(Told { count: 3, pages: 0b11, pass: 1 });
        let mut faults = Vec::new();
        faults_of(line(42, 5, 0b111, 4), told, &mut faults);
        assert_eq!(faults, [Faults { pid: 42, address: 5 << 18 | 2 << 12, count: 1 }]);
        faults.clear();
        faults_of(line(42, 5, 0b11, 3), told, &mut faults);
        assert_eq!(faults, []);
    }
}
