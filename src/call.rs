//! A call from the server: its arguments, and what becomes of its result.

use core::any::Any;
use core::ffi::CStr;
use core::ops::Bound;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use pgrx::callconv::{CallCx, RetAbi};
use pgrx::iter::TableIterator;
use pgrx::pg_sys::{self, Datum};
use pgrx::{PgMemoryContexts, PgSqlErrorCode as SqlState, varlena_to_byte_slice};

use crate::datum::{StoredDatum, StoredId};
use crate::epoch;
use crate::error::{self, Error};

// The server's functions as they are: a filter by time calls them for every row, and pgrx's guards would cost more than they
// do. What they may raise is a longjmp over frames of ours that have nothing to drop.
unsafe extern "C-unwind" {
    fn pg_detoast_datum(datum: *mut pg_sys::varlena) -> *mut pg_sys::varlena;
    fn range_get_typcache(call: pg_sys::FunctionCallInfo, range_type: pg_sys::Oid) -> *mut pg_sys::TypeCacheEntry;
    fn range_deserialize(
        facts: *mut pg_sys::TypeCacheEntry,
        range: *const pg_sys::RangeType,
        lower: *mut pg_sys::RangeBound,
        upper: *mut pg_sys::RangeBound,
        is_empty: *mut bool,
    );
}

/// A call of one of our functions, with arguments of the types that the SQL declares, none of them NULL.
#[derive(Clone, Copy)]
pub struct Call(pg_sys::FunctionCallInfo);

impl Call {
    /// An argument as it is.
    pub fn datum(self, index: usize) -> Datum {
        // SAFETY: the SQL declares the argument, so that it is there.
        unsafe { (*self.0).args.as_ptr().add(index).read().value }
    }

    /// NULL as the result.
    pub fn null(self) -> Datum {
        // SAFETY: the server reads this of a call when it has returned.
        unsafe { (*self.0).isnull = true };
        Datum::null()
    }

    /// The rows that a function returns, one at each call of it: made at the first one.
    pub fn rows<Row: 'static, Rows>(self, rows: impl FnOnce() -> Result<Rows, Error>) -> Result<Datum, Error>
    where
        Rows: IntoIterator<Item = Row, IntoIter: 'static> + 'static,
        TableIterator<'static, Row>: RetAbi,
    {
        // SAFETY: the server calls the function with a call that lasts until all rows are returned.
        unsafe {
            let next = match TableIterator::<Row>::check_fcinfo_and_prepare(self.0) {
                CallCx::WrappedFn(context) => {
                    PgMemoryContexts::For(context).switch_to(|_| rows().map(TableIterator::new))?.to_ret()
                }
                CallCx::RestoreCx => TableIterator::<Row>::ret_from_fcinfo_fcx(self.0),
            };
            Ok(TableIterator::<Row>::box_ret_in_fcinfo(self.0, next))
        }
    }

    /// An argument of the ID type itself.
    pub fn id<T: StoredId>(self, index: usize) -> T {
        let stored = self.stored::<T>(index);
        // Only I/O and casts make Datums, and they check; a Datum that is no ID can only be a damaged page.
        T::from_stored(stored).unwrap_or(T::MAX)
    }

    /// An argument of the ID type itself, in its stored form.
    pub fn stored<T: StoredId>(self, index: usize) -> T::Stored {
        // SAFETY: the SQL declares the argument as this type.
        unsafe { <T::Stored as StoredDatum>::from_datum(self.datum(index)) }
    }

    /// An argument of type `bigint` or `timestamptz`.
    pub fn int8(self, index: usize) -> i64 {
        self.datum(index).value() as i64
    }

    /// An argument of type `integer`.
    pub fn int4(self, index: usize) -> i32 {
        self.datum(index).value() as i32
    }

    /// An argument of type `smallint`.
    pub fn int2(self, index: usize) -> i16 {
        self.datum(index).value() as i16
    }

    /// An argument of type `boolean`.
    pub fn boolean(self, index: usize) -> bool {
        self.datum(index).value() != 0
    }

    /// An argument of type `oid`.
    pub fn oid(self, index: usize) -> pg_sys::Oid {
        pg_sys::Oid::from(self.datum(index).value() as u32)
    }

    /// An argument of type `interval`.
    pub fn interval<'a>(self, index: usize) -> &'a pg_sys::Interval {
        // SAFETY: the server passes an interval that outlives the call.
        unsafe { &*self.datum(index).cast_mut_ptr() }
    }

    /// An argument of type `cstring`.
    pub fn cstring<'a>(self, index: usize) -> &'a CStr {
        // SAFETY: the server passes a C string that outlives the call.
        unsafe { CStr::from_ptr(self.datum(index).cast_mut_ptr()) }
    }

    /// An argument of type `bytea` or `text`.
    pub fn varlena<'a>(self, index: usize) -> &'a [u8] {
        // SAFETY: a varlena of the server's; unpacked, it outlives the call.
        unsafe { varlena_to_byte_slice(pg_sys::pg_detoast_datum_packed(self.datum(index).cast_mut_ptr())) }
    }

    /// An argument of type `tstzrange`: its bounds, in microseconds since 1970-01-01 UTC, or nothing if it is empty.
    pub fn tstzrange(self, index: usize) -> Option<(Bound<i64>, Bound<i64>)> {
        let (mut from, mut to, mut is_empty) = (pg_sys::RangeBound::default(), pg_sys::RangeBound::default(), false);
        // SAFETY: a range of the server's, with the type's facts kept in the call.
        unsafe {
            let range = pg_detoast_datum(self.datum(index).cast_mut_ptr()).cast::<pg_sys::RangeType>();
            let facts = range_get_typcache(self.0, (*range).rangetypid);
            range_deserialize(facts, range, &mut from, &mut to, &mut is_empty);
        }
        (!is_empty).then(|| (bound(from), bound(to)))
    }

    /// The rest of a binary message, which is read to its end.
    pub fn message<'a>(self) -> &'a [u8] {
        // SAFETY: receive functions get a StringInfo, whose bytes from the cursor on are ours to read.
        unsafe {
            let message = &mut *self.datum(0).cast_mut_ptr::<pg_sys::StringInfoData>();
            let start = message.data.cast::<u8>().add(message.cursor as usize);
            let rest = core::slice::from_raw_parts(start, (message.len - message.cursor) as usize);
            message.cursor = message.len;
            rest
        }
    }
}

fn bound(bound: pg_sys::RangeBound) -> Bound<i64> {
    let micros = epoch::saturated_unix_micros(bound.val.value() as i64);
    match bound {
        pg_sys::RangeBound { infinite: true, .. } => Bound::Unbounded,
        pg_sys::RangeBound { inclusive: true, .. } => Bound::Included(micros),
        _ => Bound::Excluded(micros),
    }
}

/// Runs a function that may fail, and reports what it fails with; a panic within becomes an error of the server.
///
/// # Safety
/// For the server to call, through a symbol that the SQL declares with the arguments that the function reads.
#[inline(always)]
pub unsafe fn guarded(info: pg_sys::FunctionCallInfo, function: impl FnOnce(Call) -> Result<Datum, Error>) -> Datum {
    // Catching costs nothing where nothing is thrown. pgrx's guard, which #[pg_guard] puts around a function, knows what to do
    // with a panic; around every call it would cost as much as drawing an ID. An ordinary error is reported outside of it, so
    // that it is no panic.
    match catch_unwind(AssertUnwindSafe(|| function(Call(info)))) {
        Ok(Ok(datum)) => datum,
        // SAFETY: no frame of ours below the server's has anything left to drop.
        Ok(Err(error)) => unsafe { error::report(error, (*info).context) },
        // SAFETY: this is the outermost frame of ours.
        Err(panic) => unsafe { report_panic(panic, (*info).context) },
    }
}

/// Reports a panic. Where it carries an error of the server's, pgrx rethrows that as it was. Any other is a mistake of ours, of
/// which pgrx would show the user a backtrace.
///
/// # Safety
/// As [`error::report`].
#[cold]
unsafe fn report_panic(panic: Box<dyn Any + Send>, context: *mut pg_sys::Node) -> Datum {
    let message = match (panic.downcast_ref::<&str>(), panic.downcast_ref::<String>()) {
        (Some(message), _) => message.as_bytes().to_vec(),
        (_, Some(message)) => message.clone().into_bytes(),
        // SAFETY: as the caller's.
        _ => return unsafe { pg_sys::panic::pgrx_extern_c_guard(|| resume_unwind(panic)) },
    };
    drop(panic);
    // SAFETY: as the caller's; the error is the only value that is left to drop, and the callee's to drop.
    unsafe { error::report(Error::new(SqlState::ERRCODE_INTERNAL_ERROR, message), context) }
}

/// Runs a function that can neither fail nor panic, with no guard around it, for it has to cost nothing.
///
/// # Safety
/// As [`guarded`].
#[inline(always)]
pub unsafe fn raw(info: pg_sys::FunctionCallInfo, function: impl FnOnce(Call) -> Datum) -> Datum {
    function(Call(info))
}
