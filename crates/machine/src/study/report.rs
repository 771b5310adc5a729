//! The report of a study: throughput and response times by class, utilisation and queue by station, processor time by category.

use super::stream::{StudyStream, meter};
use crate::meters::Category;
use crate::spec::{Machine, Population, Store};
use loadgo_statistics::{
    BatchSample, ConfidenceInterval, Figure, INTERVAL_CONFIDENCE, MissingFigure, RunWindows, StopReason, StopRule,
};

/// The quantiles of response times in a report.
pub(crate) const REPORTED_QUANTILES: [f64; 4] = [0.5, 0.9, 0.95, 0.99];

/// A figure with its 95 % interval, or the reason why there is none.
pub type FigureResult = Result<ConfidenceInterval, MissingFigure>;

/// The results of a study. Times are in ns, and rates are events a ns.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// The reason why the study ended.
    pub end: StopReason,
    /// Number of interactions, with those of the warm-up.
    pub interactions: u64,
    /// Simulated time, the sum over all streams.
    pub simulated_ns: u64,
    /// Number of the model's events, the sum over all streams.
    pub events: u64,
    /// Figures of all interactions.
    pub all: ClassReport,
    /// N / X - Z with the measured Z: users whose command is not answered, divided by the throughput.
    pub little: FigureResult,
    /// Mean number of users whose command is not answered.
    pub active: FigureResult,
    /// Figures of each class of the machine's load.
    pub classes: Vec<ClassReport>,
    /// Figures of the processors, then of the stores in the order of the file.
    pub stations: Vec<StationReport>,
    /// Mean number of processes that ask to be eligible.
    pub asking: FigureResult,
    /// Shares of the processors' time, by category, without categories that had none.
    pub time: Vec<(Category, FigureResult)>,
}

/// Figures of the interactions of one class, or of all.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassReport {
    /// Name of the class.
    pub name: String,
    /// Number of users; `None` for an open class.
    pub users: Option<u64>,
    /// Interactions a ns.
    pub throughput: FigureResult,
    /// Mean response time.
    pub mean: FigureResult,
    /// The [`REPORTED_QUANTILES`] of the response time.
    pub quantiles: [FigureResult; 4],
}

/// Figures of the processors, or of a store.
#[derive(Clone, Debug, PartialEq)]
pub struct StationReport {
    /// `processors`, or the store's name.
    pub name: String,
    /// Number of servers; `None`: any number of requests is served at once.
    pub servers: Option<u32>,
    /// Share of time in which a server is busy; `None` without a number of servers.
    pub utilisation: Option<FigureResult>,
    /// Mean number of requests or processes that wait or are served.
    pub queue: FigureResult,
    /// Requests a ns, and ns from a request to its end; only for stores.
    pub requests: Option<(FigureResult, FigureResult)>,
}

/// Computes the report of the streams, which ran until `until`.
pub(super) fn of(machine: &Machine, streams: &[StudyStream], end: StopReason, until: &StopRule) -> Report {
    let windows: Vec<&RunWindows> = streams.iter().map(StudyStream::windows).collect();
    let of_length = BatchSample::of(&windows, INTERVAL_CONFIDENCE);
    let sample = if until.precisions.is_empty() { of_length } else { of_length.stopped_when_precise() };
    let estimated = |figure| sample.estimate(figure);
    let mean_of = |meter| estimated(Figure::Share(meter, meter::CLOCK));
    let users = machine.load.iter().map(|class| match class.population {
        Population::Closed(users) => Some(u64::from(users)),
        Population::Open(_) => None,
    });
    let names = machine.load.iter().map(|class| class.name.clone());
    let classes = names.zip(users.clone()).enumerate().map(|(index, (name, users))| class(name, users, Some(index), &estimated));
    Report {
        end,
        interactions: streams.iter().map(StudyStream::interactions).sum(),
        simulated_ns: streams.iter().map(StudyStream::now).sum(),
        events: streams.iter().map(|stream| stream.meters().events).sum(),
        all: class("all".into(), users.sum(), None, &estimated),
        little: estimated(Figure::Each(meter::ACTIVE, None)),
        active: mean_of(meter::ACTIVE),
        classes: classes.collect(),
        stations: stations(machine, &estimated),
        asking: mean_of(meter::ASKING),
        time: time(machine, &estimated),
    }
}

fn class(name: String, users: Option<u64>, index: Option<usize>, estimated: &impl Fn(Figure) -> FigureResult) -> ClassReport {
    ClassReport {
        name,
        users,
        throughput: estimated(Figure::Throughput(index)),
        mean: estimated(Figure::Mean(index)),
        quantiles: REPORTED_QUANTILES.map(|p| estimated(Figure::Quantile(p, index))),
    }
}

fn stations(machine: &Machine, estimated: &impl Fn(Figure) -> FigureResult) -> Vec<StationReport> {
    let count = machine.processors.count;
    let processors = StationReport {
        name: "processors".into(),
        servers: Some(count),
        utilisation: Some(each(estimated(Figure::Share(meter::BUSY, meter::CLOCK)), count)),
        queue: estimated(Figure::Share(meter::AT_PROCESSORS, meter::CLOCK)),
        requests: None,
    };
    let stores = machine.stores.iter().enumerate().map(|(index, store)| {
        let [requests, busy, length] = [0, 1, 2].map(|offset| meter::STORES + index * meter::EACH_STORE + offset);
        let servers = servers(store);
        StationReport {
            name: store.name.clone(),
            servers,
            utilisation: servers.map(|servers| each(estimated(Figure::Share(busy, meter::CLOCK)), servers)),
            queue: estimated(Figure::Share(length, meter::CLOCK)),
            requests: Some((estimated(Figure::Share(requests, meter::CLOCK)), estimated(Figure::Share(length, requests)))),
        }
    });
    std::iter::once(processors).chain(stores).collect()
}

fn time(machine: &Machine, estimated: &impl Fn(Figure) -> FigureResult) -> Vec<(Category, FigureResult)> {
    let share = |category: Category| estimated(Figure::Share(meter::CATEGORIES + category as usize, meter::CLOCK));
    let all = Category::ALL.map(|category| (category, each(share(category), machine.processors.count)));
    all.into_iter().filter(|(_, share)| share.is_ok_and(|interval| interval.value > 0.0)).collect()
}

/// A sum over `servers`, divided by their number.
fn each(sum: FigureResult, servers: u32) -> FigureResult {
    let servers = f64::from(servers);
    sum.map(|sum| ConfidenceInterval { value: sum.value / servers, half_width: sum.half_width / servers })
}

fn servers(store: &Store) -> Option<u32> {
    let count = store.kind.servers();
    (count != u32::MAX).then_some(count)
}
