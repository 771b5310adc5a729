//! Compiles the kernel programs (`NAME/NAME.bpf.c`), each folder into one object for every processor: `$OUT_DIR/NAME.bpf.o`.
//!
//! The compiler is the clang inside zig, which Python's package `ziglang` brings along, so that a machine that builds
//! loadgo needs no compiler for the kernel's programs of its own. The object holds the types (BTF) and the relocations
//! (CO-RE) by which it fits kernels whose structures differ; it names no processor's registers, so that one serves all.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// The folders: the meters of a host, and those of transfers.
const SOURCES: [&str; 2] = ["meters", "transfers"];

/// What clang is told. `v3` is the instruction set of kernels since 5.12; what is not optimised does not pass the verifier;
/// `-g` is for the types of the kernel's structures; no loader wants unwind tables, and no kernel program has a guard of its stack.
const FLAGS: &str = "-target bpfel-freestanding -mcpu=v3 -std=gnu17 -O2 -g \
    -fno-asynchronous-unwind-tables -fno-unwind-tables -fno-stack-protector -Wall -Werror";

fn main() -> ExitCode {
    println!("cargo::rerun-if-changed=build.rs");
    for watched in SOURCES.iter().chain(&["kernel.h"]) {
        println!("cargo::rerun-if-changed={watched}");
    }
    println!("cargo::rerun-if-env-changed=LOADGO_ZIG");
    match find_zig().and_then(|zig| SOURCES.iter().try_for_each(|name| compile(&zig, name))) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            for line in why.lines() {
                println!("cargo::error={line}");
            }
            ExitCode::FAILURE
        }
    }
}

/// A command line that runs zig: a program and what comes before zig's own arguments.
struct Zig(Vec<String>);

impl Zig {
    /// With its caches inside the build's own folder: nothing is left in the user's home.
    fn command(&self) -> Command {
        let mut command = Command::new(&self.0[0]);
        command.args(&self.0[1..]);
        for cache in ["ZIG_GLOBAL_CACHE_DIR", "ZIG_LOCAL_CACHE_DIR"] {
            command.env(cache, made_here().join("zig-cache"));
        }
        command
    }

    fn answers(&self) -> bool {
        self.command().arg("version").output().is_ok_and(|said| said.status.success())
    }
}

/// `$LOADGO_ZIG` and no other if it is set; else the `ziglang` of the Python that builds, of the active environment, of
/// the repository's own, and of any on the PATH; else a `zig` on the PATH.
fn find_zig() -> Result<Zig, String> {
    if let Ok(named) = env::var("LOADGO_ZIG") {
        let zig = Zig(vec![named.clone()]);
        return if zig.answers() { Ok(zig) } else { Err(format!("LOADGO_ZIG is {named}, but `{named} version` fails")) };
    }
    pythons()
        .into_iter()
        .map(|python| Zig(vec![python, "-m".into(), "ziglang".into()]))
        .chain([Zig(vec!["zig".into()])])
        .find(Zig::answers)
        .ok_or_else(|| NO_ZIG.into())
}

const NO_ZIG: &str = "zig is missing: it compiles loadgo's kernel programs.\n\
    In a clone: scripts/setup brings it into .venv. Elsewhere: pip install 'ziglang==0.17.*', \
    or set LOADGO_ZIG to the path of a zig 0.17.";

/// Pythons that may have `ziglang`, the likeliest first. setuptools-rust names in `PYO3_PYTHON` the one that builds.
fn pythons() -> Vec<String> {
    let in_environment = |root: PathBuf| root.join("bin/python").to_string_lossy().into_owned();
    let repository = Path::new(&variable("CARGO_MANIFEST_DIR")).join("../..");
    [
        env::var("PYO3_PYTHON").ok(),
        env::var("VIRTUAL_ENV").ok().map(|root| in_environment(root.into())),
        Some(in_environment(repository.join(".venv"))),
        Some("python3".into()),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn compile(zig: &Zig, name: &str) -> Result<(), String> {
    let (source, object) = (format!("{name}/{name}.bpf.c"), made_here().join(format!("{name}.bpf.o")));
    let mut clang = zig.command();
    clang.arg("cc").args(FLAGS.split(' '));
    clang.arg(format!("-ffile-prefix-map={}=loadgo-bpf", variable("CARGO_MANIFEST_DIR"))); // the same bytes wherever it is built
    clang.arg("-c").arg(&source).arg("-o").arg(&object);
    let said = clang.output().map_err(|error| format!("{}: {error}", zig.0.join(" ")))?;
    if !said.status.success() {
        return Err(format!("{} cannot compile {source}:\n{}", zig.0.join(" "), String::from_utf8_lossy(&said.stderr)));
    }
    has_types(&object)
}

/// An object without BTF would load nowhere: better known here than on the host.
fn has_types(object: &Path) -> Result<(), String> {
    let bytes = std::fs::read(object).map_err(|error| format!("{}: {error}", object.display()))?;
    let name = b".BTF.ext\0"; // the section of the relocations; it comes with that of the types
    if bytes.windows(name.len()).any(|window| window == name) {
        Ok(())
    } else {
        Err(format!("{} has no BTF: this zig's clang leaves the kernel's types out", object.display()))
    }
}

/// The folder that cargo gives this build.
fn made_here() -> PathBuf {
    PathBuf::from(variable("OUT_DIR"))
}

/// A variable that cargo always sets.
fn variable(name: &str) -> String {
    env::var(name).unwrap_or_else(|_| panic!("cargo sets {name}"))
}
