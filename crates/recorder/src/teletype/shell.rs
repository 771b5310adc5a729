//! Starts the person's shell with a mark in its prompt, and nothing else changed.
//!
//! bash and zsh read a start-up file, in which most people set the prompt. They get a file of ours that reads the person's own
//! file and then appends the mark to the prompt. It does so again before each prompt, because themes set the prompt anew. Other
//! shells take the prompt from the environment variable `PS1`, in which the shell expands `$?`.

use crate::recording::continuation_mark;
use loadgo_core::osc133::prompt_mark;
use loadgo_sys::program_file::program_file;
use std::ffi::{OsStr, OsString};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// How a program's prompt can be marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShellKind {
    /// bash, by `--rcfile`.
    Bash,
    /// bash under the name `sh`, by `PS1` with bash's signs `\[` and `\]` around text without width.
    BashAsSh,
    /// zsh, by `ZDOTDIR`.
    Zsh,
    /// A plain POSIX shell (dash, ash, ksh), by `PS1`.
    Posix,
    /// Another program, or a shell that does not read commands from its terminal: it gets no marks.
    Unmarked,
}

/// A shell to start, whose prompt carries the mark.
pub(crate) struct MarkedShell {
    /// The kind of shell.
    pub shell: ShellKind,
    /// The command with its arguments.
    pub command: Vec<OsString>,
    /// Environment to add.
    pub env: Vec<(OsString, OsString)>,
    start_up_folder: PathBuf,
    has_start_up_files: bool,
}

impl MarkedShell {
    /// Prepares `command` so that its prompts have a mark with `id`. Start-up files go into `start_up_folder`.
    ///
    /// # Errors
    /// The start-up files cannot be written.
    pub fn prepare(command: &[String], id: &str, start_up_folder: &Path) -> io::Result<MarkedShell> {
        let shell = shell_of(command);
        let mut marked = MarkedShell {
            shell,
            command: command.iter().map(Into::into).collect(),
            env: Vec::new(),
            start_up_folder: start_up_folder.to_owned(),
            has_start_up_files: false,
        };
        match shell {
            ShellKind::Bash => marked.prepare_bash(command, id)?,
            ShellKind::Zsh => marked.prepare_zsh(id)?,
            ShellKind::Posix => marked.prompts(&prompt_mark(id, "$?"), &continuation_mark(id)),
            ShellKind::BashAsSh => {
                let hidden = |mark: String| format!("\\[{mark}\\]");
                marked.prompts(&hidden(prompt_mark(id, "$?")), &hidden(continuation_mark(id)));
            }
            ShellKind::Unmarked => {}
        }
        Ok(marked)
    }

    fn prompts(&mut self, mark: &str, continuation: &str) {
        let usual = if rustix::process::geteuid().is_root() { "# " } else { "$ " };
        let own = |name: &str, usual: &str| env::var(name).unwrap_or_else(|_| usual.into());
        self.env.push(("PS1".into(), (own("PS1", usual) + mark).into()));
        self.env.push(("PS2".into(), (own("PS2", "> ") + continuation).into()));
    }

    fn prepare_bash(&mut self, command: &[String], id: &str) -> io::Result<()> {
        let has = |flags: &[&str]| command[1..].iter().any(|argument| flags.contains(&argument.as_str()));
        let own = match () {
            () if has(&["-l", "--login"]) => BASH_LOGIN,
            () if has(&["--norc"]) => "",
            () => "[ -r ~/.bashrc ] && . ~/.bashrc\n",
        };
        let start = self.write("bashrc", &format!("{own}{}", BASH.replace("@ID@", id)))?;
        self.command = vec![command[0].clone().into(), "--rcfile".into(), start.into(), "-i".into()];
        Ok(())
    }

    fn prepare_zsh(&mut self, id: &str) -> io::Result<()> {
        for (name, text) in [(".zshenv", ZSHENV), (".zprofile", ZPROFILE), (".zshrc", ZSHRC)] {
            self.write(name, &text.replace("@ID@", id))?;
        }
        let own = env::var_os("ZDOTDIR").or_else(|| env::var_os("HOME")).unwrap_or_default();
        self.env.push(("LOADGO_ZDOTDIR".into(), own));
        self.env.push(("ZDOTDIR".into(), self.start_up_folder.clone().into()));
        Ok(())
    }

    /// Writes a start-up file into a directory that only this user can read. Returns its path.
    fn write(&mut self, name: &str, text: &str) -> io::Result<PathBuf> {
        if !self.has_start_up_files {
            fs::DirBuilder::new().mode(0o700).create(&self.start_up_folder)?;
            self.has_start_up_files = true;
        }
        let path = self.start_up_folder.join(name);
        fs::write(&path, text)?;
        Ok(path)
    }
}

impl Drop for MarkedShell {
    fn drop(&mut self) {
        if self.has_start_up_files {
            let _ = fs::remove_dir_all(&self.start_up_folder);
        }
    }
}

/// The kind of shell that `command` starts, by its program (links followed) and by its arguments.
pub fn shell_of(command: &[String]) -> ShellKind {
    let Some(program) = command.first() else { return ShellKind::Unmarked };
    let name =
        |path: &Path| path.file_name().map(|name| name.to_string_lossy().trim_start_matches('-').to_owned()).unwrap_or_default();
    let asked = name(Path::new(program));
    let real = program_file(OsStr::new(program), &env::var_os("PATH").unwrap_or_default())
        .and_then(|path| path.canonicalize().ok())
        .map_or(asked.clone(), |path| name(&path));
    let only = |flags: &[&str]| command[1..].iter().all(|argument| flags.contains(&argument.as_str()));
    match real.as_str() {
        "bash" | "rbash" if asked == "sh" && only(&["-i"]) => ShellKind::BashAsSh,
        "bash" | "rbash" if only(&["-i", "-l", "--login", "--norc", "--noprofile"]) => ShellKind::Bash,
        "zsh" | "zsh5" if only(&["-i", "-l", "--login"]) => ShellKind::Zsh,
        "dash" | "sh" | "ash" | "busybox" | "ksh" | "ksh93" | "mksh" | "yash" if only(&["-i"]) && asked != "busybox" => {
            ShellKind::Posix
        }
        _ => ShellKind::Unmarked,
    }
}

/// Sixteen random hexadecimal digits.
pub fn random_id() -> String {
    let mut bits = [0; 8];
    let count = rustix::rand::getrandom(&mut bits, rustix::rand::GetRandomFlags::empty()).expect("the system has random bits");
    assert_eq!(count, bits.len(), "so few bits come whole");
    format!("{:016x}", u64::from_ne_bytes(bits))
}

const BASH_LOGIN: &str = r#"[ -r /etc/profile ] && . /etc/profile
for __loadgo_file in ~/.bash_profile ~/.bash_login ~/.profile; do
    if [ -r "$__loadgo_file" ]; then . "$__loadgo_file"; break; fi
done
unset __loadgo_file
"#;

/// Start-up text for bash. The mark has the status from before the person's own prompt commands, which find `$?` unchanged.
const BASH: &str = r#"
__loadgo_before() { __loadgo_status=$?; return "$__loadgo_status"; }
__loadgo_after() {
    case $PS1 in *'aid=@ID@'*) ;; *) PS1=$PS1'\[\e]133;D;${__loadgo_status};aid=@ID@\a\]' ;; esac
    case $PS2 in *'aid=@ID@'*) ;; *) PS2=$PS2'\[\e]133;A;k=s;aid=@ID@\a\]' ;; esac
}
case $(declare -p PROMPT_COMMAND 2>/dev/null) in
    'declare -a'*) PROMPT_COMMAND=(__loadgo_before "${PROMPT_COMMAND[@]}" __loadgo_after) ;;
    *) PROMPT_COMMAND=$'__loadgo_before\n'${PROMPT_COMMAND-}$'\n__loadgo_after' ;;
esac
"#;

const ZSHENV: &str = r#"__loadgo_here=$ZDOTDIR
ZDOTDIR=$LOADGO_ZDOTDIR
[[ -r $ZDOTDIR/.zshenv ]] && source "$ZDOTDIR/.zshenv"
LOADGO_ZDOTDIR=$ZDOTDIR
ZDOTDIR=$__loadgo_here
"#;

const ZPROFILE: &str = r#"ZDOTDIR=$LOADGO_ZDOTDIR
[[ -r $ZDOTDIR/.zprofile ]] && source "$ZDOTDIR/.zprofile"
LOADGO_ZDOTDIR=$ZDOTDIR
ZDOTDIR=$__loadgo_here
"#;

const ZSHRC: &str = r#"ZDOTDIR=$LOADGO_ZDOTDIR
HISTFILE=$ZDOTDIR/.zsh_history
[[ -r $ZDOTDIR/.zshrc ]] && source "$ZDOTDIR/.zshrc"
[[ $ZDOTDIR == $HOME ]] && unset ZDOTDIR
unset LOADGO_ZDOTDIR __loadgo_here
__loadgo_precmd() {
    [[ $PS1 == *'aid=@ID@'* ]] || PS1="$PS1%{"$'\e]133;D;%?;aid=@ID@\a'"%}"
    [[ $PS2 == *'aid=@ID@'* ]] || PS2="$PS2%{"$'\e]133;A;k=s;aid=@ID@\a'"%}"
}
precmd_functions+=(__loadgo_precmd)
"#;

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(command: &str) -> ShellKind {
        shell_of(&command.split(' ').map(String::from).collect::<Vec<_>>())
    }

    #[test]
    fn a_shell_is_known_by_what_it_really_is_and_by_its_arguments() {
        assert_eq!(shell("bash"), ShellKind::Bash);
        assert_eq!(shell("/bin/bash -l"), ShellKind::Bash);
        assert_eq!(shell("bash -c ls"), ShellKind::Unmarked);
        assert_eq!(shell("dash"), ShellKind::Posix);
        assert_eq!(shell("python3"), ShellKind::Unmarked);
        assert_ne!(shell("sh"), ShellKind::Unmarked);
    }

    #[test]
    fn the_start_up_files_go_away_with_the_session() {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("loadgo-record-77");
        let marked = MarkedShell::prepare(&["bash".into()], "77", &folder).expect("files can be written");
        assert!(folder.join("bashrc").is_file());
        drop(marked);
        assert!(!folder.exists());
    }
}
