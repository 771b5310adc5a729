//! A run in windows of equal time: what ended in each by class, and what the meters gained in each.
//!
//! There are 100 to 199 whole windows (fewer only at the very beginning); the 200th makes every two one, of twice the length.

use super::histogram::Histogram;

/// Windows that are never reached.
const TOO_MANY: usize = 200;
/// The least number of batches.
const BATCHES: usize = 30;

/// What one class's interactions came to in a window.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sum {
    /// Interactions that ended.
    pub count: u64,
    /// Their response times, in all.
    pub response_ns: u128,
    /// Their response times by size.
    pub responses: Histogram,
}

/// A stretch of the run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Window {
    /// By class.
    pub classes: Vec<Sum>,
    /// What each meter gained.
    pub gains: Vec<f64>,
}

/// The part of a run that counts, in batches of equal time.
#[derive(Clone, Debug)]
pub struct Batches {
    /// One after the other.
    pub whole: Vec<Window>,
    /// The length of each.
    pub length_ns: f64,
}

/// A run so far. Meters are running totals of anything: busy time, requests, integrals of queue lengths.
#[derive(Clone, Debug)]
pub struct Windows {
    width_ns: u64,
    whole: Vec<Window>,
    open: Window,
    open_end: u64,
    totals: Vec<f64>,
}

impl Windows {
    /// Nothing yet, of so many meters; the first windows are `shortest_ns` long (1 or more).
    pub fn new(meters: usize, shortest_ns: u64) -> Windows {
        Windows {
            width_ns: shortest_ns,
            whole: Vec::new(),
            open: Window::default(),
            open_end: shortest_ns,
            totals: vec![0.0; meters],
        }
    }

    /// An interaction of `class` ended at `at`. Times do not go back; with meters, [`Windows::meter`] comes first when a window's end is passed.
    pub fn add(&mut self, class: usize, at: u64, response_ns: u64) {
        while at >= self.open_end {
            assert!(self.totals.is_empty(), "a window was left without its meters being read");
            self.close(Vec::new());
        }
        if class >= self.open.classes.len() {
            self.open.classes.resize_with(class + 1, Sum::default);
        }
        let sum = &mut self.open.classes[class];
        sum.count += 1;
        sum.response_ns += u128::from(response_ns);
        sum.responses.add(response_ns);
    }

    /// When the meters are to be read next.
    pub fn next_reading(&self) -> u64 {
        self.open_end
    }

    /// The meters' totals at [`Windows::next_reading`]; everything before that has been added.
    pub fn meter(&mut self, totals: &[f64]) {
        assert_eq!(totals.len(), self.totals.len(), "the meters are the same from the first to the last reading");
        let gains = totals.iter().zip(&self.totals).map(|(now, before)| now - before).collect();
        self.totals.copy_from_slice(totals);
        self.close(gains);
    }

    /// The part of the run that counts; `None` when it is too short to have batches.
    ///
    /// The first tenth is dropped and the rest cut into 30 batches or a few more, so that few windows are left over.
    pub fn batches(&self) -> Option<Batches> {
        let kept = self.whole.len() - self.whole.len().div_ceil(10);
        let size = kept / BATCHES;
        if size == 0 {
            return None;
        }
        let first = self.whole.len() - kept / size * size;
        let whole = self.whole[first..].chunks_exact(size).map(|windows| windows.iter().fold(Window::default(), merged));
        Some(Batches { whole: whole.collect(), length_ns: (size as u64 * self.width_ns) as f64 })
    }

    fn close(&mut self, gains: Vec<f64>) {
        self.open.gains = gains;
        self.whole.push(std::mem::take(&mut self.open));
        if self.whole.len() == TOO_MANY {
            let mut windows = std::mem::take(&mut self.whole).into_iter();
            while let (Some(one), Some(next)) = (windows.next(), windows.next()) {
                self.whole.push(merged(one, &next));
            }
            self.width_ns *= 2;
        }
        self.open_end += self.width_ns;
    }
}

fn merged(mut into: Window, from: &Window) -> Window {
    let classes = into.classes.len().max(from.classes.len());
    into.classes.resize_with(classes, Sum::default);
    for (sum, more) in into.classes.iter_mut().zip(&from.classes) {
        sum.count += more.count;
        sum.response_ns += more.response_ns;
        sum.responses.merge(&more.responses);
    }
    into.gains.resize(into.gains.len().max(from.gains.len()), 0.0);
    into.gains.iter_mut().zip(&from.gains).for_each(|(sum, more)| *sum += more);
    into
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_a_million_times_as_long_takes_no_more_windows_and_loses_nothing() {
        let mut windows = Windows::new(0, 1 << 20);
        for i in 0..100_000u64 {
            windows.add((i % 2) as usize, i * 10_000_000, i);
        }
        assert!((100..TOO_MANY).contains(&windows.whole.len()), "{}", windows.whole.len());
        let all = windows.whole.iter().chain([&windows.open]).fold(Window::default(), merged);
        assert_eq!((all.classes[0].count, all.classes[1].count), (50_000, 50_000));
        assert_eq!(all.classes[0].response_ns + all.classes[1].response_ns, (0..100_000u128).sum());
        let batches = windows.batches().unwrap();
        assert!((30..40).contains(&batches.whole.len()), "{}", batches.whole.len());
        assert!(batches.whole.len() as f64 * batches.length_ns > 0.85 * 1e12, "little is left over");
    }

    #[test]
    fn gains_of_meters_add_up_to_their_totals() {
        let mut windows = Windows::new(2, 1 << 20);
        while windows.next_reading() < 1 << 40 {
            let now = windows.next_reading() as f64;
            windows.meter(&[now, 3.0 * now]);
        }
        let all = windows.whole.iter().fold(Window::default(), merged);
        let end = windows.whole.len() as f64 * windows.width_ns as f64;
        assert_eq!(all.gains, vec![end, 3.0 * end]);
    }

    #[test]
    fn a_gap_in_a_run_is_empty_windows() {
        let mut windows = Windows::new(0, 1 << 20);
        windows.add(0, 0, 1);
        windows.add(0, 1 << 50, 1);
        assert_eq!(windows.whole.iter().flat_map(|window| &window.classes).map(|sum| sum.count).sum::<u64>(), 1);
    }
}
