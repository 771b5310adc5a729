//! Preparation of a session: the command, and the environment that makes its prompt speak.
//! Where the environment does not reach, a line is typed: `su -`, `ssh`, a shell whose start-up file sets its own prompt.

use crate::refusal::Refusal;
use crate::terminals::typed_files::HISTORY_OFF;
use loadgo_core::osc133::prompt_mark;
use loadgo_core::ready::Nonce;
use loadgo_core::script::Script;
use loadgo_sys::program_file::program_file;
use std::ffi::{CString, OsStr};
use std::io;
use std::path::{Path, PathBuf};

/// Commands that start a session as somebody else: our directory and files are not there.
const AS_SOMEBODY_ELSE: [&str; 4] = ["su", "sudo", "runuser", "login"];
/// Commands whose session is no descendant of theirs: neither our files nor our meters reach it.
const OUT_OF_REACH: [&str; 7] = ["ssh", "telnet", "mosh", "docker", "podman", "kubectl", "machinectl"];

/// Variables of loadgo's own environment by which `ssh` logs in without a question. Commands of its configuration read the home.
const OF_ACCOUNT: [&str; 3] = ["HOME", "SSH_AUTH_SOCK", "KRB5CCNAME"];

/// The log-in command of a script, found and cut into words.
#[derive(Clone, Debug)]
pub struct Login {
    /// The program's file.
    pub path: PathBuf,
    /// The words of the command.
    pub words: Vec<String>,
}

impl Login {
    /// Finds the program of `command` in `search_path` (directories with colons between).
    ///
    /// # Errors
    /// An empty command, quotes that do not close, a program that is not there.
    pub fn find(command: &str, search_path: &str) -> Result<Login, Refusal> {
        let words = shlex::split(command).ok_or(format!("login = {command:?}: a quote is not closed"))?;
        let name = words.first().ok_or("login is empty: name a command such as \"sh\" or \"ssh host\"".to_string())?;
        let path = program_file(OsStr::new(name), OsStr::new(search_path))
            .ok_or_else(|| format!("login = {command:?}: there is no program {name:?} on the PATH ({search_path})"))?;
        Ok(Login { path, words })
    }

    /// Whether the session runs elsewhere or as somebody else, so that files must be typed into it.
    pub fn is_elsewhere(&self) -> bool {
        self.is_one_of(&AS_SOMEBODY_ELSE) || self.is_out_of_reach()
    }

    /// Whether the session's programs run where this host's meters do not see them.
    pub fn is_out_of_reach(&self) -> bool {
        self.is_one_of(&OUT_OF_REACH)
    }

    fn is_one_of(&self, names: &[&str]) -> bool {
        let asked = Path::new(&self.words[0]);
        [self.path.as_path(), asked]
            .iter()
            .any(|path| path.file_name().and_then(|name| name.to_str()).is_some_and(|name| names.contains(&name)))
    }
}

/// The environment of a user's session, `NAME=value` each; `shared` comes first, the session's own after it.
/// A home in `shared` stays.
pub fn environment(shared: &[(String, String)], script: &Script, user: u32, home: &Path, nonce: &Nonce) -> Vec<CString> {
    let nonce = String::from_utf8_lossy(nonce);
    let own_home = shared.iter().all(|(name, _)| name != "HOME").then(|| ("HOME".to_string(), home.display().to_string()));
    let own = [
        ("LOADGO_USER".to_string(), user.to_string()),
        // dash, ksh and sh take the prompt from here; bash's start-up files set PS1, but not what sets it again.
        ("PS1".to_string(), format!("$ {}", prompt_mark(&nonce, "$?"))),
        ("PROMPT_COMMAND".to_string(), format!("PS1='$ \\[\\e]133;D;$?;aid={nonce}\\a\\]'")),
    ];
    let mut all: Vec<(String, String)> = shared.to_vec();
    for (name, value) in own_home.into_iter().chain(own).chain(script.env.clone()) {
        all.retain(|(known, _)| *known != name);
        all.push((name, value));
    }
    all.into_iter().filter_map(|(name, value)| CString::new(format!("{name}={value}")).ok()).collect()
}

/// The environment that all sessions share. `of_account`: with the home of this account, its agents of keys and its tickets.
pub(crate) fn shared_environment(search_path: &str, run_id: &str, login: &Login, of_account: bool) -> Vec<(String, String)> {
    // By `$SHELL` ssh starts its ProxyCommand and its jump hosts.
    let own_shell = || std::env::var("SHELL").unwrap_or_else(|_| "/bin/sh".into());
    let shell = if login.is_out_of_reach() { own_shell() } else { login.path.display().to_string() };
    let user = std::env::var("USER").or_else(|_| std::env::var("LOGNAME")).unwrap_or_else(|_| "root".into());
    let pairs = [
        ("PATH", search_path.to_string()),
        ("USER", user.clone()),
        ("LOGNAME", user),
        ("SHELL", shell),
        ("TERM", "dumb".into()),
        ("LANG", "C.UTF-8".into()),
        ("LOADGO_RUN", run_id.to_string()),
    ];
    let kept = OF_ACCOUNT.into_iter().filter(|_| of_account).filter_map(|name| Some((name, std::env::var(name).ok()?)));
    pairs.into_iter().chain(kept).map(|(name, value)| (name.to_string(), value)).collect()
}

/// Turns off what zsh adds to prompts and echoes: hooks, a right prompt, a mark for a line without an end, bracketed paste.
const ZSH_PLAIN: &str = "unset RPS1 zle_bracketed_paste precmd_functions preexec_functions; unfunction precmd preexec 2>/dev/null; \
     unsetopt PROMPT_SP PROMPT_CR PROMPT_SUBST; setopt PROMPT_PERCENT";
/// Text that another shell prints at the line that sets the prompt. The line spells it in two parts.
const OTHER_SHELL: &[u8] = b"loadgo-other:";
/// The remedy where a session's shell does not take the prompt.
pub(crate) const PROMPT_REMEDY: &str = "loadgo sets the prompt of sh, bash, zsh and ksh; let the log-in end in one of them \
     (`su - USER -s /bin/bash`, `ssh -t HOST bash`), or name another program's prompt with `until` at the top of the script";

/// The line that gives a shell of the Bourne family (dash, bash, ksh, zsh) the session's prompt, and turns its history off.
/// The shell's own prompt commands go: they may write the history. fish reads the line too, and says that it is another shell.
pub(crate) fn prompt_line(nonce: &Nonce) -> String {
    let nonce = String::from_utf8_lossy(nonce);
    // The mark is spelt with escapes here, so that the echo of this line is not one.
    let plain = format!(r#"PS1="$(printf '$ \033]133;D;')"'$?'"$(printf ';aid=%s\007' {nonce})""#);
    let bash = format!(
        r#"unset PROMPT_COMMAND PS0; loadgo_sent=0; PROMPT_COMMAND='PS1='\''$ \[\e]133;D;$?;aid='{nonce}'\a\]'\'; [ -z "$EPOCHREALTIME" ] || {{ {}; }}"#,
        timed_bash(&nonce)
    );
    let zsh = format!(r#"{ZSH_PLAIN}; PS1="$(printf '$ %%{{\033]133;D;')%?$(printf ';aid=%s\007%%}}' {nonce})""#);
    let set = format!(
        "{HISTORY_OFF}; if [ -n \"$BASH_VERSION\" ]; then {bash}; elif [ -n \"$ZSH_VERSION\" ]; then {zsh}; else {plain}; fi"
    );
    // Between double quotes the Bourne shells and fish read the same. fish waits for the rest of an `if` that is not quoted.
    let quoted: String = set.chars().flat_map(|c| "\\\"$".contains(c).then_some('\\').into_iter().chain([c])).collect();
    // A blank at its head keeps the line out of the history of many shells.
    format!(" eval \"{quoted}\" || printf 'loadgo-%s:\\n' other\n")
}

/// Lets bash 5 measure each line: PS0 is expanded when a line was read and before it begins, PS1 when all is done.
///
/// The shell expands both itself and prints neither instant. Both are of one clock. Bash does not expand PS0 for an empty line;
/// the time is then 0, which means that nothing was timed.
fn timed_bash(nonce: &str) -> String {
    let now = "${EPOCHREALTIME//[^0-9]}";
    let took = format!("$((loadgo_took=loadgo_sent?{now}-loadgo_sent:0,loadgo_sent=0,loadgo_took))");
    format!(r#"PS0='${{PS1:0:$((loadgo_sent={now},0))}}'; PROMPT_COMMAND='PS1='\''$ \[\e]133;D;$?;t={took};aid='{nonce}'\a\]'\'"#)
}

/// Whether `screen` shows that the line which sets the prompt was read by a shell that cannot run it.
pub(crate) fn is_other_shell(screen: &[u8]) -> bool {
    screen.windows(OTHER_SHELL.len()).any(|bytes| bytes == OTHER_SHELL)
}

/// Makes a user's home and lays the script's files into it.
///
/// # Errors
/// Which file could not be written, and the kernel's reason.
pub(crate) fn lay_home(script: &Script, home: &Path) -> io::Result<()> {
    let named = |path: &Path, reason: io::Error| io::Error::new(reason.kind(), format!("{}: {reason}", path.display()));
    std::fs::create_dir_all(home).map_err(|reason| named(home, reason))?;
    for (name, content) in &script.files {
        let path = home.join(name);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).map_err(|reason| named(parent, reason))?;
        }
        std::fs::write(&path, content).map_err(|reason| named(&path, reason))?;
    }
    Ok(())
}
