//! The first process of a second kernel: makes a small transfer by every method in both directions, and prints the results.
//!
//! `tests/support/second_kernel.py` runs it as `/init` of an emulated machine that has only modules and `ip` besides. Each printed
//! line is `loadgo`, a subject, and a result, with tabs between. The last line is `loadgo`, `end`.

use loadgo_transfer::batch_host::NoJobs;
use loadgo_transfer::bounds::TransferLimits;
use loadgo_transfer::client::{TransferOrder, transfer};
use loadgo_transfer::measuring::row::EndRow;
use loadgo_transfer::moving::method::Method;
use loadgo_transfer::news;
use loadgo_transfer::protocol::wire::Direction;
use loadgo_transfer::server::{ServerOptions, serve};
use loadgo_transfer_meters::interrupt_meter_for_ends;
use rustix::mount::{MountFlags, mount};
use rustix::system::{RebootCommand, finit_module, reboot};
use std::error::Error;
use std::fs::{self, File};
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::thread;

/// Folder of the kernel modules, which are loaded in the order of their names.
const MODULES_FOLDER: &str = "/modules";
/// Size of a transfer, neither a whole number of messages nor of pages.
const TRANSFER_BYTES: u64 = 300_001;
/// Size of a transfer whose every byte is a call of its own: these are slow where all is emulated.
const SINGLE_BYTES: u64 = 20_001;
const SENT_FILE: &str = "/sent";

fn main() {
    if let Err(error) = prepare().and_then(|()| transfer_all()) {
        println!("loadgo\tfailed\t{error}");
    }
    println!("loadgo\tend");
    reboot(RebootCommand::PowerOff).expect("the first process may power off");
}

fn prepare() -> Result<(), Box<dyn Error>> {
    for (kind, at) in [("proc", "/proc"), ("sysfs", "/sys"), ("devtmpfs", "/dev")] {
        fs::create_dir_all(at)?;
        mount("none", at, kind, MountFlags::empty(), None)?;
    }
    println!("loadgo\tkernel\t{}", fs::read_to_string("/proc/sys/kernel/osrelease")?.trim());
    println!("loadgo\twithout\t{}", unavailable_reason(Method::Ktls));
    let mut modules =
        fs::read_dir(MODULES_FOLDER)?.map(|entry| entry.map(|entry| entry.path())).collect::<Result<Vec<_>, _>>()?;
    modules.sort();
    for module in modules {
        finit_module(File::open(&module)?, c"", 0).map_err(|error| format!("{}: {error}", module.display()))?;
    }
    let up = Command::new("/bin/ip").args(["link", "set", "lo", "up"]).status()?;
    if up.success() { Ok(()) } else { Err("loopback does not come up".into()) }
}

fn unavailable_reason(method: Method) -> String {
    method.unavailable_reason().map_or_else(String::new, |why| why.to_string())
}

fn transfer_all() -> Result<(), Box<dyn Error>> {
    let kept_folder = PathBuf::from("/kept");
    fs::create_dir(&kept_folder)?;
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let at = listener.local_addr()?;
    let (bounds, keep_in, jobs) = (TransferLimits::default(), Some(kept_folder.clone()), Arc::new(NoJobs));
    let serving = ServerOptions { bounds, token: None, keep_in, interrupts: interrupt_meter_for_ends(), jobs };
    let (news_sender, _news) = news::channel(news::MOST_WAITING_REPORTS);
    thread::spawn(move || serve(&listener, serving, Default::default(), &news_sender));
    for method in Method::ALL {
        fs::write(SENT_FILE, (0..size_of_transfer(method)).map(|at| (at % 251) as u8).collect::<Vec<u8>>())?;
        for direction in [Direction::Send, Direction::Receive] {
            let result = transfer_once(at, method, direction, &kept_folder);
            let result = result.unwrap_or_else(|reason| format!("not made\t{reason}"));
            println!("loadgo\t{}\t{direction:?}\t{result}", method.name());
        }
    }
    Ok(())
}

fn size_of_transfer(method: Method) -> u64 {
    if method == Method::Bytes { SINGLE_BYTES } else { TRANSFER_BYTES }
}

/// Makes one transfer and describes both ends; for a sent file also whether the kept one is the same.
fn transfer_once(at: SocketAddr, method: Method, direction: Direction, kept_folder: &Path) -> Result<String, Box<dyn Error>> {
    let sends = direction == Direction::Send;
    let order = TransferOrder {
        to: vec![at],
        token: None,
        direction,
        method,
        size: Some(size_of_transfer(method)),
        message: method.default_message_bytes(),
        from: sends.then(|| SENT_FILE.into()),
        into: None,
        job: None,
        bounds: TransferLimits::default(),
        interrupts: interrupt_meter_for_ends(),
    };
    let ends = transfer(&order, &Default::default())?;
    let there = ends.there?;
    let same = !sends || is_kept(kept_folder)?;
    Ok(format!("{}\t{}\t{}", in_words(&ends.here), in_words(&there), if same { "the same" } else { "not the same" }))
}

fn in_words(end: &EndRow) -> String {
    let counted = end.counted.is_none_or(|counted| counted == end.moved.wire);
    let odd = if counted { "" } else { " but its socket counted otherwise" };
    match &end.broke_off {
        Some(why) => format!("broke off: {why}"),
        None => format!("{} bytes{odd}, {:?}", end.moved.payload, end.interrupts_by),
    }
}

/// Whether the one kept file is the same as the sent one. The kept file is removed.
fn is_kept(kept_folder: &Path) -> Result<bool, Box<dyn Error>> {
    let files = fs::read_dir(kept_folder)?.map(|entry| entry.map(|entry| entry.path())).collect::<Result<Vec<_>, _>>()?;
    let [file] = files.as_slice() else { return Err(format!("{} files were kept", files.len()).into()) };
    let same = fs::read(file)? == fs::read(SENT_FILE)?;
    fs::remove_file(file)?;
    Ok(same)
}
