//! What a study tells: throughput and response times by class, utilisation and queue by station, where the processors' time went.

use super::stream::{StudyStream, meter};
use crate::meters::Category;
use crate::spec::{Machine, Population, Store, StoreKind};
use loadgo_statistics::{BatchSample, ConfidenceInterval, Figure, INTERVAL_CONFIDENCE, MissingFigure, RunWindows, StopReason};

/// Quantiles of response times that are told.
pub(crate) const QUANTILES: [f64; 4] = [0.5, 0.9, 0.95, 0.99];

/// A figure with its 95 % interval, or what it lacks.
pub type Told = Result<ConfidenceInterval, MissingFigure>;

/// What a study has come to. Times are ns, rates are a ns, unless a name says otherwise.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// Why it ended.
    pub end: StopReason,
    /// Interactions in all, those of the warm-up too.
    pub interactions: u64,
    /// Time simulated, all streams together.
    pub simulated_ns: u64,
    /// Events that the model needed, all streams together.
    pub events: u64,
    /// All interactions together.
    pub all: ClassReport,
    /// N / X - Z with measured Z: users with a command in hand, over the throughput.
    pub little: Told,
    /// Users with a command in hand, on average.
    pub active: Told,
    /// By class of the machine's load.
    pub classes: Vec<ClassReport>,
    /// The processors, then the stores in the order of the file.
    pub stations: Vec<StationReport>,
    /// Processes that ask to be eligible, on average.
    pub asking: Told,
    /// The share of the processors' time in each category that had any.
    pub time: Vec<(Category, Told)>,
}

/// Interactions of a class, or all.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassReport {
    /// Its name.
    pub name: String,
    /// Its users; `None` where they come and go.
    pub users: Option<u64>,
    /// Interactions a ns.
    pub throughput: Told,
    /// Mean response.
    pub mean: Told,
    /// The [`QUANTILES`] of the response.
    pub quantiles: [Told; 4],
}

/// The processors, or a store.
#[derive(Clone, Debug, PartialEq)]
pub struct StationReport {
    /// `processors`, or the store's name.
    pub name: String,
    /// How many serve at once; `None`: any number.
    pub servers: Option<u32>,
    /// The share of time that a server is busy; `None` where any number serve.
    pub utilisation: Option<Told>,
    /// How many are there, those in service with them.
    pub queue: Told,
    /// Requests a ns, and ns from a request to its end; stores only.
    pub requests: Option<(Told, Told)>,
}

/// What the streams have come to.
pub(super) fn of(machine: &Machine, streams: &[StudyStream], end: StopReason) -> Report {
    let windows: Vec<&RunWindows> = streams.iter().map(StudyStream::windows).collect();
    let sample = BatchSample::of(&windows, INTERVAL_CONFIDENCE);
    let told = |figure| sample.estimate(figure);
    let mean_of = |meter| told(Figure::Share(meter, meter::CLOCK));
    let users = machine.load.iter().map(|class| match class.population {
        Population::Closed(users) => Some(u64::from(users)),
        Population::Open(_) => None,
    });
    let names = machine.load.iter().map(|class| class.name.clone());
    let classes = names.zip(users.clone()).enumerate().map(|(index, (name, users))| class(name, users, Some(index), &told));
    Report {
        end,
        interactions: streams.iter().map(StudyStream::interactions).sum(),
        simulated_ns: streams.iter().map(StudyStream::now).sum(),
        events: streams.iter().map(|stream| stream.meters().events).sum(),
        all: class("all".into(), users.sum(), None, &told),
        little: told(Figure::Each(meter::ACTIVE, None)),
        active: mean_of(meter::ACTIVE),
        classes: classes.collect(),
        stations: stations(machine, &told),
        asking: mean_of(meter::ASKING),
        time: time(machine, &told),
    }
}

fn class(name: String, users: Option<u64>, index: Option<usize>, told: &impl Fn(Figure) -> Told) -> ClassReport {
    ClassReport {
        name,
        users,
        throughput: told(Figure::Throughput(index)),
        mean: told(Figure::Mean(index)),
        quantiles: QUANTILES.map(|p| told(Figure::Quantile(p, index))),
    }
}

fn stations(machine: &Machine, told: &impl Fn(Figure) -> Told) -> Vec<StationReport> {
    let count = machine.processors.count;
    let processors = StationReport {
        name: "processors".into(),
        servers: Some(count),
        utilisation: Some(each(told(Figure::Share(meter::BUSY, meter::CLOCK)), count)),
        queue: told(Figure::Share(meter::AT_PROCESSORS, meter::CLOCK)),
        requests: None,
    };
    let stores = machine.stores.iter().enumerate().map(|(index, store)| {
        let [requests, busy, length] = [0, 1, 2].map(|offset| meter::STORES + index * meter::EACH_STORE + offset);
        let servers = servers(store);
        StationReport {
            name: store.name.clone(),
            servers,
            utilisation: servers.map(|servers| each(told(Figure::Share(busy, meter::CLOCK)), servers)),
            queue: told(Figure::Share(length, meter::CLOCK)),
            requests: Some((told(Figure::Share(requests, meter::CLOCK)), told(Figure::Share(length, requests)))),
        }
    });
    std::iter::once(processors).chain(stores).collect()
}

fn time(machine: &Machine, told: &impl Fn(Figure) -> Told) -> Vec<(Category, Told)> {
    let share = |category: Category| told(Figure::Share(meter::CATEGORIES + category as usize, meter::CLOCK));
    let all = Category::ALL.map(|category| (category, each(share(category), machine.processors.count)));
    all.into_iter().filter(|(_, told)| told.is_ok_and(|interval| interval.value > 0.0)).collect()
}

/// A sum over `servers` as a share of each.
fn each(told: Told, servers: u32) -> Told {
    let servers = f64::from(servers);
    told.map(|sum| ConfidenceInterval { value: sum.value / servers, half_width: sum.half_width / servers })
}

fn servers(store: &Store) -> Option<u32> {
    let count = match &store.kind {
        StoreKind::Server { servers, .. } => *servers,
        StoreKind::Drum { .. } => 1,
        StoreKind::Bulk { channels, .. } => *channels,
        StoreKind::Disk { units, .. } => *units,
    };
    (count != u32::MAX).then_some(count)
}
