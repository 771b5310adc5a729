//! A run as windows of equal time, each with the interactions that ended in it, by class, and the increases of the meters.
//!
//! A run has 100 to 199 complete windows, or fewer at its beginning. When the 200th is complete, neighbours are merged in pairs.

use super::histogram::Histogram;

/// Number of complete windows at which neighbours are merged in pairs. Of 100 to 199 windows, 30 batches leave few unused.
const TOO_MANY_WINDOWS: usize = 200;
/// Fewest batches of a run, by Law and Carson 1979.
const FEWEST_BATCHES: usize = 30;

/// Sums over the interactions of one class that ended in a window.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClassSums {
    /// Number of interactions.
    pub count: u64,
    /// Sum of the response times.
    pub response_ns: u128,
    /// Distribution of the response times.
    pub responses: Histogram,
}

/// One window of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunWindow {
    /// Sums of each class.
    pub classes: Vec<ClassSums>,
    /// Increase of each meter in the window.
    pub gains: Vec<f64>,
}

/// A run without its beginning, in batches of equal time.
#[derive(Clone, Debug)]
pub struct Batches {
    /// The batches, in the order of time.
    pub batches: Vec<RunWindow>,
    /// Length of each batch.
    pub length_ns: f64,
}

/// The windows of a run so far. A meter is a running total: of busy time, of requests, the integral of a queue's length.
#[derive(Clone, Debug)]
pub struct RunWindows {
    width_ns: u64,
    complete: Vec<RunWindow>,
    open: RunWindow,
    open_end: u64,
    totals: Vec<f64>,
}

impl RunWindows {
    /// A run without interactions, with this number of meters. The first windows are `first_ns` long (1 or more).
    pub fn new(meters: usize, first_ns: u64) -> RunWindows {
        RunWindows {
            width_ns: first_ns,
            complete: Vec::new(),
            open: RunWindow::default(),
            open_end: first_ns,
            totals: vec![0.0; meters],
        }
    }

    /// Adds an interaction of `class` that ended at `at`, no earlier than the one before.
    ///
    /// In a run with meters, the caller must have called [`RunWindows::meter`] at each end of a window up to `at`.
    pub fn add(&mut self, class: usize, at: u64, response_ns: u64) {
        while at >= self.open_end {
            assert!(self.totals.is_empty(), "a window was left without its meters being read");
            self.close(Vec::new());
        }
        if class >= self.open.classes.len() {
            self.open.classes.resize_with(class + 1, ClassSums::default);
        }
        let sum = &mut self.open.classes[class];
        sum.count += 1;
        sum.response_ns += u128::from(response_ns);
        sum.responses.add(response_ns);
    }

    /// The time of the next reading of the meters.
    pub fn next_reading(&self) -> u64 {
        self.open_end
    }

    /// Closes a window with the meters' totals at [`RunWindows::next_reading`]. All earlier interactions have been added.
    pub fn meter(&mut self, totals: &[f64]) {
        assert_eq!(totals.len(), self.totals.len(), "the meters are the same from the first to the last reading");
        let gains = totals.iter().zip(&self.totals).map(|(now, before)| now - before).collect();
        self.totals.copy_from_slice(totals);
        self.close(gains);
    }

    /// The batches of the run; `None` if the run is too short to have batches.
    ///
    /// The first tenth is dropped and the rest makes 30 batches or a few more, so that few windows are left over.
    pub fn batches(&self) -> Option<Batches> {
        let kept_windows = self.complete.len() - self.complete.len().div_ceil(10);
        let size = kept_windows / FEWEST_BATCHES;
        if size == 0 {
            return None;
        }
        let first = self.complete.len() - kept_windows / size * size;
        let batches = self.complete[first..].chunks_exact(size).map(|windows| windows.iter().fold(RunWindow::default(), merged));
        Some(Batches { batches: batches.collect(), length_ns: (size as u64 * self.width_ns) as f64 })
    }

    fn close(&mut self, gains: Vec<f64>) {
        self.open.gains = gains;
        self.complete.push(std::mem::take(&mut self.open));
        if self.complete.len() == TOO_MANY_WINDOWS {
            let mut windows = std::mem::take(&mut self.complete).into_iter();
            while let (Some(first), Some(second)) = (windows.next(), windows.next()) {
                self.complete.push(merged(first, &second));
            }
            self.width_ns *= 2;
        }
        self.open_end += self.width_ns;
    }
}

/// One window with the sums of both.
fn merged(mut into: RunWindow, from: &RunWindow) -> RunWindow {
    let classes = into.classes.len().max(from.classes.len());
    into.classes.resize_with(classes, ClassSums::default);
    for (sums, added) in into.classes.iter_mut().zip(&from.classes) {
        sums.count += added.count;
        sums.response_ns += added.response_ns;
        sums.responses.merge(&added.responses);
    }
    into.gains.resize(into.gains.len().max(from.gains.len()), 0.0);
    into.gains.iter_mut().zip(&from.gains).for_each(|(sum, added)| *sum += added);
    into
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_a_million_times_as_long_takes_no_more_windows_and_loses_nothing() {
        let mut windows = RunWindows::new(0, 1 << 20);
        for i in 0..100_000u64 {
            windows.add((i % 2) as usize, i * 10_000_000, i);
        }
        assert!((100..TOO_MANY_WINDOWS).contains(&windows.complete.len()), "{}", windows.complete.len());
        let all = windows.complete.iter().chain([&windows.open]).fold(RunWindow::default(), merged);
        assert_eq!((all.classes[0].count, all.classes[1].count), (50_000, 50_000));
        assert_eq!(all.classes[0].response_ns + all.classes[1].response_ns, (0..100_000u128).sum());
        let batches = windows.batches().unwrap();
        assert!((30..40).contains(&batches.batches.len()), "{}", batches.batches.len());
        assert!(batches.batches.len() as f64 * batches.length_ns > 0.85 * 1e12, "little is left over");
    }

    #[test]
    fn gains_of_meters_add_up_to_their_totals() {
        let mut windows = RunWindows::new(2, 1 << 20);
        while windows.next_reading() < 1 << 40 {
            let now = windows.next_reading() as f64;
            windows.meter(&[now, 3.0 * now]);
        }
        let all = windows.complete.iter().fold(RunWindow::default(), merged);
        let end = windows.complete.len() as f64 * windows.width_ns as f64;
        assert_eq!(all.gains, vec![end, 3.0 * end]);
    }

    #[test]
    fn a_gap_in_a_run_makes_empty_windows() {
        let mut windows = RunWindows::new(0, 1 << 20);
        windows.add(0, 0, 1);
        windows.add(0, 1 << 50, 1);
        assert_eq!(windows.complete.iter().flat_map(|window| &window.classes).map(|sum| sum.count).sum::<u64>(), 1);
    }
}
