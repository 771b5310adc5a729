//! Preparation of the host before the first log-in: control groups, limits, homes, and the meter of their usage.

use crate::commands::numbers_by_line;
use crate::refusal::RunRefusal;
use crate::request::Request;
use loadgo_core::script::Script;
use loadgo_host::groups::Groups;
use loadgo_host::leftovers::{Leftovers, Thing};
use loadgo_host::refusal::Refusal;
use loadgo_host::terminals::host::Setting;
use loadgo_host::terminals::login::Login;
use loadgo_host::usage::meter::UsageMeter;
use loadgo_host::usage::sources::{Demand, Sources};
use loadgo_meters::Meters;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Everything that was made for the users.
pub(crate) struct Prepared {
    pub login: Login,
    pub groups: Option<Arc<Groups>>,
    pub meter: UsageMeter,
    pub homes: PathBuf,
    pub sources: Sources,
}

impl Prepared {
    /// The settings of the host's system for a run that began at `origin_ns`.
    pub(crate) fn setting(&self, request: &Request, origin_ns: u64) -> Setting {
        Setting {
            script: Arc::clone(&request.spec.script),
            login: self.login.clone(),
            search_path: request.search_path.clone(),
            run_id: request.spec.id.clone(),
            homes: self.homes.clone(),
            origin_ns,
        }
    }

    /// Lets the kernel meters measure each interaction's waits, if they keep accounts of waits and can see the users' processes.
    pub(crate) fn take_waits_from(&mut self, meters: Option<&mut Meters>, script: &Script) {
        if self.login.is_out_of_reach() {
            return;
        }
        if let Some(waits) = meters.and_then(|meters| meters.waits(numbers_by_line(script))) {
            self.meter.take_waits_from(Box::new(waits));
            self.sources = self.meter.sources().clone();
        }
    }
}

/// Makes all that the users need. Each thing is noted in `leftovers` before it is made.
pub(crate) fn prepare(request: &Request, leftovers: &mut Leftovers, notes: &mut Vec<String>) -> Result<Prepared, RunRefusal> {
    let login = request.login()?;
    let mut groups = match Groups::create(&request.spec.id, leftovers) {
        Ok(groups) => Some(groups),
        Err(why) => {
            notes.push(format!("no control group for the users: {why}"));
            None
        }
    };
    let homes = make_homes(request, leftovers)?;
    limit(request, groups.as_mut(), &homes, leftovers)?;
    let demand = Demand { users: request.spec.load.users as usize, every: request.usage_interval(), taskstats: true };
    let meter = UsageMeter::open(groups.as_ref(), demand, leftovers).map_err(RunRefusal::from_kernel)?;
    let sources = if login.is_out_of_reach() { out_of_reach(&login, request.usage_interval()) } else { meter.sources().clone() };
    Ok(Prepared { login, groups: groups.map(Arc::new), meter, homes, sources })
}

/// Sources of usage for users whose programs run where this host's meters do not see them.
fn out_of_reach(login: &Login, every: u32) -> Sources {
    let words = &login.words[0];
    let note =
        format!("users log in with {words}: this host's meters do not reach the programs that they run; run loadgo on that host");
    Sources { every, notes: vec![note], ..Sources::default() }
}

fn limit(request: &Request, groups: Option<&mut Groups>, homes: &Path, leftovers: &mut Leftovers) -> Result<(), RunRefusal> {
    let Some(limit) = &request.limit else { return Ok(()) };
    let Some(groups) = groups else {
        let refusal = Refusal::new("`limit` needs a control group for the users, and none could be made");
        return Err(refusal.with_remedy("run as root").about("limit").into());
    };
    limit.apply(groups, homes, leftovers)?;
    Ok(())
}

/// Number of runs of this process so far.
static RUNS: AtomicU32 = AtomicU32::new(0);

/// The name of the directory for homes, different for each run of this process.
fn homes_name(run_id: &str) -> String {
    let (process, run) = (std::process::id(), RUNS.fetch_add(1, Ordering::Relaxed));
    if run == 0 { format!("loadgo-{run_id}-{process}") } else { format!("loadgo-{run_id}-{process}-{run}") }
}

fn make_homes(request: &Request, leftovers: &mut Leftovers) -> Result<PathBuf, RunRefusal> {
    let homes = request.homes.join(homes_name(&request.spec.id));
    let refused = |error| {
        let refusal = Refusal::new(format!("the users' homes cannot be made in {}", request.homes.display()));
        refusal.because(error).with_remedy("name another place in TMPDIR")
    };
    leftovers.note(Thing::Home(homes.clone())).map_err(refused)?;
    std::fs::DirBuilder::new().mode(0o700).create(&homes).map_err(refused)?;
    Ok(homes)
}
