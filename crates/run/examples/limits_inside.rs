//! The first process of a second kernel: runs with limits in a group of an ordinary user, as below a service manager. Another run goes
//! on while somebody sets the time of day. At last a program works under a processor quota of its user's own.
//!
//! `tests/support/second_kernel.py` runs it as `/init` of an emulated machine that has only a shell and `sleep` besides. Each printed
//! line is `loadgo`, the limit, a subject, and a result, with tabs between. The last line is `loadgo`, `end`.

use loadgo_core::load::OfferedLoad;
use loadgo_core::script::parse;
use loadgo_core::time::Instant;
use loadgo_host::groups::Groups;
use loadgo_host::leftovers::Leftovers;
use loadgo_host::limits::Limit;
use loadgo_host::limits::each::{EachLimit, UserLimits};
use loadgo_host::scheduling::Wanted;
use loadgo_host::usage::meter::UsageMeter;
use loadgo_host::usage::sources::Demand;
use loadgo_run::{Decision, DriverOrders, Request, RunSpec, TierAsked, run};
use rustix::mount::{MountFlags, mount};
use rustix::system::{RebootCommand, reboot};
use rustix::time::{ClockId, Timespec, clock_gettime, clock_settime};
use std::error::Error;
use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::io::{BufRead, BufReader, Write, stdin};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

/// The user's group, which has the memory controller, and no other.
const SESSION: &str = "/sys/fs/cgroup/session";
const USER_ID: u32 = 1000;
/// A limit that the group allows, one of which the second part is refused, and one of each user.
const LIMITS: [&str; 3] = ["memory=64M", "memory=64M,cpus=1", "each memory=64M"];
/// One user, and a program beside, which is in the user's group when the limits are applied. The user's last program grows until the
/// kernel kills it.
const SCRIPT: &str = "name = \"limited\"\nlogin = \"sh\"\nthink = \"none\"\nlines = [\"echo a\", \"echo b\", \"sh -c 'x=grows; while :; do x=$x$x; done'\"]\n\
                      [beside]\nSERVICE = \"sh -c 'echo here; sleep 1000'\"\n";

/// A user who types for some seconds.
const LONG_SCRIPT: &str =
    "name = \"long\"\nlogin = \"sh\"\nthink = \"fixed(200ms)\"\nlines = [{ type = \"echo a\", repeat = 20 }]\n";
/// A program that works for about a second of an emulated processor when it is told to, and says when it has done so.
const WORK: &str = "read go; i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; echo done; read end";
/// Numbers of interactions after which the time of day is set, each with the change in seconds.
const STEPS_OF_CLOCK: [(u64, i64); 2] = [(3, 3600), (10, -7200)];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [limit] = arguments.as_slice() {
        return println!("loadgo\t{limit}\trun\t{}", limited_run(limit).unwrap_or_else(|reason| format!("refused: {reason}")));
    }
    if let Err(error) = prepare()
        .and_then(|()| LIMITS.iter().try_for_each(|limit| run_as_user(limit)))
        .and_then(|()| run_with_steps_of_clock())
        .and_then(|()| work_under_quota())
    {
        println!("loadgo\tfailed\t{error}");
    }
    println!("loadgo\tend");
    reboot(RebootCommand::PowerOff).expect("the first process may power off");
}

fn prepare() -> Result<(), Box<dyn Error>> {
    let systems = [
        ("proc", "/proc"),
        ("sysfs", "/sys"),
        ("devtmpfs", "/dev"),
        ("devpts", "/dev/pts"),
        ("tmpfs", "/tmp"),
        ("cgroup2", "/sys/fs/cgroup"),
    ];
    for (kind, at) in systems {
        fs::create_dir_all(at)?;
        mount("none", at, kind, MountFlags::empty(), None)?;
    }
    fs::set_permissions("/tmp", Permissions::from_mode(0o1777))?;
    for path in ["/dev/ptmx", "/dev/null", "/dev/tty"] {
        fs::set_permissions(path, Permissions::from_mode(0o666))?;
    }
    fs::write("/sys/fs/cgroup/cgroup.subtree_control", "+memory")?;
    fs::create_dir(SESSION)?;
    for path in [SESSION.into(), format!("{SESSION}/cgroup.procs"), format!("{SESSION}/cgroup.subtree_control")] {
        chown(&path, Some(USER_ID), Some(USER_ID)).map_err(|error| format!("{path}: {error}"))?;
    }
    Ok(())
}

/// Lets the user run with `limit`, and prints how the process ended and what it left.
fn run_as_user(limit: &str) -> Result<(), Box<dyn Error>> {
    let mut child =
        Command::new("/init").arg(limit).uid(USER_ID).gid(USER_ID).current_dir("/tmp").stdin(Stdio::piped()).spawn()?;
    fs::write(format!("{SESSION}/cgroup.procs"), child.id().to_string())?;
    child.stdin.take().ok_or("it has an input")?.write_all(b"go\n")?;
    let status = child.wait()?;
    println!("loadgo\t{limit}\tsignal\t{}", status.signal().unwrap_or(0));
    let groups = fs::read_dir(SESSION)?.flatten().filter(|entry| entry.path().is_dir()).count();
    println!("loadgo\t{limit}\tgroups\t{groups}");
    println!("loadgo\t{limit}\tcontrollers\t{}", fs::read_to_string(format!("{SESSION}/cgroup.subtree_control"))?.trim());
    Ok(())
}

/// Runs the script with `limit`, after this process has been moved into the user's group.
fn limited_run(limit: &str) -> Result<String, Box<dyn Error>> {
    stdin().read_line(&mut String::new())?;
    let limit_of_each = limit.strip_prefix("each ");
    let limit_of_all = limit_of_each.is_none().then_some(limit);
    let request = Request {
        limit: limit_of_all.map(Limit::parse).transpose().map_err(|refusal| refusal.to_string())?,
        limit_each: limit_of_each
            .map(EachLimit::parse)
            .transpose()
            .map_err(|refusal| refusal.to_string())?
            .map(UserLimits::of_everybody),
        ..request("limited", &format!("/tmp/{limit}"), SCRIPT)?
    };
    let finished = run(&request, |_| Decision::Continue).map_err(|failure| failure.refusal.to_string())?;
    let own = fs::read_to_string("/proc/self/cgroup")?;
    let group = Path::new(own.trim().trim_start_matches("0::")).display().to_string();
    let run_toml = fs::read_to_string(format!("/tmp/{limit}/run.toml"))?;
    let kills = run_toml.lines().find(|line| line.starts_with("users_memory_kills_end")).unwrap_or("not counted");
    println!("loadgo\t{limit}\tkills\t{kills}");
    Ok(format!("{}, {} lines, left behind {:?}, in {group}", finished.outcome, finished.interactions, finished.left_behind))
}

/// A run without limits and meters.
fn request(name: &str, folder: &str, script: &str) -> Result<Request, Box<dyn Error>> {
    let spec = RunSpec {
        id: name.into(),
        folder: folder.into(),
        script_name: name.into(),
        script_text: script.into(),
        script: Arc::new(parse(script).map_err(|mistake| format!("{mistake:?}"))?),
        load: OfferedLoad::closed(1, 1),
        until: None,
        command: Vec::new(),
        fail_if: Vec::new(),
    };
    Ok(Request {
        spec,
        limit: None,
        limit_each: None,
        scheduling: Wanted::default(),
        meters: TierAsked::No,
        usage_every: None,
        working_sets: false,
        homes: "/tmp".into(),
        search_path: "/bin".into(),
        other_host: None,
        orders: DriverOrders::default(),
        controller: None,
    })
}

/// Runs while the time of day is set, forwards and back, and prints what the run's own clock said.
fn run_with_steps_of_clock() -> Result<(), Box<dyn Error>> {
    let mut steps = STEPS_OF_CLOCK.iter().peekable();
    let (mut stepped, mut latest) = (0, Instant(0));
    let finished = run(&request("clock", "/tmp/clock", LONG_SCRIPT)?, |progress| {
        if let Some((_, seconds)) = steps.next_if(|(interactions, _)| progress.interactions >= *interactions) {
            let now = clock_gettime(ClockId::Realtime);
            let set = clock_settime(ClockId::Realtime, Timespec { tv_sec: now.tv_sec + seconds, ..now });
            stepped += u32::from(set.is_ok());
        }
        latest = latest.max(progress.at);
        Decision::Continue
    });
    let finished = finished.map_err(|failure| failure.refusal.to_string())?;
    let (seconds, lines, lost) = (latest.0 / 1_000_000_000, finished.interactions, finished.notes.len());
    println!("loadgo\tclock\tsteps\t{stepped}");
    println!("loadgo\tclock\trun\t{}, {lines} lines, {lost} notes", finished.outcome);
    println!("loadgo\tclock\tseconds\t{seconds}");
    Ok(())
}

/// Lets a program work under a quota of a fifth of a processor, and prints which part of its time was processor time or throttled.
fn work_under_quota() -> Result<(), Box<dyn Error>> {
    let mut leftovers = Leftovers::begin("quota")?;
    let mut groups = Groups::create("quota", &mut leftovers).map_err(|refusal| refusal.to_string())?;
    let limits = UserLimits::of_everybody(EachLimit::parse("cpus=0.2").map_err(|refusal| refusal.to_string())?);
    limits.apply(None, &mut groups, &mut leftovers).map_err(|refusal| refusal.to_string())?;
    let demand = Demand { first_user: 1, users: 1, every: 1, taskstats: true };
    let mut meter = UsageMeter::open(Some(&groups), demand, &mut leftovers)?;
    groups.add_user(1)?;
    let mut child = Command::new("/bin/sh").args(["-c", WORK]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    for path in groups.join_paths(1) {
        fs::write(OsStr::from_bytes(path.as_bytes()), child.id().to_string())?;
    }
    meter.began(1, child.id());
    meter.interaction(1);
    let (mut input, output) = (child.stdin.take().ok_or("an input")?, child.stdout.take().ok_or("an output")?);
    let sent = std::time::Instant::now();
    input.write_all(b"go\n")?;
    BufReader::new(output).read_line(&mut String::new())?;
    let (response_ns, usage) = (sent.elapsed().as_nanos() as u64, meter.interaction(1));
    drop(input);
    child.wait()?;
    let cpu_ns = usage.cpu_user_ns.unwrap_or(0) + usage.cpu_system_ns.unwrap_or(0);
    let throttled_ns = usage.throttled_ns.ok_or("the throttled time is not known")?;
    println!("loadgo\tquota\tresponse\t{response_ns}");
    println!("loadgo\tquota\tcpu\t{cpu_ns}");
    println!("loadgo\tquota\tthrottled\t{throttled_ns}");
    println!("loadgo\tquota\tleft\t{:?}", leftovers.finish().iter().map(ToString::to_string).collect::<Vec<_>>());
    Ok(())
}
