//! A key that decides which other keys its table may have: a discipline, a residence, a kind of store, a control.

use loadgo_core::notation::mistakes::{SyntaxMistake, list_names, nearest};
use loadgo_core::notation::table::{KeyDescription, KeyedTable, PlacedText};
use toml::de::DeTable;

/// A key that decides.
pub(super) struct Choice {
    /// The key.
    pub key: &'static str,
    /// The table that it stands in.
    pub table: &'static str,
    /// What it chooses, in words.
    pub what: &'static str,
    /// The keys that the table may have whatever is chosen, this key among them.
    pub shared: &'static [&'static str],
    /// What may be chosen, each with its own keys.
    pub options: &'static [(&'static str, &'static [&'static str])],
}

impl Choice {
    /// What `table` chooses.
    pub fn of<'a>(&self, table: &KeyedTable<'a>) -> Result<Option<&'static str>, SyntaxMistake> {
        let wanted = KeyDescription { key: self.key, value: self.what, example: self.options[0].0 };
        table.string(wanted)?.map(|name| self.option(&name)).transpose()
    }

    fn option(&self, name: &PlacedText<'_>) -> Result<&'static str, SyntaxMistake> {
        let names: Vec<_> = self.options.iter().map(|(name, _)| *name).collect();
        one_of(name, &names, self.what)
    }

    /// Refuses keys that do not go with `chosen`.
    pub fn only(&self, table: &KeyedTable<'_>, chosen: Option<&str>) -> Result<(), SyntaxMistake> {
        let own = self.keys(chosen);
        let fits = |key: &str| own.contains(&key) || self.shared.contains(&key);
        let strange = table.in_order().into_iter().find(|(key, _)| !fits(key.get_ref()));
        let Some((key, _)) = strange else { return Ok(()) };
        let name = key.get_ref().as_ref();
        let others: Vec<_> = self.options.iter().filter(|(_, keys)| keys.contains(&name)).map(|(name, _)| *name).collect();
        let (at, word) = (key.span().start, self.key);
        if !others.is_empty() {
            let others = list_names(&others).replace(" and ", " or ");
            let message = match chosen {
                Some(chosen) => format!("`{name}` has no meaning with {word} = \"{chosen}\": leave it out, or choose {others}"),
                None => format!("`{name}` goes with a {word}, which is not said: add {word} = \"…\", {others}"),
            };
            return Err(SyntaxMistake::new(at, message));
        }
        let known: Vec<_> = self.shared.iter().chain(own).copied().collect();
        table.only(&known, &known, self.table)
    }

    /// Whether a key of an older table stays when a newer one chooses.
    pub fn keeps(&self, newer: &DeTable<'_>, key: &str) -> bool {
        let Some(chosen) = newer.get(self.key).and_then(|value| value.get_ref().as_str()) else { return true };
        let known = self.options.iter().any(|(name, _)| *name == chosen);
        let elsewhere = self.options.iter().any(|(_, keys)| keys.contains(&key));
        !known || !elsewhere || self.keys(Some(chosen)).contains(&key)
    }

    fn keys(&self, chosen: Option<&str>) -> &'static [&'static str] {
        self.options.iter().find(|(name, _)| Some(*name) == chosen).map_or(&[], |(_, keys)| keys)
    }
}

/// The one of `names` that stands there; `what` they are.
pub(super) fn one_of(name: &PlacedText<'_>, names: &[&'static str], what: &str) -> Result<&'static str, SyntaxMistake> {
    if let Some(found) = names.iter().find(|known| **known == name.value) {
        return Ok(found);
    }
    let all = list_names(names);
    Err(name.wrong_whole(match nearest(&name.value.to_ascii_lowercase(), names.iter().copied()) {
        Some(near) => format!("{:?} is no {what}; did you mean \"{near}\"? There are {all}", name.value),
        None => format!("{:?} is no {what}; there are {all}", name.value),
    }))
}
