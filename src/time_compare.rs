//! `id < time` and its kin: an ID compares with a time by its own, exactly and for every ID and time.

use core::cmp::Ordering;

use pgrx::pg_sys::Datum;

use crate::call::Call;
use crate::datum::StoredId;
use crate::epoch;
use crate::error::Error;

/// An operator between an ID and a time, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    Less,
    LessOrEqual,
    GreaterOrEqual,
    Greater,
}

impl Operator {
    /// By its short name in the names of functions.
    pub fn named(name: &[u8]) -> Option<Self> {
        match name {
            b"lt" => Some(Self::Less),
            b"le" => Some(Self::LessOrEqual),
            b"ge" => Some(Self::GreaterOrEqual),
            b"gt" => Some(Self::Greater),
            _ => None,
        }
    }

    /// By its symbol.
    fn from_symbol(symbol: &[u8]) -> Option<Self> {
        match symbol {
            b"<" => Some(Self::Less),
            b"<=" => Some(Self::LessOrEqual),
            b">=" => Some(Self::GreaterOrEqual),
            b">" => Some(Self::Greater),
            _ => None,
        }
    }

    /// Its symbol.
    pub const fn symbol(self) -> &'static str {
        match self {
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::GreaterOrEqual => ">=",
            Self::Greater => ">",
        }
    }

    /// The operator with its arguments in the other order.
    pub const fn commuted(self) -> Self {
        match self {
            Self::Less => Self::Greater,
            Self::LessOrEqual => Self::GreaterOrEqual,
            Self::GreaterOrEqual => Self::LessOrEqual,
            Self::Greater => Self::Less,
        }
    }

    /// The operator that holds where this one does not.
    pub const fn negated(self) -> Self {
        match self {
            Self::Less => Self::GreaterOrEqual,
            Self::LessOrEqual => Self::Greater,
            Self::GreaterOrEqual => Self::Less,
            Self::Greater => Self::LessOrEqual,
        }
    }

    /// Whether it holds for the largest IDs, and not for the smallest.
    pub const fn is_from_below(self) -> bool {
        matches!(self, Self::GreaterOrEqual | Self::Greater)
    }

    /// The number of ticks below the bound that a time is: the operator holds for the IDs of these alone, or of all others. From
    /// 0 to one more than the last tick.
    pub fn ticks_below<T: StoredId>(self, timestamptz: i64) -> u64 {
        let micros = epoch::saturated_unix_micros(timestamptz);
        match self {
            Self::Less | Self::GreaterOrEqual => T::TICKS.starting_before(micros),
            Self::LessOrEqual | Self::Greater => T::TICKS.starting_until(micros),
        }
    }

    /// The smallest and the largest ID for which it holds.
    fn ids<T: StoredId>(self, timestamptz: i64) -> Option<(T, T)> {
        let below = self.ticks_below::<T>(timestamptz);
        if self.is_from_below() {
            (below <= T::TICKS.max).then(|| (T::first_of(below), T::MAX))
        } else {
            below.checked_sub(1).map(|last| (T::MIN, T::last_of(last)))
        }
    }
}

/// `T_lt_timestamptz(T, timestamptz) → boolean` and its kin, by what the order of the two has to be
#[inline]
pub fn id_with_time<T: StoredId>(call: Call, holds: fn(Ordering) -> bool) -> Datum {
    Datum::from(holds(epoch::of(call.id::<T>(0)).cmp(&call.int8(1))))
}

/// `timestamptz_lt_T(timestamptz, T) → boolean` and its kin
#[inline]
pub fn time_with_id<T: StoredId>(call: Call, holds: fn(Ordering) -> bool) -> Datum {
    Datum::from(holds(call.int8(0).cmp(&epoch::of(call.id::<T>(1)))))
}

/// `T_time_bound(timestamptz, text) → T`: the smallest or the largest ID for which the operator of this symbol holds, whichever is
/// the nearer to the time; NULL if it holds for none
pub fn bound<T: StoredId>(call: Call) -> Result<Datum, Error> {
    let Some(operator) = operator(call, 1) else { return Ok(call.null()) };
    Ok(match operator.ids::<T>(call.int8(0)) {
        Some((smallest, largest)) => {
            let nearest = if operator.is_from_below() { smallest } else { largest };
            nearest.to_datum()
        }
        None => call.null(),
    })
}

/// `T_time_lower(timestamptz, text) → T`: the smallest ID for which the operator of this symbol holds, or the largest of all if it
/// holds for none
pub fn lower<T: StoredId>(call: Call) -> Result<Datum, Error> {
    Ok(smallest_and_largest(call).map_or_else(|| call.null(), |(smallest, _): (T, T)| smallest.to_datum()))
}

/// `T_time_upper(timestamptz, text) → T`: the largest ID for which the operator of this symbol holds, or the smallest of all if it
/// holds for none
pub fn upper<T: StoredId>(call: Call) -> Result<Datum, Error> {
    Ok(smallest_and_largest(call).map_or_else(|| call.null(), |(_, largest): (T, T)| largest.to_datum()))
}

/// `T_time_possible(T, timestamptz, text) → boolean`: whether the operator of this symbol holds for any ID with a time
pub fn possible<T: StoredId>(call: Call) -> Result<Datum, Error> {
    let Some(operator) = operator(call, 2) else { return Ok(call.null()) };
    Ok(Datum::from(operator.ids::<T>(call.int8(1)).is_some()))
}

fn smallest_and_largest<T: StoredId>(call: Call) -> Option<(T, T)> {
    Some(operator(call, 1)?.ids(call.int8(0)).unwrap_or((T::MAX, T::MIN)))
}

/// The operator of an argument.
fn operator(call: Call, index: usize) -> Option<Operator> {
    Operator::from_symbol(call.varlena(index))
}
