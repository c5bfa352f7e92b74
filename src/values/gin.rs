//! GIN operator class: equality and order of IDs. It allows an index on an ID and columns of other types, such as `jsonb`.
//!
//! An index key is an ID. A search begins at a key. For an inequality, it is a partial match: it continues at the following keys.

use core::cmp::Ordering;
use core::ffi::c_int;

use pgrx::pg_sys::{self, Datum};

use crate::call::Call;
use crate::call::error::Error;
use crate::call::stored::{StoredDatum, StoredId};
use crate::pg::datum;

/// Results of a partial match.
const MATCHES: i32 = 0;
const CONTINUE: i32 = -1;
const STOP: i32 = 1;

/// `T_gin_extract_value(T, internal) → internal`: the ID as the only key
pub fn extract_value(call: Call) -> Result<Datum, Error> {
    // SAFETY: the server passes a pointer for the number of keys.
    unsafe { call.datum(1).cast_mut_ptr::<c_int>().write(1) };
    Ok(only(call.datum(0)))
}

/// `T_gin_extract_query(T, internal, smallint, internal, internal, internal, internal) → internal`: the key at which a search begins
///
/// The searches of `<` and `<=` begin at the smallest ID.
pub fn extract_query<T: StoredId>(call: Call) -> Result<Datum, Error> {
    let (id, strategy) = (call.datum(0), call.int2(2) as u32);
    // SAFETY: the server passes pointers to store the number of keys and two arrays, which have an element for each key. The ID
    // outlives the search.
    unsafe {
        call.datum(1).cast_mut_ptr::<c_int>().write(1);
        let is_partial = strategy != pg_sys::BTEqualStrategyNumber;
        call.datum(3).cast_mut_ptr::<*mut bool>().write(datum::array(1, |_| is_partial));
        call.datum(4).cast_mut_ptr::<*mut Datum>().write(datum::array(1, |_| id));
    }
    let begins_at_smallest = [pg_sys::BTLessStrategyNumber, pg_sys::BTLessEqualStrategyNumber].contains(&strategy);
    Ok(only(if begins_at_smallest { T::MIN.to_datum() } else { id }))
}

/// `T_gin_compare_partial(T, T, smallint, internal) → integer`: whether a key matches, and whether later keys can
///
/// The second argument is the key, and the last one the ID of the search.
pub fn compare_partial<T: StoredId>(call: Call) -> Datum {
    let (key, strategy) = (call.stored::<T>(1), call.int2(2) as u32);
    // SAFETY: the last argument is the pointer that `extract_query` has returned: the Datum of an ID.
    let order = key.order(unsafe { <T::Stored as StoredDatum>::from_datum(call.datum(3)) });
    Datum::from(match (strategy, order) {
        (pg_sys::BTLessStrategyNumber, Ordering::Equal | Ordering::Greater) => STOP,
        (pg_sys::BTLessEqualStrategyNumber, Ordering::Greater) => STOP,
        (pg_sys::BTGreaterStrategyNumber, Ordering::Equal) => CONTINUE,
        _ => MATCHES,
    })
}

/// `T_gin_triconsistent(internal, smallint, T, integer, internal, internal, internal) → "char"`: whether a row matches, which it
/// does if its key does
pub fn triconsistent(call: Call) -> Datum {
    // SAFETY: the server passes the results of the keys, of which a search has one.
    Datum::from(unsafe { *call.datum(0).cast_mut_ptr::<pg_sys::GinTernaryValue>() })
}

fn only(datum: Datum) -> Datum {
    Datum::from(datum::array(1, |_| datum))
}
