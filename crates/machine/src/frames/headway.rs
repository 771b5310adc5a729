//! The headway law of processes, and what it says of how long ago their pages were used.

use crate::spec::Headway;

/// The headway law, with its integral T(x) = ∫₀ˣ headway and the inverse of that. Times are ns of processor time at speed 1.
#[derive(Clone, Debug)]
pub struct Law {
    headway: Headway,
    /// T at 0, 1, 2 … pages, for laws that have no short formula for its inverse.
    ages: Vec<f64>,
}

impl Law {
    /// The law, ready to be asked for up to `deepest` pages; it may be asked for more.
    pub fn new(headway: &Headway, deepest: u32) -> Law {
        let mut law = Law { headway: headway.clone(), ages: Vec::new() };
        assert!(law.headway(1.0) > 0.0, "between two faults there is work, however little");
        if !matches!(headway, Headway::Linear { .. }) {
            law.ages = law.integrate(deepest.max(1));
        }
        law
    }

    /// T at each whole number of pages, by Simpson's rule over eighths of a page.
    fn integrate(&self, deepest: u32) -> Vec<f64> {
        let mut age = 0.0;
        let mut ages = vec![0.0];
        for page in 0..deepest {
            for eighth in 0..8 {
                let from = f64::from(page) + f64::from(eighth) / 8.0;
                let [start, middle, end] = [0.0, 1.0 / 16.0, 1.0 / 8.0].map(|on| self.at(from + on));
                age += (start + 4.0 * middle + end) / 48.0;
            }
            ages.push(age);
        }
        ages
    }

    /// Mean processor time between faults with `pages` held; of less than one page, that of one.
    pub fn headway(&self, pages: f64) -> f64 {
        self.at(pages.max(1.0))
    }

    fn at(&self, pages: f64) -> f64 {
        match &self.headway {
            Headway::Linear { ns_per_page } => ns_per_page * pages,
            Headway::Chamberlin { b_ns, c_pages } => 2.0 * b_ns * pages * pages / (pages * pages + c_pages * c_pages),
            Headway::Curve(points) => along(points, pages),
        }
    }

    /// T(x): how long ago, in its own processor time, a process used the page that is `pages`-th by last use.
    pub(crate) fn age(&self, pages: f64) -> f64 {
        if let Headway::Linear { ns_per_page } = self.headway {
            return ns_per_page * pages * pages / 2.0;
        }
        let last = self.ages.len() - 2;
        let page = (pages as usize).min(last);
        self.ages[page] + (pages - page as f64) * (self.ages[page + 1] - self.ages[page])
    }

    /// The inverse of [`Law::age`]: how many different pages a process refers to in `work_ns` of its processor time.
    pub fn reach(&self, work_ns: f64) -> f64 {
        if let Headway::Linear { ns_per_page } = self.headway {
            return (2.0 * work_ns / ns_per_page).sqrt();
        }
        let last = self.ages.len() - 2;
        let page = self.ages.partition_point(|age| *age <= work_ns).saturating_sub(1).min(last);
        page as f64 + (work_ns - self.ages[page]) / (self.ages[page + 1] - self.ages[page])
    }
}

/// The height at `x` of the line through the points; level before the first and after the last.
fn along(points: &[(f64, f64)], x: f64) -> f64 {
    let next = points.partition_point(|(at, _)| *at <= x);
    match (next.checked_sub(1).map(|before| points[before]), points.get(next)) {
        (Some((x0, y0)), Some((x1, y1))) => y0 + (y1 - y0) * (x - x0) / (x1 - x0),
        (Some((_, level)), None) => level,
        (None, Some((_, level))) => *level,
        (None, None) => panic!("a curve has points"),
    }
}
