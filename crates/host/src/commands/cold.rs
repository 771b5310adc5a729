//! Makes a command cold: drops the pages of its program, libraries and named files from memory, and says what stayed.
//!
//! A page that another process has mapped, such as one of the C library, cannot be dropped, so no command becomes wholly cold.
//! What stayed in memory is measured with cachestat, or with mincore on kernels before 6.5.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use loadgo_sys::page_cache::{drop_pages, resident_bytes};
use loadgo_sys::program_file::program_file;

/// How cold a command was made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cold {
    /// The files that belong to the command.
    pub files: Vec<ColdFile>,
    /// Whether names and attributes of files were dropped too (on the whole host; as root only).
    pub names_dropped: bool,
}

/// A file whose pages were dropped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColdFile {
    /// The file's path.
    pub path: PathBuf,
    /// The file's size.
    pub bytes: u64,
    /// How much of the file stayed in memory; `None` when the kernel does not tell.
    pub stayed_bytes: Option<u64>,
}

/// Drops the pages of these files as far as possible, and the names of all files where that is allowed.
pub(crate) fn make_cold(files: &[PathBuf]) -> Cold {
    let dropped = files.iter().filter_map(|path| drop_file(path).ok()).collect();
    let names_dropped = fs::write("/proc/sys/vm/drop_caches", "2").is_ok();
    Cold { files: dropped, names_dropped }
}

/// The files that belong to a command: the program, its interpreters, its shared libraries, and the files that its arguments
/// name. Files that the command opens while it runs (the modules of a script) are not known beforehand.
pub(crate) fn files_of(program: &Path, arguments: &[impl AsRef<OsStr>]) -> Vec<PathBuf> {
    let mut files = vec![program.to_owned()];
    files.extend(interpreters(program));
    let libraries: Vec<PathBuf> = files.iter().flat_map(|file| libraries(file)).collect();
    files.extend(libraries);
    files.extend(arguments.iter().map(|argument| PathBuf::from(argument.as_ref())).filter(|path| path.is_file()));
    let mut real: Vec<PathBuf> = files.iter().filter_map(|path| path.canonicalize().ok()).collect();
    real.sort();
    real.dedup();
    real
}

/// The file that the shell would run for `program` by this process's PATH; a name with a slash is taken as a path.
///
/// # Errors
/// There is no such program.
pub(crate) fn find_program(program: &OsStr) -> io::Result<PathBuf> {
    if program.as_bytes().contains(&b'/') {
        return Ok(PathBuf::from(program));
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    program_file(program, &path)
        .ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, format!("no program {}", program.to_string_lossy())))
}

/// The interpreters named in a script's first line; `env PROGRAM` names two.
fn interpreters(script: &Path) -> Vec<PathBuf> {
    let mut start = [0; 256];
    let length = File::open(script).and_then(|mut file| file.read(&mut start)).unwrap_or(0);
    let Some(line) = start[..length].strip_prefix(b"#!") else { return Vec::new() };
    let line = line.split(|byte| *byte == b'\n').next().unwrap_or(&[]);
    let words = line.split(|byte| byte.is_ascii_whitespace()).filter(|word| !word.is_empty() && word[0] != b'-');
    words.filter_map(|word| find_program(OsStr::from_bytes(word)).ok()).collect()
}

/// The shared libraries of a program, as its own loader lists them, and the loader.
fn libraries(program: &Path) -> Vec<PathBuf> {
    let Some(loader) = loader_of(program).ok().flatten() else { return Vec::new() };
    let listed = Command::new(&loader).arg("--list").arg(program).stdin(Stdio::null()).stderr(Stdio::null()).output();
    let text = listed.map(|output| output.stdout).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let paths = text.split_whitespace().filter(|word| word.starts_with('/')).map(PathBuf::from);
    paths.chain([loader]).collect()
}

/// The loader that an ELF program names for itself; `None` for a static program or no program.
fn loader_of(program: &Path) -> io::Result<Option<PathBuf>> {
    const INTERPRETER: u32 = 3;
    let mut file = File::open(program)?;
    let mut head = [0; 64];
    file.read_exact(&mut head)?;
    let wide_and_native = head[4] == 2 && head[5] == if cfg!(target_endian = "little") { 1 } else { 2 };
    if &head[..4] != b"\x7fELF" || !wide_and_native {
        return Ok(None);
    }
    let number = |bytes: &[u8], at: usize| loadgo_sys::netlink::u64_at(bytes, at).unwrap_or(0);
    let short = |bytes: &[u8], at: usize| loadgo_sys::netlink::u16_at(bytes, at).unwrap_or(0);
    let (start, each, count) = (number(&head, 32), short(&head, 54), short(&head, 56));
    for index in 0..u64::from(count) {
        let mut segment = [0; 56];
        file.seek(SeekFrom::Start(start + index * u64::from(each)))?;
        file.read_exact(&mut segment)?;
        if loadgo_sys::netlink::u32_at(&segment, 0) == Some(INTERPRETER) {
            return read_name(&mut file, number(&segment, 8), number(&segment, 32)).map(Some);
        }
    }
    Ok(None)
}

fn read_name(file: &mut File, at: u64, length: u64) -> io::Result<PathBuf> {
    let mut name = Vec::new();
    file.seek(SeekFrom::Start(at))?;
    file.take(length.min(4096)).read_to_end(&mut name)?;
    name.retain(|byte| *byte != 0);
    Ok(PathBuf::from(OsStr::from_bytes(&name)))
}

fn drop_file(path: &Path) -> io::Result<ColdFile> {
    let file = File::open(path)?;
    let bytes = file.metadata()?.len();
    drop_pages(&file)?;
    Ok(ColdFile { path: path.to_owned(), bytes, stayed_bytes: resident_bytes(&file, bytes) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_brings_its_loader_its_libraries_and_the_files_that_it_is_given() {
        let program = find_program(OsStr::new("ls")).unwrap();
        let files = files_of(&program, &["-l", "/etc/passwd", "/etc"]);
        let names: Vec<_> = files.iter().map(|path| path.to_string_lossy().into_owned()).collect();
        for part in ["ls", "libc", "ld-", "/etc/passwd"] {
            assert!(names.iter().any(|name| name.contains(part)), "{part}: {names:?}");
        }
        assert!(!names.contains(&"/etc".to_owned()));
    }

    #[test]
    fn a_script_brings_those_who_interpret_it() {
        let path = std::env::temp_dir().join(format!("loadgo-script-{}", std::process::id()));
        fs::write(&path, "#!/usr/bin/env sh\ntrue\n").unwrap();
        let found = interpreters(&path);
        fs::remove_file(&path).unwrap();
        assert_eq!(found.len(), 2, "{found:?}");
    }
}
