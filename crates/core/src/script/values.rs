//! Single values of a script: names, times, laws and patterns, each checked.

use super::{ReadyRule, TimeLaw, spec};
use crate::notation::mistakes::SyntaxMistake;
use crate::notation::spans;
use crate::notation::table::PlacedText;
use crate::time::Span;

/// Reads a name for the report: one line that is not blank.
pub(super) fn report_name(name: &PlacedText<'_>) -> Result<String, SyntaxMistake> {
    if name.value.trim().is_empty() {
        return Err(name.wrong_whole("a name is empty: write what the report should call this"));
    }
    match name.value.find(char::is_control) {
        Some(at) => Err(name.wrong(at, "a name is one line without control characters, as in \"typical user\"")),
        None => Ok(name.value.into()),
    }
}

/// Reads the span of a key, which must be over 0.
pub(super) fn positive_span(span: &PlacedText<'_>, key: &str) -> Result<Span, SyntaxMistake> {
    let read = spans::read(span.value).map_err(|mistake| span.place(mistake))?;
    if read == Span::ZERO {
        return Err(span.wrong_whole(format!("`{key}` must be over 0s, as in {key} = \"30s\"")));
    }
    Ok(read)
}

/// Reads a law of think time.
pub(super) fn law(law: &PlacedText<'_>) -> Result<TimeLaw, SyntaxMistake> {
    spec::read(law.value).map_err(|mistake| law.place(mistake))
}

/// Reads the sign that the system is ready: `mark` or a pattern.
pub(super) fn until(pattern: &PlacedText<'_>) -> Result<ReadyRule, SyntaxMistake> {
    if pattern.value == "mark" {
        return Ok(ReadyRule::Mark);
    }
    // The pattern must also compile with the anchor for the end of the output, which a comment in the pattern would hide.
    let at_end = |text: &str| regex::bytes::Regex::new(&format!("(?:{text})\\z"));
    let compiled = regex::bytes::Regex::new(pattern.value).and_then(|_| at_end(pattern.value)).map_err(|error| {
        let reason = error.to_string();
        let reason = reason.lines().last().unwrap_or("").trim().trim_start_matches("error: ");
        let literal = regex::escape(pattern.value);
        pattern.wrong_whole(format!("this pattern does not compile: {reason}; to match the text itself, write '{literal}'"))
    })?;
    if compiled.is_match(b"") {
        return Err(
            pattern.wrong_whole("this pattern matches before anything is printed: name the prompt, as in until = '\\? $'")
        );
    }
    Ok(ReadyRule::Pattern(pattern.value.into()))
}
