//! Keys that decide which other keys their table may have: a discipline, a residence, a kind of store, a control.

use loadgo_core::notation::mistakes::{SyntaxMistake, list_names, nearest};
use loadgo_core::notation::table::{KeyDescription, KeyedTable, PlacedText};
use toml::de::DeTable;

/// A key whose value decides which other keys its table may have.
pub(crate) struct DecidingKey {
    /// The key.
    pub key: &'static str,
    /// The table of the key.
    pub table: &'static str,
    /// The kind of value, in words, such as `discipline`.
    pub noun: &'static str,
    /// The keys that the table may have with any value, this key among them.
    pub shared: &'static [&'static str],
    /// The values, each with its own keys.
    pub options: &'static [(&'static str, &'static [&'static str])],
}

impl DecidingKey {
    /// The value in `table`, if it has the key.
    pub fn of<'a>(&self, table: &KeyedTable<'a>) -> Result<Option<&'static str>, SyntaxMistake> {
        let wanted = KeyDescription { key: self.key, value: self.noun, example: self.options[0].0 };
        table.string(wanted)?.map(|name| self.option(&name)).transpose()
    }

    fn option(&self, name: &PlacedText<'_>) -> Result<&'static str, SyntaxMistake> {
        let names: Vec<_> = self.options.iter().map(|(name, _)| *name).collect();
        one_of(name, &names, self.noun)
    }

    /// Refuses keys that do not belong to the value `chosen`.
    pub fn only(&self, table: &KeyedTable<'_>, chosen: Option<&str>) -> Result<(), SyntaxMistake> {
        let own_keys = self.keys(chosen);
        let fits = |key: &str| own_keys.contains(&key) || self.shared.contains(&key);
        let misplaced = table.in_order().into_iter().find(|(key, _)| !fits(key.get_ref()));
        let Some((key, _)) = misplaced else { return Ok(()) };
        let name = key.get_ref().as_ref();
        let others: Vec<_> = self.options.iter().filter(|(_, keys)| keys.contains(&name)).map(|(name, _)| *name).collect();
        let (at, word) = (key.span().start, self.key);
        if !others.is_empty() {
            let others = list_names(&others).replace(" and ", " or ");
            let message = match chosen {
                Some(chosen) => format!("`{name}` has no meaning with {word} = \"{chosen}\": leave it out, or choose {others}"),
                None => format!("`{name}` needs a {word}, which is missing: add {word} = \"…\", {others}"),
            };
            return Err(SyntaxMistake::new(at, message));
        }
        let known: Vec<_> = self.shared.iter().chain(own_keys).copied().collect();
        table.only(&known, &known, self.table)
    }

    /// Whether a key of an older table stays under the value in a newer one.
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

/// Reads one of `names`; `noun` says what they name.
pub(crate) fn one_of(name: &PlacedText<'_>, names: &[&'static str], noun: &str) -> Result<&'static str, SyntaxMistake> {
    if let Some(known) = names.iter().find(|known| **known == name.value) {
        return Ok(known);
    }
    let all = list_names(names);
    Err(name.wrong_whole(match nearest(&name.value.to_ascii_lowercase(), names.iter().copied()) {
        Some(near) => format!("{:?} is not a {noun}; did you mean \"{near}\"? There are {all}", name.value),
        None => format!("{:?} is not a {noun}; there are {all}", name.value),
    }))
}
