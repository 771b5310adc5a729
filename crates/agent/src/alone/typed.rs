//! The words after the name of a command: options, then a command to run.

use std::ffi::OsString;

/// A command line that was read.
pub(super) struct Typed {
    options: Vec<(String, String)>,
    /// Whether `--` ended the options, so that a command must follow.
    pub ended_options: bool,
    /// The program and its arguments.
    pub command: Vec<OsString>,
}

impl Typed {
    /// Reads options, each of which has a value unless it is one of `flags`, up to `--` or the first other word.
    pub fn read(words: Vec<OsString>, valued: &[&str], flags: &[&str]) -> Result<Typed, String> {
        let (mut options, mut words) = (Vec::new(), words.into_iter());
        while let Some(word) = words.next() {
            let text = word.to_string_lossy().into_owned();
            let (name, joined) = text.split_once('=').map_or((text.as_str(), None), |(name, value)| (name, Some(value)));
            if text == "--" {
                return Ok(Typed { options, ended_options: true, command: words.collect() });
            } else if valued.contains(&name) {
                let next = || words.next().map(|value| value.to_string_lossy().into_owned());
                let value = joined.map(str::to_owned).or_else(next).ok_or_else(|| format!("{name} needs a value"))?;
                options.push((name.to_owned(), value));
            } else if flags.contains(&text.as_str()) {
                options.push((text, String::new()));
            } else if text.starts_with('-') {
                return Err(format!("there is no option {text}; there are {}", [valued, flags].concat().join(", ")));
            } else {
                return Ok(Typed { options, ended_options: false, command: std::iter::once(word).chain(words).collect() });
            }
        }
        Ok(Typed { options, ended_options: false, command: Vec::new() })
    }

    /// The value of an option; the last one counts.
    pub fn option(&self, name: &str) -> Option<&str> {
        self.options.iter().rev().find(|(option, _)| option == name).map(|(_, value)| value.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(words: &[&str]) -> Result<Typed, String> {
        Typed::read(words.iter().map(OsString::from).collect(), &["--for", "-n"], &["--quiet-output"])
    }

    #[test]
    fn options_end_at_the_first_other_word_and_those_behind_it_are_the_command_s() {
        let read = typed(&["-n", "3", "--for=2s", "--quiet-output", "ls", "-n", "--", "x"]).expect("good options");
        assert_eq!((read.option("-n"), read.option("--for"), read.option("--quiet-output")), (Some("3"), Some("2s"), Some("")));
        assert_eq!(read.command, ["ls", "-n", "--", "x"]);
        assert_eq!(typed(&["--", "-n"]).expect("a command").command, ["-n"]);
    }

    #[test]
    fn an_unknown_option_and_a_missing_value_are_refused_with_what_there_is() {
        let message = typed(&["--fro", "2s"]).err().expect("no such option");
        assert_eq!(message, "there is no option --fro; there are --for, -n, --quiet-output");
        assert_eq!(typed(&["-n"]).err().expect("no value"), "-n needs a value");
    }
}
