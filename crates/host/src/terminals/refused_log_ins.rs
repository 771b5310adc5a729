//! Messages of log-ins that end at once, in the words of OpenSSH, su and nologin, with the change that would help.

use crate::terminals::questions::Question;

const NO_SHELL: &str = "name an account that has a shell for log-ins, or give it one (`su - USER -s /bin/bash`)";
const NO_ACCOUNT: &str = "make the account (`useradd -m NAME`), or name another";
const NO_SERVER: &str =
    "start sshd on that host (`systemctl start ssh`), or name the port on which it listens (`ssh -p PORT HOST`)";
const NO_HOST: &str = "name the host by its address, or add its name to /etc/hosts";
const NO_WAY: &str = "let the host and its firewall take connections to sshd's port, or name another address or port";
const NO_KEY: &str = "give the account a key of yours (`ssh-copy-id HOST`), or name the key (`ssh -i FILE HOST`)";

/// Messages in lower case, each with its remedy. The first that a screen contains counts.
const MESSAGES: [(&str, &str); 9] = [
    ("this account is currently not available", NO_SHELL),
    ("does not exist or the user entry", NO_ACCOUNT),
    ("no passwd entry for user", NO_ACCOUNT),
    ("connection refused", NO_SERVER),
    ("could not resolve hostname", NO_HOST),
    ("no route to host", NO_WAY),
    ("connection timed out", NO_WAY),
    ("network is unreachable", NO_WAY),
    ("permission denied (", NO_KEY),
];

/// The change that would help after a log-in ended with `words` on its terminal; empty if none is known.
pub(crate) fn remedy(words: &str) -> &'static str {
    let words = words.to_lowercase();
    if words.contains("host key verification failed") {
        return Question::HostKey.remedy();
    }
    MESSAGES.iter().find(|(message, _)| words.contains(message)).map_or("", |(_, remedy)| remedy)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_su_and_ssh_have_a_remedy() {
        let messages = [
            ("su: warning: cannot change directory to /nonexistent\r\nThis account is currently not available.", NO_SHELL),
            ("su: user gast does not exist or the user entry does not contain all the required fields", NO_ACCOUNT),
            ("ssh: connect to host 127.0.0.1 port 1: Connection refused", NO_SERVER),
            ("ssh: Could not resolve hostname login9: Name or service not known", NO_HOST),
            ("ssh: connect to host 10.0.0.9 port 22: No route to host", NO_WAY),
            ("guest@login1: Permission denied (publickey,password).", NO_KEY),
            ("Host key verification failed.", Question::HostKey.remedy()),
        ];
        for (words, expected) in messages {
            assert_eq!(remedy(words), expected, "{words}");
        }
    }

    #[test]
    fn other_words_have_none() {
        assert_eq!(remedy(""), "");
        assert_eq!(remedy("Welcome to login1"), "");
    }
}
