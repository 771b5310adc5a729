//! The first process of a second kernel: makes a small transfer by every method there, both ways, and prints what came of it.
//!
//! Run by `tests/support/second_kernel.py` as `/init` of an emulated machine that has nothing else but modules and `ip`. Each line that it
//! prints is `loadgo`, what it is about, and its words, with tabs between; the last line is `loadgo`, `end`.

use loadgo_transfer::batch_host::NoJobs;
use loadgo_transfer::bounds::Bounds;
use loadgo_transfer::client::{Ask, transfer};
use loadgo_transfer::measuring::row::End;
use loadgo_transfer::moving::method::Method;
use loadgo_transfer::news;
use loadgo_transfer::protocol::wire::Direction;
use loadgo_transfer::server::{Serving, serve};
use loadgo_transfer_meters::meter_of_ends;
use rustix::mount::{MountFlags, mount};
use rustix::system::{RebootCommand, finit_module, reboot};
use std::error::Error;
use std::fs::{self, File};
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::thread;

/// Where the modules are, in the order of their names.
const MODULES: &str = "/modules";
/// Neither a whole number of messages nor of pages.
const SIZE: u64 = 300_001;
const FILE: &str = "/sent";

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
    println!("loadgo\twithout\t{}", said(Method::Ktls));
    let mut modules = fs::read_dir(MODULES)?.map(|entry| entry.map(|entry| entry.path())).collect::<Result<Vec<_>, _>>()?;
    modules.sort();
    for module in modules {
        finit_module(File::open(&module)?, c"", 0).map_err(|error| format!("{}: {error}", module.display()))?;
    }
    let up = Command::new("/bin/ip").args(["link", "set", "lo", "up"]).status()?;
    if up.success() { Ok(()) } else { Err("loopback does not come up".into()) }
}

fn said(method: Method) -> String {
    method.why_not().map_or_else(String::new, |why| why.to_string())
}

fn transfer_all() -> Result<(), Box<dyn Error>> {
    fs::write(FILE, (0..SIZE).map(|at| (at % 251) as u8).collect::<Vec<u8>>())?;
    let kept = PathBuf::from("/kept");
    fs::create_dir(&kept)?;
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let at = listener.local_addr()?;
    let (bounds, keep_in, jobs) = (Bounds::default(), Some(kept.clone()), Arc::new(NoJobs));
    let serving = Serving { bounds, token: None, keep_in, interrupts: meter_of_ends(), jobs };
    let (tells, _news) = news::channel(news::AT_ONCE);
    thread::spawn(move || serve(&listener, serving, Arc::default(), &tells));
    for method in Method::ALL {
        for direction in [Direction::Send, Direction::Receive] {
            let told = transferred(at, method, direction, &kept).unwrap_or_else(|why| format!("not made\t{why}"));
            println!("loadgo\t{}\t{direction:?}\t{told}", method.name());
        }
    }
    Ok(())
}

/// Both ends, in words; what was sent is compared with what was kept.
fn transferred(at: SocketAddr, method: Method, direction: Direction, kept: &Path) -> Result<String, Box<dyn Error>> {
    let sends = direction == Direction::Send;
    let ask = Ask {
        to: vec![at],
        token: None,
        direction,
        method,
        size: Some(SIZE),
        message: method.usual_message(),
        from: sends.then(|| FILE.into()),
        into: None,
        job: None,
        bounds: Bounds::default(),
        interrupts: meter_of_ends(),
    };
    let made = transfer(&ask, &Arc::default()).map_err(|why| why.words())?;
    let there = made.there?;
    let same = !sends || is_kept(kept)?;
    Ok(format!("{}\t{}\t{}", in_words(&made.here), in_words(&there), if same { "the same" } else { "not the same" }))
}

fn in_words(end: &End) -> String {
    let counted = end.counted.is_none_or(|counted| counted == end.moved.wire);
    let odd = if counted { "" } else { " but its socket counted otherwise" };
    match &end.broke_off {
        Some(why) => format!("broke off: {why}"),
        None => format!("{} bytes{odd}, {:?}", end.moved.payload, end.interrupts_by),
    }
}

/// Whether the one file that was kept is as it was sent; it is taken away.
fn is_kept(kept: &Path) -> Result<bool, Box<dyn Error>> {
    let files = fs::read_dir(kept)?.map(|entry| entry.map(|entry| entry.path())).collect::<Result<Vec<_>, _>>()?;
    let [file] = files.as_slice() else { return Err(format!("{} files were kept", files.len()).into()) };
    let same = fs::read(file)? == fs::read(FILE)?;
    fs::remove_file(file)?;
    Ok(same)
}
