//! The description of a kind of device, and the macro that makes one type of all kinds.

use super::service::Device;
use crate::draw::{AmountLaw, is_positive};
use crate::notation::values::required;
use crate::notation::written::TomlText;
use loadgo_core::notation::mistakes::SyntaxMistake;
use loadgo_core::notation::shape::{KeyRule, KeyShape};
use loadgo_core::notation::table::KeyedTable;

/// A device as a machine file describes it.
pub trait DeviceSpec: Sized {
    /// The device at work.
    type Device: Device;
    /// The name of the kind in machine files.
    const KIND: &'static str;
    /// The keys in machine files that belong to this kind.
    const KEYS: &'static [KeyShape];
    /// The keys among them that exclude each other.
    const RULES: &'static [KeyRule] = &[];

    /// Reads the keys of this kind.
    ///
    /// # Errors
    /// The first mistake, with its place.
    fn read(table: &KeyedTable<'_>) -> Result<Self, SyntaxMistake>;
    /// Writes the keys of this kind, so that they are read back as the same values.
    fn write(&self, rows: &mut TomlText);
    /// Checks that such a device can serve requests.
    ///
    /// # Errors
    /// What is wrong with it, as the end of a sentence.
    fn check(&self) -> Result<(), &'static str>;
    /// An idle device.
    fn build(&self) -> Self::Device;
    /// The number of servers in reports; `u32::MAX`: a delay.
    fn servers(&self) -> u32;

    /// A value that the file must have; `what` names it, and says how to add it.
    ///
    /// # Errors
    /// There is no value.
    fn needed<T>(value: Option<T>, table: &KeyedTable<'_>, what: &str) -> Result<T, SyntaxMistake> {
        required(value, table, &format!("a {} needs {what}", Self::KIND))
    }
}

/// The end of the message about a device that turns, without the time of a revolution.
pub(super) const REVOLUTION_IS_MISSING: &str = "the time of a revolution: add revolution = \"33.3ms\"";

/// Checks the rate of a transfer.
pub(super) fn check_rate(words_per_second: Option<f64>) -> Result<(), &'static str> {
    let ends = words_per_second.is_none_or(is_positive);
    if ends { Ok(()) } else { Err("never ends a transfer: `words_per_second` is above 0") }
}

/// Checks the number of channels.
pub(super) fn check_channels(channels: u32) -> Result<(), &'static str> {
    if channels > 0 { Ok(()) } else { Err("has no channel: `channels` is 1 or more") }
}

/// Checks a law of times.
pub(super) fn check_times(law: &AmountLaw) -> Result<(), &'static str> {
    if law.is_sound() { Ok(()) } else { Err("has a law that gives no times: its mean is a number, 0 or more") }
}

/// Makes `StoreKind` and `Storage` of the list of all devices: each with a name in Rust and its [`DeviceSpec`].
macro_rules! devices {
    ($($(#[$about:meta])* $name:ident($spec:ty),)*) => {
        /// A kind of storage device, with its values.
        #[derive(Clone, Debug, PartialEq)]
        pub enum StoreKind { $($(#[$about])* $name($spec),)* }

        impl StoreKind {
            /// The names of all kinds in machine files, each with its keys.
            pub(crate) const OPTIONS: &[OptionShape] =
                &[$(OptionShape { name: <$spec>::KIND, keys: <$spec>::KEYS, rules: <$spec>::RULES }),*];

            /// Reads the keys of the kind called `name`, which is one of the options.
            pub(crate) fn read(name: &str, table: &KeyedTable<'_>) -> Result<StoreKind, SyntaxMistake> {
                match name {
                    $(<$spec>::KIND => <$spec>::read(table).map(StoreKind::$name),)*
                    _ => unreachable!("{name} is one of the options"),
                }
            }

            /// Writes the kind and its keys.
            pub(crate) fn write(&self, rows: &mut TomlText) {
                match self {
                    $(StoreKind::$name(spec) => {
                        rows.key("kind", quoted(<$spec>::KIND));
                        spec.write(rows);
                    })*
                }
            }

            /// Checks that such a device can serve requests; what is wrong with it, as the end of a sentence.
            pub(crate) fn check(&self) -> Result<(), &'static str> {
                match self { $(StoreKind::$name(spec) => spec.check(),)* }
            }

            /// The number of servers in reports; `u32::MAX`: a delay.
            pub(crate) fn servers(&self) -> u32 {
                match self { $(StoreKind::$name(spec) => spec.servers(),)* }
            }
        }

        /// A storage device of any kind.
        #[derive(Clone, Debug)]
        pub enum Storage { $($(#[$about])* $name(<$spec as DeviceSpec>::Device),)* }

        impl Storage {
            /// An idle device of this kind.
            pub fn new(kind: &StoreKind) -> Storage {
                match kind { $(StoreKind::$name(spec) => Storage::$name(spec.build()),)* }
            }
        }

        one_of_devices! { Storage: $($name,)* }
    };
}

/// Makes a [`Device`] of an enum whose variants are devices.
macro_rules! one_of_devices {
    ($storage:ident: $($name:ident,)*) => {
        impl Device for $storage {
            #[inline]
            fn submit(&mut self, request: DeviceRequest, now: u64, stream: &mut RandomStream) -> Option<Completion> {
                match self { $($storage::$name(device) => device.submit(request, now, stream),)* }
            }

            #[inline]
            fn complete(
                &mut self,
                server: u32,
                now: u64,
                stream: &mut RandomStream,
            ) -> (Option<DeviceRequest>, Option<Completion>) {
                match self { $($storage::$name(device) => device.complete(server, now, stream),)* }
            }

            fn load(&self) -> usize {
                match self { $($storage::$name(device) => device.load(),)* }
            }

            fn busy_ns(&self, now: u64) -> u64 {
                match self { $($storage::$name(device) => device.busy_ns(now),)* }
            }

            fn servers(&self) -> u32 {
                match self { $($storage::$name(device) => device.servers(),)* }
            }
        }
    };
}

pub(super) use {devices, one_of_devices};
