//! Description of this host and its load: the sections `[system]` and `[conditions]` of `run.toml`.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

/// Properties of the host that stay the same during a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Description {
    /// The host's name.
    pub hostname: String,
    /// The kernel's release.
    pub kernel: String,
    /// The distribution's name for itself.
    pub distribution: String,
    /// The kind of machine, as `x86_64`.
    pub architecture: String,
    /// Processors that this process may use.
    pub processors: usize,
    /// The processor's name.
    pub processor: String,
    /// Time between two ticks of the kernel's timer, at which it ends the slices of processes.
    pub tick_ns: Option<u64>,
    /// Whether the kernel was started to keep idle virtual processors idle: a woken process stays at its last one.
    pub packs: bool,
    /// Memory of the host.
    pub memory_bytes: u64,
    /// Devices that the host pages to, as they were before the run.
    pub paging_devices: Vec<PagingDevice>,
}

/// A device or file that pages are written to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PagingDevice {
    /// The device's or file's path.
    pub name: String,
    /// The capacity of the device.
    pub size_bytes: u64,
    /// Part of the capacity that is in use.
    pub used_bytes: u64,
}

/// Properties of the host that change: read before the run and at its end.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Conditions {
    /// Averages of the number of processes that run or wait, over 1, 5 and 15 minutes.
    pub load_average: [f64; 3],
    /// People logged in, loadgo's users not counted; `None` when the host keeps no list.
    pub users_logged_in: Option<usize>,
    /// Memory that is available without paging.
    pub memory_available_bytes: u64,
}

/// Describes this host.
pub fn describe() -> Description {
    let memory = read("/proc/meminfo");
    Description {
        hostname: read("/proc/sys/kernel/hostname").trim().to_owned(),
        kernel: read("/proc/sys/kernel/osrelease").trim().to_owned(),
        distribution: distribution(&read("/etc/os-release")),
        architecture: std::env::consts::ARCH.to_owned(),
        processors: std::thread::available_parallelism().map_or(1, usize::from),
        processor: processor_name(&read("/proc/cpuinfo")),
        tick_ns: loadgo_sys::clock::tick_ns(),
        packs: packs_processors(&read("/proc/cmdline")),
        memory_bytes: kilobytes(&memory, "MemTotal:") * 1024,
        paging_devices: paging_devices(&read("/proc/swaps")),
    }
}

/// The conditions of this moment.
pub fn conditions() -> Conditions {
    let load = read("/proc/loadavg");
    let mut averages = load.split(' ').map(|word| word.parse().unwrap_or(0.0));
    Conditions {
        load_average: std::array::from_fn(|_| averages.next().unwrap_or(0.0)),
        users_logged_in: users_logged_in(),
        memory_available_bytes: kilobytes(&read("/proc/meminfo"), "MemAvailable:") * 1024,
    }
}

/// The first line of `PROGRAM --version`, for `versions`; `None` when the program does not say.
pub fn version_of(program: &str) -> Option<String> {
    let output = Command::new(program).arg("--version").stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let line = text.lines().find(|line| !line.trim().is_empty())?.trim().to_owned();
    output.status.success().then_some(line)
}

/// The devices in the text of `/proc/swaps`.
pub fn paging_devices(text: &str) -> Vec<PagingDevice> {
    let device = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [name, _, size, used, ..] = words[..] else { return None };
        let bytes = |word: &str| word.parse::<u64>().ok().map(|kilobytes| kilobytes * 1024);
        Some(PagingDevice { name: name.to_owned(), size_bytes: bytes(size)?, used_bytes: bytes(used)? })
    };
    text.lines().skip(1).filter_map(device).collect()
}

fn read(path: impl AsRef<Path>) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

fn distribution(os_release: &str) -> String {
    let value = os_release.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="));
    value.unwrap_or("").trim_matches('"').to_owned()
}

fn processor_name(cpuinfo: &str) -> String {
    let names = ["model name", "Model", "Processor", "cpu"];
    let named = |name: &str| {
        cpuinfo.lines().find_map(|line| line.split_once(':').filter(|(label, _)| label.trim() == name).map(|(_, value)| value))
    };
    names.iter().find_map(|name| named(name)).unwrap_or("").trim().to_owned()
}

/// Whether the kernel's command line asks it to pack work on virtual processors, which kernels of kernel.org cannot.
fn packs_processors(command_line: &str) -> bool {
    let mut values = command_line.split_whitespace().filter_map(|word| word.strip_prefix("sched_vcpu_pack="));
    values.next_back().is_some_and(|value| value != "0")
}

pub(crate) fn kilobytes(meminfo: &str, label: &str) -> u64 {
    let value = meminfo.lines().find_map(|line| line.strip_prefix(label));
    value.and_then(|value| value.split_whitespace().next()).and_then(|word| word.parse().ok()).unwrap_or(0)
}

/// Counts the living user sessions in the list that `who` reads.
fn users_logged_in() -> Option<usize> {
    let path = ["/run/utmp", "/var/run/utmp"].into_iter().find(|path| Path::new(path).exists())?;
    let bytes = fs::read(path).ok()?;
    Some(bytes.chunks_exact(size_of::<libc::utmpx>()).filter(|record| is_living_session(record)).count())
}

fn is_living_session(record: &[u8]) -> bool {
    let kind = i16::from_ne_bytes([record[0], record[1]]);
    let pid = i32::from_ne_bytes([record[4], record[5], record[6], record[7]]);
    kind == libc::USER_PROCESS && pid > 0 && Path::new(&format!("/proc/{pid}")).exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_host_is_described() {
        let here = describe();
        assert!(here.processors > 0 && here.memory_bytes > 0 && !here.kernel.is_empty());
        assert!(conditions().memory_available_bytes <= here.memory_bytes);
    }

    #[test]
    fn the_last_word_about_packing_counts() {
        assert!(packs_processors("quiet sched_vcpu_pack=15\n"));
        assert!(!packs_processors("quiet panic=1\n"));
        assert!(!packs_processors("sched_vcpu_pack=15 sched_vcpu_pack=0\n"));
    }

    #[test]
    fn paging_devices_are_in_bytes() {
        let text = "Filename\tType\tSize\tUsed\tPriority\n/dev/zram0   partition\t1024\t8\t-2\n";
        let device = PagingDevice { name: "/dev/zram0".into(), size_bytes: 1_048_576, used_bytes: 8192 };
        assert_eq!(paging_devices(text), [device]);
    }

    #[test]
    fn a_program_tells_its_version_or_none() {
        assert!(version_of("ls").is_some());
        assert_eq!(version_of("/nonexistent"), None);
    }

    #[test]
    fn only_sessions_whose_process_lives_are_counted() {
        let mut record = vec![0; size_of::<libc::utmpx>()];
        record[0] = libc::USER_PROCESS as u8;
        record[4..8].copy_from_slice(&(std::process::id() as i32).to_ne_bytes());
        assert!(is_living_session(&record));
        record[0] = libc::DEAD_PROCESS as u8;
        assert!(!is_living_session(&record));
    }
}
