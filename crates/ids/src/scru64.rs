//! SCRU64: the ID, its node, its settings, and the state and the steps of its generator.

use std::fmt;
use std::str::FromStr;

use rand::Rng;

use crate::digits::{BASE36, POW_12};
use crate::generator::{Context, MAX_AHEAD_MICROS, Moment, NoId, Refusal, Step, place_strictly};
use crate::{Field, GeneratedId, Getter, MAX_TEXT_LEN, ParseError, SortableId, SqlId, Ticks};

/// The number of bits that the node ID and the counter share.
const NODE_CTR_BITS: u32 = 24;
const MAX_NODE_CTR: u32 = (1 << NODE_CTR_BITS) - 1;

/// The minimum size of a node ID, in bits, at which the most significant bit of the counter starts as 0.
const GUARDED_SIZE: u32 = 20;

/// A SCRU64: a 64-bit ID, in order of creation, unique by the node that generates it.
///
/// Its [specification](https://github.com/scru64/spec) defines these fields:
///
/// | bits | field |
/// |---|---|
/// | 1 | 0, because an ID is less than 36^12 |
/// | 39 | `timestamp`: units of 256 ms since 1970-01-01 UTC |
/// | 24 | `node_ctr`: `node_id` in the upper `node_id_size` bits, 1 to 23, and `counter` in the lower bits |
///
/// Every tick of 256 ms starts with a new random counter. Every further ID of the tick increments it by 1. If `node_id_size` is
/// 20 or more, the most significant bit of the counter starts as 0, which leaves room for counting, as in the reference
/// implementation. When the counter overflows, the timestamp runs ahead of the clock. If the timestamp would be more than one
/// second ahead, the generator waits.
///
/// Every integer below 36^12 is an ID. The text has 12 Base36 digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Scru64(u64);

impl Scru64 {
    /// Returns the ID with this integer value, or `None` if the value is 36^12 or more.
    pub const fn from_u64(value: u64) -> Option<Self> {
        if value < POW_12 { Some(Self(value)) } else { None }
    }

    /// Returns the integer value.
    pub const fn to_u64(self) -> u64 {
        self.0
    }

    /// Returns the ID with these fields, or `None` if `timestamp` is out of range. Bits of `node_ctr` beyond its 24 bits are
    /// discarded.
    pub const fn from_fields(timestamp: u64, node_ctr: u32) -> Option<Self> {
        if timestamp <= Self::TICKS.max { Some(Self::join(timestamp, node_ctr & MAX_NODE_CTR)) } else { None }
    }

    /// Returns the timestamp, in units of 256 ms since 1970-01-01 UTC.
    pub const fn timestamp(self) -> u64 {
        self.0 >> NODE_CTR_BITS
    }

    /// Returns the 24 bits of the node ID and the counter.
    pub const fn node_ctr(self) -> u32 {
        self.0 as u32 & MAX_NODE_CTR
    }

    /// Returns the node ID. `node_id_size` is its size in bits, 1 to 23.
    pub const fn node_id(self, node_id_size: u32) -> u32 {
        self.node_ctr() >> (NODE_CTR_BITS - node_id_size)
    }

    /// Returns the counter. `node_id_size` is the size of the node ID in bits, 1 to 23.
    pub const fn counter(self, node_id_size: u32) -> u32 {
        self.node_ctr() & (MAX_NODE_CTR >> node_id_size)
    }

    const fn join(timestamp: u64, node_ctr: u32) -> Self {
        Self(timestamp << NODE_CTR_BITS | node_ctr as u64)
    }
}

/// The node of a generator, and the last ID that it has generated, if known.
///
/// The text of a node is `node_id/node_id_size`. The node ID is decimal, as in `42/8`, or hexadecimal, as in `0xb00/12`. The
/// size of the node ID is in bits, 1 to 23. The last SCRU64 ID of the node may replace the node ID, as in
/// `0u2r85hm2pt3/16`. Twelve characters before the slash are always an ID.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scru64Node {
    id: u32,
    size: u32,
    previous: Scru64,
}

impl Scru64Node {
    /// Returns the node ID.
    pub const fn id(self) -> u32 {
        self.id
    }

    /// Returns the size of the node ID in bits, 1 to 23.
    pub const fn size(self) -> u32 {
        self.size
    }

    /// Returns the last ID of the node, after which the generator continues, or [`Scru64::MIN`] if it is unknown.
    pub const fn previous(self) -> Scru64 {
        self.previous
    }

    /// Returns whether two nodes could generate the same ID: the bits of one node ID are the first bits of the other.
    pub const fn collides(self, other: Self) -> bool {
        let size = if self.size < other.size { self.size } else { other.size };
        self.id >> (self.size - size) == other.id >> (other.size - size)
    }

    /// Returns an ID of `tick` with a random counter.
    fn start(self, tick: u64, rng: &mut impl Rng) -> Scru64 {
        let guard = u32::from(self.size >= GUARDED_SIZE);
        let counter = rng.next_u32() & (MAX_NODE_CTR >> (self.size + guard));
        Scru64::join(tick, self.id << (NODE_CTR_BITS - self.size) | counter)
    }

    /// Returns the ID after `last` in the same tick, or `None` if `last` is of another node or its counter is at its maximum.
    fn count(self, last: Scru64) -> Option<Scru64> {
        let has_room = last.counter(self.size) < MAX_NODE_CTR >> self.size;
        (last.node_id(self.size) == self.id && has_room).then_some(Scru64(last.0 + 1))
    }
}

/// Returns the node `0/4`.
impl Default for Scru64Node {
    fn default() -> Self {
        Self { id: 0, size: 4, previous: Scru64::MIN }
    }
}

/// An error returned when parsing a node fails: a sentence that names the invalid part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeError(String);

impl fmt::Display for NodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NodeError {}

impl FromStr for Scru64Node {
    type Err = NodeError;

    fn from_str(text: &str) -> Result<Self, NodeError> {
        let Some((node, size)) = text.split_once('/').filter(|(_, size)| !size.contains('/')) else {
            return invalid("A node is specified as node_id/node_id_size with one slash, such as \"42/8\".");
        };
        let Some(size) = parse_digits(size, 10, 3).filter(|size| (1..NODE_CTR_BITS).contains(size)) else {
            return invalid(format!("The node_id_size after the slash must be a number from 1 to 23, not \"{size}\"."));
        };
        if node.len() == Scru64::TEXT_LEN {
            return match node.parse::<Scru64>() {
                Ok(previous) => Ok(Self { id: previous.node_id(size), size, previous }),
                Err(error) => invalid(format!("\"{node}\" before the slash is not a valid SCRU64 ID: {error}.")),
            };
        }
        let id = match node.strip_prefix("0x").or_else(|| node.strip_prefix("0X")) {
            Some(digits) => parse_digits(digits, 16, 6),
            None => parse_digits(node, 10, 8),
        };
        match id {
            Some(id) if id >> size == 0 => Ok(Self { id, size, previous: Scru64::MIN }),
            Some(_) => invalid(format!("The node_id {node} does not fit into a node_id_size of {size}.")),
            None => invalid(format!(
                "\"{node}\" before the slash is neither a node_id of at most 8 characters, decimal or hexadecimal with \
                 \"0x\", nor a SCRU64 ID of 12 digits."
            )),
        }
    }
}

fn invalid<T>(sentence: impl Into<String>) -> Result<T, NodeError> {
    Err(NodeError(sentence.into()))
}

/// Parses a number without a sign, of at most `max_len` digits.
fn parse_digits(text: &str, radix: u32, max_len: usize) -> Option<u32> {
    u32::from_str_radix(text, radix).ok().filter(|_| text.len() <= max_len && !text.starts_with('+'))
}

/// The settings of SCRU64.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scru64Settings {
    /// The node of this server.
    pub node: Scru64Node,
}

/// Returns the tick after the last one, if it may start at the time of the clock.
///
/// # Errors
/// Returns [`Refusal::ClockOutOfRange`] if that tick is reserved, and [`NoId::Wait`] if it starts more than [`MAX_AHEAD_MICROS`]
/// after the clock.
fn next_tick(last: u64, now: i64) -> Result<u64, NoId> {
    let earliest = Scru64::TICKS.start(last + 1) - MAX_AHEAD_MICROS;
    match last + 1 {
        tick if tick >= Scru64::TICKS.max => Err(NoId::Refused(Refusal::ClockOutOfRange)),
        _ if now < earliest => Err(NoId::Wait(earliest)),
        tick => Ok(tick),
    }
}

impl SortableId for Scru64 {
    const NAME: &'static str = "scru64";
    const TEXT_LEN: usize = 12;
    const MIN: Self = Self(0);
    const MAX: Self = Self(POW_12 - 1);
    const TICKS: Ticks = Ticks { epoch: 0, micros: 256_000, max: Self::MAX.timestamp(), shift: NODE_CTR_BITS };
    const SEQUENCE_BITS: u32 = NODE_CTR_BITS;

    type Stored = i64;

    fn to_stored(self) -> i64 {
        self.0 as i64
    }

    fn from_stored(stored: i64) -> Option<Self> {
        u64::try_from(stored).ok().and_then(Self::from_u64)
    }

    #[inline]
    fn parse(text: &[u8]) -> Result<Self, ParseError> {
        BASE36.decode_12(text).map(Self)
    }

    fn digits(self, buffer: &mut [u8; MAX_TEXT_LEN]) -> &[u8] {
        BASE36.encode_12(self.0, buffer)
    }

    fn ends_of(tick: u64) -> [Self; 2] {
        [Self::join(tick, 0), Self::join(tick, MAX_NODE_CTR)]
    }
}

impl GeneratedId for Scru64 {
    const SERVER_WIDE: bool = true;
    /// The ID that the next one follows; 0 if there is none.
    type State = u64;
    type Settings = Scru64Settings;

    /// Returns a random ID of `tick` and of any node, without a guarantee of uniqueness.
    fn random_of(tick: u64, rng: &mut impl Rng) -> Self {
        Self::join(tick, rng.next_u32() & MAX_NODE_CTR)
    }

    /// Returns whether the ID has the node of the server.
    fn is_local(self, settings: &Scru64Settings) -> bool {
        self.node_id(settings.node.size) == settings.node.id
    }

    fn node_text(settings: &Scru64Settings) -> Option<String> {
        Some(format!("{}/{}", settings.node.id, settings.node.size))
    }

    fn state_after(tick: u64, _: &mut impl Rng) -> u64 {
        Self::last_of(tick.min(Self::TICKS.max)).0
    }

    fn last_id(state: u64) -> Option<Self> {
        (state != 0).then_some(Self(state))
    }

    #[inline(always)]
    fn step(state: u64, context: &Context<Scru64Settings>, rng: &mut impl Rng) -> Step<Self> {
        let node = context.settings.node;
        let last = Self(state).max(node.previous);
        let next = match place_strictly::<Self>(last.timestamp(), context.now)? {
            Moment::Fresh(tick) | Moment::Later(tick) => node.start(tick, rng),
            Moment::Same => match node.count(last) {
                Some(next) => next,
                None => node.start(next_tick(last.timestamp(), context.now)?, rng),
            },
        };
        Ok((next.0, next))
    }
}

/// Returns a field that depends on the size of the node ID.
const fn of_size(name: &'static str, summary: &'static str, get: fn(Scru64, u32) -> u32) -> Field<Scru64> {
    Field { name, summary, getter: Getter::Bits24By { parameter: "node_id_size", range: 1..=23, get } }
}

impl SqlId for Scru64 {
    const SUMMARY: &'static str = "SCRU64: 64-bit ID in order of creation, unique by its node (12 Base36 digits)";
    const NODE_SETTING: Option<&'static str> = Some("scru64_node");
    const FIELDS: &'static [Field<Self>] = &[
        Field {
            name: "node_ctr",
            summary: "24 bits: the node ID, and below it the counter",
            getter: Getter::Bits24(Self::node_ctr),
        },
        of_size("node_id", "The node that made the ID", Self::node_id),
        of_size(
            "counter",
            "The bits below the node ID, random at the start of every tick, then counted up",
            Self::counter,
        ),
    ];
}

#[cfg(test)]
#[path = "../tests/unit/scru64.rs"]
mod tests;
