//! Preparation of the host before the first log-in: control groups, limits, homes, and the meter of their usage.

use crate::commands::{names_by_line, numbers_by_line};
use crate::refusal::RunRefusal;
use crate::request::Request;
use loadgo_core::script::Script;
use loadgo_host::groups::Groups;
use loadgo_host::leftovers::{Leftovers, Thing};
use loadgo_host::own_names::own_name;
use loadgo_host::refusal::Refusal;
use loadgo_host::terminals::destinations::Destinations;
use loadgo_host::terminals::setting::{SessionsByPlace, Setting};
use loadgo_host::usage::meter::UsageMeter;
use loadgo_host::usage::sources::{Demand, Sources};
use loadgo_host::usage::working_sets;
use loadgo_meters::Meters;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Everything that was made for the users.
pub(crate) struct Prepared {
    pub destinations: Destinations,
    pub groups: Option<Arc<Groups>>,
    pub meter: UsageMeter,
    pub homes: PathBuf,
    /// Counts the sessions that were begun with `ssh` and the like.
    pub by_place: Arc<SessionsByPlace>,
}

impl Prepared {
    /// The settings of the host's system for a run that began at `origin_ns`.
    pub(crate) fn setting(&self, request: &Request, origin_ns: u64) -> Setting {
        Setting {
            script: Arc::clone(&request.spec.script),
            destinations: self.destinations.clone(),
            orders: request.orders.clone(),
            controller: request.controller,
            search_path: request.search_path.clone(),
            run_id: request.spec.id.clone(),
            homes: self.homes.clone(),
            origin_ns,
            by_place: Arc::clone(&self.by_place),
            own_directories: request.other_host.is_some(),
            of_account: request.other_host.is_some(),
        }
    }

    /// Lets the kernel meters measure each interaction's waits, if they keep accounts of waits.
    pub(crate) fn take_waits_from(&mut self, meters: Option<&mut Meters>, script: &Script) {
        if let Some(waits) = meters.and_then(|meters| meters.waits(numbers_by_line(&names_by_line(script)))) {
            self.meter.take_waits_from(Box::new(waits));
        }
    }

    /// The sources of usage.
    pub(crate) fn sources(&self) -> UsageSources {
        let login = self.destinations.login();
        let login_word = login.is_out_of_reach().then(|| login.words[0].clone());
        UsageSources { of_meter: self.meter.sources().clone(), login_word, by_place: Arc::clone(&self.by_place) }
    }
}

/// The sources of the users' usage. Where users log in with `ssh` and the like, they depend on where that leads.
pub(crate) struct UsageSources {
    of_meter: Sources,
    /// The first word of the log-in command, if the sessions' programs may be on another host.
    login_word: Option<String>,
    by_place: Arc<SessionsByPlace>,
}

impl UsageSources {
    /// Whether the kernel accounts no longer for waits of paging and of I/O, as it did at the beginning.
    pub(crate) fn delays_switched_off(&self) -> bool {
        self.of_meter.delays_switched_off()
    }

    /// The sources, by the sessions that have begun so far.
    pub(crate) fn now(&self) -> Sources {
        let Some(word) = &self.login_word else { return self.of_meter.clone() };
        let SessionsByPlace { here, elsewhere } = &*self.by_place;
        let (here, elsewhere) = (here.load(Ordering::Relaxed), elsewhere.load(Ordering::Relaxed));
        if here == 0 {
            let note = format!(
                "users log in with {word}: this host's meters do not reach the programs that they run; run loadgo on that host"
            );
            return Sources { every: self.of_meter.every, notes: vec![note], ..Sources::default() };
        }
        let mut sources = self.of_meter.clone();
        sources.notes.push(format!(
            "users log in with {word}, which leads to this host: their shells and programs are metered, and the two ends of {word} are not"
        ));
        if elsewhere > 0 {
            let all = here + elsewhere;
            sources
                .notes
                .push(format!("{elsewhere} of {all} sessions are not metered: their shells were not found on this host"));
        }
        sources
    }
}

/// Makes all that the users need. Each thing is noted in `leftovers` before it is made.
pub(crate) fn prepare(request: &Request, leftovers: &mut Leftovers, notes: &mut Vec<String>) -> Result<Prepared, RunRefusal> {
    let destinations = request.destinations()?;
    let mut groups = match Groups::create(&request.spec.id, leftovers) {
        Ok(groups) => Some(groups),
        Err(why) => {
            notes.push(format!("no control group for the users: {why}"));
            None
        }
    };
    check_working_sets(request, groups.is_some())?;
    let homes = make_homes(request, leftovers)?;
    limit(request, groups.as_mut(), &homes, leftovers)?;
    let load = &request.spec.load;
    let (users, every) = (load.users as usize, request.usage_interval());
    let demand = Demand { first_user: load.first_user, users, every, taskstats: true };
    let meter = UsageMeter::open(groups.as_ref(), demand, leftovers).map_err(RunRefusal::from_kernel)?;
    Ok(Prepared { destinations, groups: groups.map(Arc::new), meter, homes, by_place: Arc::default() })
}

/// Refuses a request for working sets that cannot be measured here.
fn check_working_sets(request: &Request, has_groups: bool) -> Result<(), RunRefusal> {
    if !request.working_sets {
        return Ok(());
    }
    working_sets::availability().map_err(|why| why.about("working_sets"))?;
    if !has_groups {
        let refusal = Refusal::new("`working_sets` needs a control group for the users, and none could be made");
        return Err(refusal.with_remedy("run as root").about("working_sets").into());
    }
    Ok(())
}

fn limit(request: &Request, groups: Option<&mut Groups>, homes: &Path, leftovers: &mut Leftovers) -> Result<(), RunRefusal> {
    let named = [("limit", request.limit.is_some()), ("limit_each", request.limit_each.is_some())];
    let Some((name, _)) = named.into_iter().find(|(_, is_given)| *is_given) else { return Ok(()) };
    let Some(groups) = groups else {
        let refusal = Refusal::new(format!("`{name}` needs a control group for the users, and none could be made"));
        return Err(refusal.with_remedy("run as root").about(name).into());
    };
    if let Some(limit) = &request.limit {
        limit.apply(groups, homes, leftovers)?;
    }
    if let Some(limits) = &request.limit_each {
        limits.apply(request.limit.as_ref().and_then(|limit| limit.cpus), groups, leftovers)?;
    }
    Ok(())
}

fn make_homes(request: &Request, leftovers: &mut Leftovers) -> Result<PathBuf, RunRefusal> {
    let homes = request.homes.join(own_name(&request.spec.id));
    let refused = |error| {
        let refusal = Refusal::new(format!("the users' homes cannot be made in {}", request.homes.display()));
        refusal.because(error).with_remedy("name another place in TMPDIR")
    };
    leftovers.note(Thing::Home(homes.clone())).map_err(refused)?;
    std::fs::DirBuilder::new().mode(0o700).create(&homes).map_err(refused)?;
    Ok(homes)
}
