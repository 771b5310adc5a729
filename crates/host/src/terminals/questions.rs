//! Questions with which a log-in waits for a person: whether a host's key is right, or a password.
//!
//! They are recognised by the end of what the terminal shows, in the words of OpenSSH, su, sudo and PAM. In other languages a
//! question for a password is recognised by the terminal: its echo is off, and it still collects a line.

/// Words of a question that ends with a colon and asks for a secret.
const SECRETS: [&str; 6] = ["password", "passphrase", "passcode", "verification code", "one-time", "otp"];
/// Ends of the questions about a host's key.
const HOST_KEY_ENDS: [&str; 4] =
    ["(yes/no)?", "(yes/no/[fingerprint])?", "please type 'yes' or 'no':", "please type 'yes', 'no' or the fingerprint:"];

/// A question of a log-in, which nobody answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Question {
    /// Whether the host's key is right.
    HostKey,
    /// A password or another secret.
    Secret,
}

impl Question {
    /// The question that a terminal which shows `screen` ends with. `hides_line`: it collects a line without an echo.
    pub(crate) fn at_end_of(screen: &[u8], hides_line: bool) -> Option<Question> {
        let last_line = screen.rsplit(|&byte| byte == b'\n').next().unwrap_or_default();
        let text = String::from_utf8_lossy(last_line).trim().to_lowercase();
        if HOST_KEY_ENDS.iter().any(|end| text.ends_with(end)) {
            return Some(Question::HostKey);
        }
        let asks = text.ends_with([':', '\u{ff1a}']);
        (asks && (hides_line || SECRETS.iter().any(|secret| text.contains(secret)))).then_some(Question::Secret)
    }

    /// The question in a message.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Question::HostKey => "it asks whether the host's key is right, and nobody answers at a log-in",
            Question::Secret => "it asks for a password, and nobody types one at a log-in",
        }
    }

    /// A change after which the log-in asks no more.
    pub(crate) fn remedy(self) -> &'static str {
        match self {
            Question::HostKey => {
                "compare the key and accept it once by hand (`ssh HOST`), or put `-o StrictHostKeyChecking=accept-new` into `login`"
            }
            Question::Secret => {
                "make the log-in ask for none: for ssh a key without a passphrase (`ssh-copy-id HOST`) or an agent (SSH_AUTH_SOCK in [env]), \
                 for su and sudo run loadgo as root"
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_of_ssh_su_and_sudo_are_recognised_at_the_end_of_the_screen() {
        let ask = |screen: &str| Question::at_end_of(screen.as_bytes(), false);
        let key = "ED25519 key fingerprint is SHA256:x.\r\nAre you sure you want to continue connecting (yes/no/[fingerprint])? ";
        assert_eq!(ask(key), Some(Question::HostKey));
        assert_eq!(ask("Are you sure you want to continue connecting (yes/no)? "), Some(Question::HostKey));
        assert_eq!(ask("\r\nPlease type 'yes', 'no' or the fingerprint: "), Some(Question::HostKey));
        let secrets =
            ["guest@host's password: ", "Password: ", "[sudo] password for guest: ", "Enter passphrase for key '/k': ", "OTP:"];
        for secret in secrets {
            assert_eq!(ask(secret), Some(Question::Secret), "{secret}");
        }
    }

    #[test]
    fn a_prompt_or_a_message_is_no_question() {
        for screen in
            ["", "$ ", "guest@host:~$ ", "Your password expires in 3 days:\r\n$ ", "The password is in the safe", "/home: "]
        {
            assert_eq!(Question::at_end_of(screen.as_bytes(), false), None, "{screen}");
        }
    }

    #[test]
    fn a_terminal_that_hides_the_line_asks_for_a_secret_in_any_language() {
        assert_eq!(Question::at_end_of("Contrase\u{f1}a: ".as_bytes(), true), Some(Question::Secret));
        assert_eq!(Question::at_end_of("Contrase\u{f1}a: ".as_bytes(), false), None);
        assert_eq!(Question::at_end_of(b"$ ", true), None);
    }
}
