//! Window frames by time: `RANGE BETWEEN '1 hour' PRECEDING AND CURRENT ROW` with an ID as the ordering column.

use core::cmp::Ordering;

use pgrx::pg_sys::{Datum, Interval, Oid};

use crate::call::Call;
use crate::call::epoch::{self, MICROS_PER_DAY};
use crate::call::error::{Error, sql_error};
use crate::call::stored::StoredId;
use crate::pg::unguarded::{DirectFunctionCall2Coll, timestamptz_mi_interval, timestamptz_pl_interval};

/// The average over the 4,800 months after which the Gregorian calendar repeats.
const MICROS_PER_AVERAGE_MONTH: i128 = 146_097 * MICROS_PER_DAY / 4_800;

/// Years after 2000 between which the server can add intervals without an overflow. They lie within its range of timestamps,
/// 4713 BC to AD 294276, and the times of all IDs lie between them.
const FIRST_YEAR: i128 = -6_600;
const LAST_YEAR: i128 = 290_000;

/// `T_in_range(T, T, interval, boolean, boolean) → boolean`: whether an ID is at or after a base ID that is moved by an offset
///
/// With `less`, returns whether the ID is at or before the moved base. With `subtract`, moves the base backward. The moved base
/// keeps its bits below the timestamp: an offset of zero does not change it. Raises 22013 if the offset is negative.
pub fn in_range<T: StoredId>(call: Call) -> Result<Datum, Error> {
    let [value, base] = [0, 1].map(|index| call.id::<T>(index));
    let [subtract, less] = [3, 4].map(|index| call.datum(index).value() != 0);
    let offset = call.interval(2);
    if epoch::compared_length(offset) < 0 {
        return Err(sql_error!(
            ERRCODE_INVALID_PRECEDING_OR_FOLLOWING_SIZE,
            "invalid preceding or following size in window function"
        ));
    }
    let moved = moved(epoch::of(base), offset, subtract);
    let order = epoch::of(value).cmp(&moved).then_with(|| order_of_low_bits(value, base));
    Ok(Datum::from(if less { order.is_le() } else { order.is_ge() }))
}

/// A timestamptz plus or minus an interval. The server computes it by the calendar, in the session's time zone. If the
/// server might overflow, returns an estimate with months of average length. An estimate out of the server's range is also
/// beyond the times of all IDs.
fn moved(timestamptz: i64, interval: &Interval, subtract: bool) -> i64 {
    let parts = [
        i128::from(interval.month) * MICROS_PER_AVERAGE_MONTH,
        i128::from(interval.day) * MICROS_PER_DAY,
        i128::from(interval.time),
    ];
    let sums = parts.iter().scan(i128::from(timestamptz), |sum, part| {
        *sum += if subtract { -part } else { *part };
        Some(*sum)
    });
    let year = 12 * MICROS_PER_AVERAGE_MONTH;
    if !sums.clone().all(|sum| (FIRST_YEAR * year..LAST_YEAR * year).contains(&sum)) {
        let saturated = |sum: i128| sum.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64;
        return sums.last().map_or(timestamptz, saturated);
    }
    let function = if subtract { timestamptz_mi_interval } else { timestamptz_pl_interval };
    // SAFETY: the server's function takes a timestamptz and an interval.
    let sum = unsafe {
        DirectFunctionCall2Coll(Some(function), Oid::INVALID, timestamptz.into(), Datum::from(&raw const *interval))
    };
    sum.value() as i64
}

fn order_of_low_bits<T: StoredId>(one: T, other: T) -> Ordering {
    let [one, other, mask] = [one, other, T::last_of(0)].map(T::to_be_bytes);
    let [one, other] = [&one, &other].map(|id| id.as_ref().iter().zip(mask.as_ref()).map(|(byte, mask)| byte & mask));
    one.cmp(other)
}
