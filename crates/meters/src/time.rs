//! Total time: 100 % of every processor's time, by category.

use crate::Span;
use crate::layout::{CATEGORIES, IDLE, Processor, processor};
use crate::load::Loaded;
use crate::parts::Part;
use aya::maps::Array;
use loadgo_core::record::{Sample, TimeRow};

/// The account as it was last read.
pub(crate) struct Times {
    last: Vec<Processor>,
}

impl Times {
    pub fn begin(loaded: &Loaded) -> Result<Times, String> {
        Ok(Times { last: read(loaded)? })
    }
}

impl Part for Times {
    fn rows(&mut self, loaded: &Loaded, span: Span, sample: &mut Sample) -> Result<(), String> {
        let _ = IDLE;
        let read = read(loaded)?;
        for (number, (now, before)) in read.iter().zip(&self.last).enumerate() {
            for (index, category) in CATEGORIES.into_iter().enumerate() {
                let time_ns = now[processor::TIME + index].wrapping_sub(before[processor::TIME + index]);
                let row = TimeRow { at: span.at, span_ns: span.span_ns, processor: Some(number as u16), category, time_ns };
                sample.time.push(row);
            }
        }
        self.last = read;
        Ok(())
    }
}

fn read(loaded: &Loaded) -> Result<Vec<Processor>, String> {
    let map = loaded.object.map("processors").ok_or("the processors' state is not there")?;
    let array: Array<_, Processor> = Array::try_from(map).map_err(|error| error.to_string())?;
    (0..loaded.processors).map(|number| array.get(&number, 0).map_err(|error| error.to_string())).collect()
}
