//! Partial results by name, in a table of a fixed size.

/// Names that can be kept.
const ROOM: usize = 64;
/// Bytes that a name may have.
pub const LONGEST_NAME: usize = 15;

/// Values kept by name.
#[derive(Clone, Debug)]
pub struct Names {
    kept: [Kept; ROOM],
    count: usize,
}

#[derive(Clone, Copy, Debug)]
struct Kept {
    name: [u8; LONGEST_NAME],
    length: u8,
    value: i64,
}

impl Kept {
    fn is(&self, name: &[u8]) -> bool {
        &self.name[..usize::from(self.length)] == name
    }
}

impl Default for Names {
    fn default() -> Names {
        Names { kept: [Kept { name: [0; LONGEST_NAME], length: 0, value: 0 }; ROOM], count: 0 }
    }
}

impl Names {
    /// The value of `name`.
    pub fn get(&self, name: &[u8]) -> Option<i64> {
        self.kept[..self.count].iter().find(|kept| kept.is(name)).map(|kept| kept.value)
    }

    /// Keeps `value` under `name`; false when the name is too long or the table is full.
    pub fn keep(&mut self, name: &[u8], value: i64) -> bool {
        if let Some(kept) = self.kept[..self.count].iter_mut().find(|kept| kept.is(name)) {
            kept.value = value;
            return true;
        }
        if name.len() > LONGEST_NAME || self.count == ROOM {
            return false;
        }
        let kept = &mut self.kept[self.count];
        kept.name[..name.len()].copy_from_slice(name);
        *kept = Kept { length: name.len() as u8, value, ..*kept };
        self.count += 1;
        true
    }
}
