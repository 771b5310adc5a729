//! The answers of `loadgo doctor`: the measurements that this host permits, and why others are not possible.
//!
//! Each measurement is tried, because configuration files do not say what really works.

mod answer;
pub mod preflight;
mod room;
mod timer;

use std::fs;
use std::io;
use std::os::fd::AsFd;
use std::path::Path;

use crate::groups::Groups;
use crate::groups::hierarchy::{Hierarchy, Version, hierarchies};
use crate::leftovers::Leftovers;
use crate::limits::each::{EachLimit, UserLimits};
use crate::refusal::Refusal;
use crate::usage::sources::{DELAY_ACCOUNTING, open_taskstats};
use crate::usage::working_sets;
use loadgo_sys::perf::{EventScope, try_clock_event};
use loadgo_sys::scheduling::{Policy, set_policy};
use loadgo_sys::tcp;
use loadgo_sys::{kernel_tls, uring};

use answer::read;
pub use answer::{Answer, State};

/// Tries every ability; takes about a tenth of a second and leaves nothing behind.
pub fn probe() -> Vec<Answer> {
    let mut answers = room::answers();
    let kernel = open_taskstats(1).map(drop);
    let time = processor_time();
    let memory = referred_memory(&time);
    answers.extend([time, memory]);
    answers.extend(faults_and_waits(&kernel));
    answers.extend([delays(&kernel), pressure(), fifo(), own_processor(), paging()]);
    answers.extend([limit("memory limits", "memory"), limit("processor limits", "cpu")]);
    let each = [("limits of each user's processes", "pids=100"), ("limits of each user's disk traffic", "io=1G")];
    answers.extend(each.map(|(ability, text)| limit_each(ability, text)));
    answers.extend([perf_events(), types(), tracepoints(), clock(), timer_lateness()]);
    answers.extend([
        tried("rings of calls (io_uring)", "io_uring_setup", uring::unavailable_reason().map(Refusal::from)),
        tried("TLS by the kernel", "setsockopt TCP_ULP", kernel_tls::unavailable_reason().map(Refusal::from)),
        tried("sending without a copy (MSG_ZEROCOPY)", "setsockopt SO_ZEROCOPY", without_copy()),
    ]);
    answers
}

/// The answer about an ability that is either fully available, by the call `how`, or absent.
fn tried(ability: &'static str, how: &str, why_not: Option<Refusal>) -> Answer {
    match why_not {
        None => Answer::exact(ability, how),
        Some(refusal) => Answer::absent(ability, refusal),
    }
}

fn without_copy() -> Option<Refusal> {
    let socket = rustix::net::socket(rustix::net::AddressFamily::INET, rustix::net::SocketType::STREAM, None);
    let enabled = socket.map_err(io::Error::from).and_then(|socket| tcp::enable_zerocopy(socket.as_fd()));
    enabled.err().map(|error| Refusal::new("SO_ZEROCOPY").because(error).with_remedy("Linux 4.14 or later"))
}

fn processor_time() -> Answer {
    let ability = "processor time of each user";
    let with_group = || -> Result<String, Refusal> {
        let mut leftovers =
            Leftovers::begin("doctor").map_err(|error| Refusal::new("no place for the run's state").because(error))?;
        let groups = Groups::create("doctor", &mut leftovers)?;
        let (name, step) = match groups.version() {
            Version::V2 => ("cgroup v2", "microseconds"),
            Version::V1 => ("cgroup v1", "nanoseconds"),
        };
        Ok(format!("{name}, in {step}, below {}", groups.path().parent().unwrap_or(Path::new("/")).display()))
    };
    match with_group() {
        Ok(how) => Answer::exact(ability, how),
        Err(why) => Answer::estimated(ability, "/proc, in clock ticks of 10 ms for processes that have ended", why),
    }
}

/// Working sets need the kernel's marks, and a group for the users, as their processor time does.
fn referred_memory(time: &Answer) -> Answer {
    let ability = "memory that the users refer to (--working-sets)";
    match working_sets::availability() {
        Err(why) => Answer::absent(ability, why),
        Ok(()) if time.state == State::Exact => Answer::exact(ability, "marks of pages, cleared and read in /proc/PID"),
        Ok(()) => {
            let (why_not, remedy) = (time.why_not.clone(), time.remedy.clone());
            Answer { ability, state: State::Absent, how: String::new(), why_not, remedy }
        }
    }
}

fn faults_and_waits(kernel: &Result<(), Refusal>) -> [Answer; 2] {
    let (faults, waits) = ("page faults of each user", "waits of each user");
    match kernel {
        Ok(()) => [Answer::exact(faults, "taskstats"), Answer::exact(waits, "taskstats")],
        Err(why) => [
            Answer::exact(faults, "/proc/PID/stat"),
            Answer::estimated(waits, "/proc/PID/schedstat, for commands that start no process", why.clone()),
        ],
    }
}

fn delays(kernel: &Result<(), Refusal>) -> Answer {
    let ability = "paging and I/O waits (delay accounting)";
    if let Err(why) = kernel {
        return Answer::absent(ability, why.clone());
    }
    match fs::read_to_string(DELAY_ACCOUNTING) {
        Err(error) => Answer::absent(
            ability,
            Refusal::new(DELAY_ACCOUNTING).because(error).with_remedy("a kernel with CONFIG_TASK_DELAY_ACCT"),
        ),
        Ok(text) if text.trim() == "1" => Answer::exact(ability, "on"),
        Ok(_) if fs::OpenOptions::new().write(true).open(DELAY_ACCOUNTING).is_ok() => {
            Answer::exact(ability, "off; a run switches it on and off again")
        }
        Ok(_) => Answer::absent(
            ability,
            Refusal::new("it is off and only root may switch it on").with_remedy("sysctl kernel.task_delayacct=1"),
        ),
    }
}

fn pressure() -> Answer {
    let ability = "pressure of the whole host (PSI)";
    match fs::read_to_string("/proc/pressure/memory") {
        Ok(_) => Answer::exact(ability, "/proc/pressure"),
        Err(error) => {
            Answer::absent(ability, Refusal::new("/proc/pressure").because(error).with_remedy("the boot parameter psi=1"))
        }
    }
}

/// Tries SCHED_FIFO in a thread of its own, which ends at once.
fn fifo() -> Answer {
    let ability = "a driver that is never kept waiting (SCHED_FIFO)";
    let tried = std::thread::Builder::new().spawn(|| set_policy(Policy::Fifo(1)));
    match tried.and_then(|tried| tried.join().expect("the thread does not panic")) {
        Ok(()) => Answer::exact(ability, "permitted"),
        Err(error) => Answer::absent(ability, Refusal::new("SCHED_FIFO").because(error).with_remedy(fifo_remedy(&hierarchies()))),
    }
}

/// The remedy for a refused SCHED_FIFO. A new group of cgroup v1 has no real-time runtime where the kernel shares it out among groups
/// (CONFIG_RT_GROUP_SCHED). There root is refused, too. Containers are in such groups.
fn fifo_remedy(hierarchies: &[Hierarchy]) -> String {
    let cpu = hierarchies.iter().find(|hierarchy| hierarchy.version == Version::V1 && hierarchy.has("cpu"));
    match cpu.map(|cpu| cpu.own.join("cpu.rt_runtime_us")) {
        Some(share) if read(&share.to_string_lossy()).trim() == "0" => format!(
            "give this control group a real-time runtime, as root: echo 100000 >{}, and the groups above it one; a container: `--cpu-rt-runtime=100000`",
            share.display()
        ),
        _ => "run as root, or grant CAP_SYS_NICE, or a line `rtprio 10` in /etc/security/limits.conf".to_owned(),
    }
}

fn own_processor() -> Answer {
    let ability = "a processor for the driver alone";
    match std::thread::available_parallelism().map_or(1, usize::from) {
        1 => Answer::absent(
            ability,
            Refusal::new("this process may use one processor only").with_remedy("a machine, or a set, of two or more"),
        ),
        several => Answer::exact(ability, format!("one of {several}, by affinity; others may still use it")),
    }
}

fn paging() -> Answer {
    let ability = "a paging device for the run (a limit's swap=)";
    let root = rustix::process::geteuid().is_root();
    let now = crate::conditions::paging_devices(&read("/proc/swaps"));
    let there = now.iter().map(|device| device.name.as_str()).collect::<Vec<_>>().join(", ");
    let there = if there.is_empty() { "none is in use now".to_owned() } else { format!("in use now: {there}") };
    let zram = Path::new("/sys/class/zram-control/hot_add").exists();
    match (root, zram) {
        (true, true) => Answer::exact(ability, format!("zram or a file; {there}")),
        (true, false) => Answer::estimated(
            ability,
            format!("a file; {there}"),
            Refusal::new("this kernel has no zram").with_remedy("modprobe zram"),
        ),
        (false, _) => Answer::absent(ability, Refusal::new("only root may page to a new device").with_remedy("run as root")),
    }
}

fn limit(ability: &'static str, controller: &str) -> Answer {
    let found = hierarchies();
    let Some(holder) = found.iter().find(|hierarchy| hierarchy.has(controller)) else {
        return Answer::absent(
            ability,
            Refusal::new(format!("no control group tree holds {controller}")).with_remedy("a kernel with it switched on"),
        );
    };
    tried_on_groups(ability, |groups, leftovers| {
        groups.with_controller(controller, leftovers)?;
        Ok(format!("the controller {controller} of {:?} at {}", holder.version, holder.mount.display()).to_lowercase())
    })
}

/// Tries a limit of each user on groups that nobody joins.
fn limit_each(ability: &'static str, text: &str) -> Answer {
    tried_on_groups(ability, |groups, leftovers| {
        UserLimits::of_everybody(EachLimit::parse(text)?).apply(None, groups, leftovers)?;
        Ok(format!("a control group for each user took {text}"))
    })
}

/// The answer about an ability that is tried on groups of a run; they are removed at the end.
fn tried_on_groups(ability: &'static str, try_it: impl FnOnce(&mut Groups, &mut Leftovers) -> Result<String, Refusal>) -> Answer {
    let tried = || -> Result<String, Refusal> {
        let mut leftovers =
            Leftovers::begin("doctor").map_err(|error| Refusal::new("no place for the run's state").because(error))?;
        let mut groups = Groups::create("doctor", &mut leftovers)?;
        try_it(&mut groups, &mut leftovers)
    };
    tried().map_or_else(|why| Answer::absent(ability, why), |how| Answer::exact(ability, how))
}

fn perf_events() -> Answer {
    let ability = "perf events";
    let paranoid = read("/proc/sys/kernel/perf_event_paranoid");
    match (try_clock_event(EventScope::AllProcesses), try_clock_event(EventScope::OwnProcess)) {
        (Ok(()), _) => Answer::exact(ability, format!("permitted (perf_event_paranoid is {paranoid})")),
        (Err(error), Ok(())) => {
            let what = format!("whole host: no ({error}; perf_event_paranoid is {paranoid})");
            let remedy = "run as root, or grant CAP_PERFMON and CAP_SYSLOG";
            Answer::estimated(
                ability,
                "a command of yours: yes (loadgo profile -- COMMAND)",
                Refusal::new(what).with_remedy(remedy),
            )
        }
        (Err(_), Err(error)) => {
            let what = format!("perf_event_open: {error} (perf_event_paranoid is {paranoid})");
            let remedy = "run as root, or grant CAP_PERFMON, or, for commands of one's own, sysctl kernel.perf_event_paranoid=2";
            Answer::absent(ability, Refusal::new(what).with_remedy(remedy))
        }
    }
}

/// Whether a user's own command can be profiled, without the kernel's part; the call is tried.
pub fn profiles_a_command() -> bool {
    try_clock_event(EventScope::OwnProcess).is_ok()
}

fn types() -> Answer {
    let ability = "types of the kernel's data (BTF)";
    match fs::metadata("/sys/kernel/btf/vmlinux") {
        Ok(found) => Answer::exact(ability, format!("/sys/kernel/btf/vmlinux, {} KB", found.len() >> 10)),
        Err(error) => {
            Answer::absent(ability, Refusal::new("no BTF").because(error).with_remedy("a kernel with CONFIG_DEBUG_INFO_BTF"))
        }
    }
}

fn tracepoints() -> Answer {
    let ability = "tracepoints";
    let places = ["/sys/kernel/tracing/events", "/sys/kernel/debug/tracing/events"];
    let looked = places.map(|path| (path, fs::metadata(path)));
    if let Some((path, _)) = looked.iter().find(|(_, found)| found.as_ref().is_ok_and(fs::Metadata::is_dir)) {
        return Answer::exact(ability, *path);
    }
    let refused = |found: &io::Result<_>| found.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::PermissionDenied);
    if let Some((path, _)) = looked.iter().find(|(_, found)| refused(found)) {
        return Answer::absent(ability, Refusal::new(format!("{path} is not readable")).with_remedy("run as root"));
    }
    let known = read("/proc/filesystems").lines().any(|line| line.ends_with("tracefs"));
    match known {
        true => Answer::absent(
            ability,
            Refusal::new("tracefs is not mounted").with_remedy("mount -t tracefs tracefs /sys/kernel/tracing"),
        ),
        false => Answer::absent(ability, Refusal::new("this kernel has no tracefs").with_remedy("a kernel with CONFIG_TRACING")),
    }
}

fn clock() -> Answer {
    let ability = "a clock without a system call";
    let source = read("/sys/devices/system/clocksource/clocksource0/current_clocksource");
    let (read_ns, call_ns) = (timer::clock_read_ns(), timer::system_call_ns());
    let how = format!("{source}, {read_ns} ns a reading ({call_ns} ns through a system call)");
    match read_ns * 2 < call_ns {
        true => Answer::exact(ability, how),
        false => {
            let why = format!("the clock {source} cannot be read without a system call");
            Answer::estimated(
                ability,
                how,
                Refusal::new(why).with_remedy("clocksource=tsc at boot, where the host's tsc is steady"),
            )
        }
    }
}

fn timer_lateness() -> Answer {
    let ability = "timers";
    match timer::lateness(200, 200_000) {
        Ok(late) => {
            let microseconds = |ns: u64| ns as f64 / 1000.0;
            let (half, most) = (microseconds(late[99]), microseconds(late[197]));
            let how = format!("{half:.0} us late at the median, {most:.0} us at p99, in 200 sleeps of 200 us");
            match late[197] <= 1_000_000 {
                true => Answer::exact(ability, how),
                false => Answer::estimated(
                    ability,
                    how,
                    Refusal::new("timers are over a millisecond late").with_remedy("a less loaded host, or SCHED_FIFO"),
                ),
            }
        }
        Err(error) => Answer::absent(ability, Refusal::new("timerfd").because(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_answer_says_how_or_why_not() {
        let answers = probe();
        for answer in &answers {
            let (has_how, has_why) = (!answer.how.is_empty(), !answer.why_not.is_empty());
            let consistent = match answer.state {
                State::Exact => has_how && !has_why,
                State::Estimated => has_how && has_why,
                State::Absent => !has_how && has_why,
            };
            assert!(consistent, "{answer:?}");
        }
        let mut abilities: Vec<_> = answers.iter().map(|answer| answer.ability).collect();
        abilities.sort_unstable();
        abilities.dedup();
        assert_eq!(abilities.len(), answers.len());
    }

    #[test]
    fn a_group_without_real_time_runtime_is_the_reason_that_root_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let group = Hierarchy {
            version: Version::V1,
            mount: folder.path().to_owned(),
            own: folder.path().to_owned(),
            controllers: vec!["cpu".to_owned()],
        };
        let share = folder.path().join("cpu.rt_runtime_us");
        fs::write(&share, "0\n").expect("written");
        assert!(fifo_remedy(std::slice::from_ref(&group)).contains(&format!(">{}", share.display())));
        fs::write(&share, "950000\n").expect("written");
        assert!(fifo_remedy(&[group]).starts_with("run as root"));
        assert!(fifo_remedy(&[]).starts_with("run as root"));
    }
}
