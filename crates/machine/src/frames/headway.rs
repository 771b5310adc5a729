//! The headway law of processes, and the time since the last use of their pages, which follows from it.

use crate::spec::HeadwaySpec;

/// The headway law, with its integral T(x) = ∫₀ˣ headway and the inverse of T. Times are ns of processor time at speed 1.
#[derive(Clone, Debug)]
pub struct HeadwayLaw {
    headway: HeadwaySpec,
    /// T at 0, 1, 2 … pages, for laws whose inverse has no short formula.
    ages: Vec<f64>,
}

impl HeadwayLaw {
    /// The law with T computed up to `deepest` pages, and extrapolated beyond.
    pub fn new(headway: &HeadwaySpec, deepest: u32) -> HeadwayLaw {
        let mut law = HeadwayLaw { headway: headway.clone(), ages: Vec::new() };
        assert!(law.headway(1.0) > 0.0, "between two faults there is work, however little");
        if !matches!(headway, HeadwaySpec::Linear { .. }) {
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

    /// Mean processor time between faults with `pages` held, at least 1.
    pub fn headway(&self, pages: f64) -> f64 {
        self.at(pages.max(1.0))
    }

    fn at(&self, pages: f64) -> f64 {
        match &self.headway {
            HeadwaySpec::Linear { ns_per_page } => ns_per_page * pages,
            HeadwaySpec::Chamberlin { b_ns, c_pages } => 2.0 * b_ns * pages * pages / (pages * pages + c_pages * c_pages),
            HeadwaySpec::Curve(points) => along(points, pages),
        }
    }

    /// T(x): the time since a process used the page that is `pages`-th by last use, in its processor time.
    pub(crate) fn age(&self, pages: f64) -> f64 {
        if let HeadwaySpec::Linear { ns_per_page } = self.headway {
            return ns_per_page * pages * pages / 2.0;
        }
        let last = self.ages.len() - 2;
        let page = (pages as usize).min(last);
        self.ages[page] + (pages - page as f64) * (self.ages[page + 1] - self.ages[page])
    }

    /// The inverse of [`HeadwayLaw::age`]: the number of different pages that a process refers to in `work_ns`.
    pub fn reach(&self, work_ns: f64) -> f64 {
        if let HeadwaySpec::Linear { ns_per_page } = self.headway {
            return (2.0 * work_ns / ns_per_page).sqrt();
        }
        let last = self.ages.len() - 2;
        let page = self.ages.partition_point(|age| *age <= work_ns).saturating_sub(1).min(last);
        page as f64 + (work_ns - self.ages[page]) / (self.ages[page + 1] - self.ages[page])
    }
}

/// The height at `x` of the line through the points, which is constant before the first and after the last.
fn along(points: &[(f64, f64)], x: f64) -> f64 {
    let next = points.partition_point(|(at, _)| *at <= x);
    match (next.checked_sub(1).map(|before| points[before]), points.get(next)) {
        (Some((x0, y0)), Some((x1, y1))) => y0 + (y1 - y0) * (x - x0) / (x1 - x0),
        (Some((_, level)), None) => level,
        (None, Some((_, level))) => *level,
        (None, None) => panic!("a curve has points"),
    }
}
