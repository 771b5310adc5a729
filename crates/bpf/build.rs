//! Compiles the kernel programs: `NAME/NAME.bpf.c` of each folder becomes one object, `$OUT_DIR/NAME.bpf.o`.
//!
//! The compiler is the clang inside zig, which Python's package `ziglang` contains. So a machine that builds loadgo needs
//! no compiler of its own for kernel programs. The object holds types (BTF) and relocations (CO-RE), which fit it to
//! kernels whose structures differ. The programs name no architecture's registers, so one object serves every architecture.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// The folders: the meters of a host, those of transfers, and the observer of log-in sessions.
const SOURCES: [&str; 3] = ["meters", "transfers", "sessions"];

/// clang's options. `v3` is the instruction set of kernels since 5.12, and the verifier refuses code that is not optimised.
/// `-g` writes the types of the kernel's structures. Loaders need no unwind tables, and kernel programs have no stack guard.
const FLAGS: &str = "-target bpfel-freestanding -mcpu=v3 -std=gnu17 -O2 -g \
    -fno-asynchronous-unwind-tables -fno-unwind-tables -fno-stack-protector -Wall -Werror";

fn main() -> ExitCode {
    println!("cargo::rerun-if-changed=build.rs");
    for path in SOURCES.iter().chain(&["kernel.h"]) {
        println!("cargo::rerun-if-changed={path}");
    }
    println!("cargo::rerun-if-env-changed=LOADGO_ZIG");
    match find_zig().and_then(|zig| SOURCES.iter().try_for_each(|name| compile(&zig, name))) {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            for line in reason.lines() {
                println!("cargo::error={line}");
            }
            ExitCode::FAILURE
        }
    }
}

/// The words of a command line that runs zig, up to zig's own arguments.
struct Zig(Vec<String>);

impl Zig {
    /// The command without arguments. zig's caches go into the build's folder, not into the user's home.
    fn command(&self) -> Command {
        let mut command = Command::new(&self.0[0]);
        command.args(&self.0[1..]);
        for cache in ["ZIG_GLOBAL_CACHE_DIR", "ZIG_LOCAL_CACHE_DIR"] {
            command.env(cache, build_folder().join("zig-cache"));
        }
        command
    }

    fn is_usable(&self) -> bool {
        self.command().arg("version").output().is_ok_and(|output| output.status.success())
    }
}

/// The zig that `$LOADGO_ZIG` names, if set. Otherwise the first that runs: `ziglang` of each of [`pythons`], then a `zig`
/// on the PATH.
fn find_zig() -> Result<Zig, String> {
    if let Ok(path) = env::var("LOADGO_ZIG") {
        let zig = Zig(vec![path.clone()]);
        return if zig.is_usable() { Ok(zig) } else { Err(format!("LOADGO_ZIG is {path}, but `{path} version` fails")) };
    }
    pythons()
        .into_iter()
        .map(|python| Zig(vec![python, "-m".into(), "ziglang".into()]))
        .chain([Zig(vec!["zig".into()])])
        .find(Zig::is_usable)
        .ok_or_else(|| NO_ZIG_MESSAGE.into())
}

const NO_ZIG_MESSAGE: &str = "zig is missing: it compiles loadgo's kernel programs.\n\
    In a clone: scripts/setup brings it into .venv. Elsewhere: pip install 'ziglang==0.17.*', \
    or set LOADGO_ZIG to the path of a zig 0.17.";

/// Pythons that may have `ziglang`: the one that builds (setuptools-rust sets `PYO3_PYTHON`), the active environment's, the
/// repository's, and the PATH's.
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
    let (source, object) = (format!("{name}/{name}.bpf.c"), build_folder().join(format!("{name}.bpf.o")));
    let mut clang = zig.command();
    clang.arg("cc").args(FLAGS.split(' '));
    clang.arg(format!("-ffile-prefix-map={}=loadgo-bpf", variable("CARGO_MANIFEST_DIR"))); // the object has the same bytes wherever it is built
    clang.arg("-c").arg(&source).arg("-o").arg(&object);
    let output = clang.output().map_err(|error| format!("{}: {error}", zig.0.join(" ")))?;
    if !output.status.success() {
        return Err(format!("{} cannot compile {source}:\n{}", zig.0.join(" "), String::from_utf8_lossy(&output.stderr)));
    }
    check_types(&object)
}

/// Fails for an object without BTF, which no host could load.
fn check_types(object: &Path) -> Result<(), String> {
    let bytes = std::fs::read(object).map_err(|error| format!("{}: {error}", object.display()))?;
    let name = b".BTF.ext\0"; // the section of relocations; an object with relocations has types
    if bytes.windows(name.len()).any(|window| window == name) {
        Ok(())
    } else {
        Err(format!("{} has no BTF: this zig's clang leaves the kernel's types out", object.display()))
    }
}

/// The folder that cargo gives this build.
fn build_folder() -> PathBuf {
    PathBuf::from(variable("OUT_DIR"))
}

/// A variable that cargo always sets.
fn variable(name: &str) -> String {
    env::var(name).unwrap_or_else(|_| panic!("cargo sets {name}"))
}
