//! A call of an SQL function from the server: its arguments, its result, and its errors with their HINTs.
//!
//! A function gets a [`Call`] and returns a Datum or an [`error::Error`], which is raised as PostgreSQL's own types raise theirs.

pub mod epoch;
pub mod error;
pub mod hints;
pub mod stored;

use core::any::Any;
use core::ffi::{CStr, c_int};
use core::marker::PhantomData;
use core::ptr;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use pgrx::callconv::{CallCx, RetAbi};
use pgrx::iter::TableIterator;
use pgrx::pg_sys::{self, Datum, Oid};
use pgrx::{PgMemoryContexts, PgSqlErrorCode as SqlState, varlena_to_byte_slice};
use scru_server::time_compare::first_and_last;

use crate::call::error::Error;
use crate::call::stored::{StoredDatum, StoredId};
use crate::pg::allocator;
use crate::pg::trigger::Trigger;
use crate::pg::unguarded::{MemoryContextAlloc, pg_detoast_datum_packed};

/// The schema of the functions and sequences that no user names: the same in each database. 0 if this one does not have it.
pub fn internal_schema() -> Oid {
    // SAFETY: a look-up.
    unsafe { pg_sys::get_namespace_oid(c"scru_internal".as_ptr(), true) }
}

/// A call of one of the extension's functions, which [`guarded`] and [`raw`] make. The arguments have the types that the SQL declares.
/// None is NULL if the function is STRICT.
#[derive(Clone, Copy)]
pub struct Call<'call>(pg_sys::FunctionCallInfo, PhantomData<&'call ()>);

impl<'call> Call<'call> {
    pub fn datum(self, index: usize) -> Datum {
        // SAFETY: the SQL declares the argument, so it exists.
        unsafe { (*self.0).args.as_ptr().add(index).read().value }
    }

    pub fn is_null(self, index: usize) -> bool {
        // SAFETY: the SQL declares the argument, so it exists.
        unsafe { (*self.0).args.as_ptr().add(index).read().isnull }
    }

    /// The call as that of a trigger; `None` if the function was called in another way.
    pub fn trigger(self) -> Option<Trigger<'call>> {
        // SAFETY: the server passes a valid call, which outlives `'call`.
        unsafe { Trigger::of(self.0) }
    }

    /// The schema of the function, which is that of the extension.
    pub fn schema(self) -> Oid {
        // SAFETY: the server passes a valid call of a function of the catalogs.
        unsafe { pg_sys::get_func_namespace((*(*self.0).flinfo).fn_oid) }
    }

    /// Whether the state of the function outlives the result: the memory context of the result is a child of that of the state, as in
    /// a scan, where it is that of a row. ALTER TABLE and ANALYZE keep results after they have freed the state.
    #[inline]
    pub fn outlives_result(self) -> bool {
        // SAFETY: the server passes a valid call. The current memory context is valid.
        unsafe {
            let function = (*self.0).flinfo.as_ref();
            function.is_some_and(|function| (*pg_sys::CurrentMemoryContext).parent == function.fn_mcxt)
        }
    }

    /// Whether an argument is the same in each call of the expression.
    pub fn has_stable(self, index: c_int) -> bool {
        // SAFETY: the server passes a valid call. The function accepts one without a state.
        unsafe { pg_sys::get_fn_expr_arg_stable((*self.0).flinfo, index) }
    }

    /// The value that an earlier call of the same expression has kept, if it is current. Otherwise makes a value, and keeps it
    /// until the statement ends. A function must keep values of one type only. For values that own memory or are aligned to more than
    /// 8 bytes; [`remembered`](Self::remembered) is faster.
    pub fn kept<V: 'static>(
        self,
        is_current: impl FnOnce(&V) -> bool,
        make: impl FnOnce() -> Result<V, Error>,
    ) -> Result<&'call V, Error> {
        // SAFETY: the server passes a valid call. Its `fn_extra` is null, or a value of the function in `fn_mcxt`, which lives longer
        // than the call. No reference to the value is left from an earlier call.
        unsafe {
            let function = (*self.0).flinfo;
            let kept = (*function).fn_extra.cast::<V>();
            if kept.is_null() {
                let made = PgMemoryContexts::For((*function).fn_mcxt).leak_and_drop_on_delete(make()?);
                (*function).fn_extra = made.cast();
                return Ok(&*made);
            }
            if !is_current(&*kept) {
                *kept = make()?;
            }
            Ok(&*kept)
        }
    }

    /// Makes the result NULL.
    pub fn null(self) -> Datum {
        // SAFETY: the server passes a valid call, and reads this field when the function has returned.
        unsafe { (*self.0).isnull = true };
        Datum::null()
    }

    /// The next row of a set-returning function. `rows` runs in the first call only.
    pub fn rows<Row: 'static, Rows>(self, rows: impl FnOnce() -> Result<Rows, Error>) -> Result<Datum, Error>
    where
        Rows: IntoIterator<Item = Row, IntoIter: 'static> + 'static,
        TableIterator<'static, Row>: RetAbi,
    {
        // SAFETY: the server passes the same call state until all rows are returned.
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

    /// An argument of the ID type.
    pub fn id<T: StoredId>(self, index: usize) -> T {
        let stored = self.stored::<T>(index);
        // Input, casts and generation make only valid IDs. An invalid one can only come from a corrupted page.
        T::from_stored(stored).unwrap_or(T::MAX)
    }

    /// An argument of the ID type in its stored form.
    pub fn stored<T: StoredId>(self, index: usize) -> T::Stored {
        // SAFETY: the SQL declares the argument with this type.
        unsafe { <T::Stored as StoredDatum>::from_datum(self.datum(index)) }
    }

    /// An argument of type `bigint` or `timestamptz`.
    pub fn int8(self, index: usize) -> i64 {
        self.datum(index).value() as i64
    }

    pub fn int4(self, index: usize) -> i32 {
        self.datum(index).value() as i32
    }

    pub fn int2(self, index: usize) -> i16 {
        self.datum(index).value() as i16
    }

    pub fn interval(self, index: usize) -> &'call pg_sys::Interval {
        // SAFETY: the server passes an interval that outlives the call.
        unsafe { &*self.datum(index).cast_mut_ptr() }
    }

    pub fn cstring(self, index: usize) -> &'call CStr {
        // SAFETY: the server passes a C string that outlives the call.
        unsafe { CStr::from_ptr(self.datum(index).cast_mut_ptr()) }
    }

    /// The bytes of an argument of type `bytea`, `text` or `tstzrange`.
    pub fn varlena(self, index: usize) -> &'call [u8] {
        // SAFETY: the server passes a varlena. It outlives the call, even when it is detoasted.
        unsafe { varlena_to_byte_slice(pg_detoast_datum_packed(self.datum(index).cast_mut_ptr())) }
    }

    /// The result of `compute` for an argument. If the call before had the same argument, returns its result: a query calls
    /// a function of a parameter for each row. A call with another argument overwrites the result, so a function returns a copy. With
    /// `()` as the argument, the first result stays. A function uses one type of argument and one of result.
    #[inline]
    pub fn remembered<A: Copy + PartialEq + 'call, V: Copy + 'call>(
        self,
        argument: A,
        compute: impl FnOnce() -> Result<V, Error>,
    ) -> Result<&'call V, Error> {
        // SAFETY: `fn_extra` is null, or was set below for this function.
        let last = unsafe { (*self.0).flinfo.as_ref().map(|function| function.fn_extra.cast::<(A, V)>()) };
        // SAFETY: as above.
        match last.and_then(|last| unsafe { last.as_ref() }) {
            Some((same, value)) if *same == argument => Ok(value),
            _ => self.remember(last.unwrap_or(ptr::null_mut()), (argument, compute()?)),
        }
    }

    /// The ID that `of` makes of the first argument, a time; NULL if it makes none. A filter such as `id >= T_lower(now())` calls the
    /// function for each row with the same time. These calls return the ID of the first one, which no call changes, and no copy, if
    /// `is_kept` says so in the first call.
    #[inline]
    pub fn id_of_time<T: StoredId>(
        self,
        is_kept: impl FnOnce() -> bool,
        of: impl Fn(i64) -> Option<T>,
    ) -> Result<Datum, Error> {
        let time = self.int8(0);
        let (first_time, first) =
            self.remembered((), || Ok((time, if is_kept() { stored_of(time, &of) } else { None })))?;
        match first {
            Some(id) if *first_time == time && self.outlives_result() => Ok(id.as_datum()),
            _ => Ok(self.copy_of_id(time, &of)),
        }
    }

    /// Out of line, as [`stored_of`] is: the fast path of [`Self::id_of_time`] saves no registers.
    #[inline(never)]
    fn copy_of_id<T: StoredId>(self, time: i64, of: &impl Fn(i64) -> Option<T>) -> Datum {
        stored_of(time, of).map_or_else(|| self.null(), StoredDatum::into_datum)
    }

    /// Stores the argument and the result of a call in place of those of the call before, for which `place` is null if there was
    /// none.
    #[inline(never)]
    fn remember<A, V: 'call>(self, place: *mut (A, V), result: (A, V)) -> Result<&'call V, Error> {
        const { assert!(align_of::<(A, V)>() <= 8, "the server's memory is aligned to 8 bytes") };
        // SAFETY: the context of the function's state outlives its calls. A call without a state gets its memory from the current
        // context, as for any result.
        unsafe {
            let function = (*self.0).flinfo;
            let context = if function.is_null() { pg_sys::CurrentMemoryContext } else { (*function).fn_mcxt };
            let place = if place.is_null() { MemoryContextAlloc(context, size_of_val(&result)).cast() } else { place };
            place.write(result);
            if !function.is_null() {
                (*function).fn_extra = place.cast();
            }
            Ok(&(*place).1)
        }
    }

    /// The first and the last ID in an argument of type `tstzrange`, as [`first_and_last`], remembered.
    pub fn ids_in_range<T: StoredId>(self, index: usize) -> Result<&'call (T::Stored, T::Stored), Error> {
        let range = self.varlena(index);
        // After the OID of its type, a range has up to two bounds, and flags. They are compared as numbers, since a copy of the bytes,
        // which are 5, 13 or 21, would cost more than the comparison of an ID.
        let bound = |start| Some(u64::from_ne_bytes(*range.get(start..)?.first_chunk()?));
        self.remembered((bound(4), bound(12), range.last().copied()), || {
            // SAFETY: the server passes a range.
            let (first, last): (T, T) = first_and_last(unsafe { epoch::range_bounds(self.datum(index)) });
            Ok((first.to_stored(), last.to_stored()))
        })
    }

    /// The remaining bytes of a binary message, and consumes them.
    pub fn message(self) -> &'call [u8] {
        // SAFETY: the argument of a receive function is a StringInfo, whose bytes from the cursor to the end are valid.
        unsafe {
            let message = &mut *self.datum(0).cast_mut_ptr::<pg_sys::StringInfoData>();
            let start = message.data.cast::<u8>().add(message.cursor as usize);
            let rest = core::slice::from_raw_parts(start, (message.len - message.cursor) as usize);
            message.cursor = message.len;
            rest
        }
    }
}

/// The ID that `of` makes of a timestamptz, in its stored form.
#[inline(never)]
fn stored_of<T: StoredId>(timestamptz: i64, of: &impl Fn(i64) -> Option<T>) -> Option<T::Stored> {
    of(epoch::saturated_unix_micros(timestamptz)).map(T::to_stored)
}

/// Runs a function that can fail, and reports its error. A panic becomes a server error.
///
/// # Safety
/// Must be called by the server through a symbol that the SQL declares with the arguments that the function reads.
#[inline(always)]
pub unsafe fn guarded(
    info: pg_sys::FunctionCallInfo,
    function: impl FnOnce(Call<'_>) -> Result<Datum, Error>,
) -> Datum {
    // `catch_unwind` costs nothing unless there is a panic. pgrx's guard (#[pg_guard]) would cost as much as generating an ID, so
    // it handles only panics. An error is reported after `function` has returned, because the server raises it by a longjmp,
    // which runs no destructors.
    match catch_unwind(AssertUnwindSafe(|| function(Call(info, PhantomData)))) {
        // SAFETY: no Rust frame has anything left to drop.
        Ok(_) if allocator::has_run_out() => unsafe { error::report(out_of_memory(), ptr::null_mut()) },
        Ok(Ok(datum)) => datum,
        // SAFETY: as above. Only an error of the function concerns its input, so that COPY and pg_input_is_valid() may ignore it.
        Ok(Err(error)) => unsafe { error::report(error, (*info).context) },
        // SAFETY: this is the outermost Rust frame.
        Err(panic) => unsafe { report_panic(panic) },
    }
}

/// Without `sql_error!`, which allocates its message: the next call would fail as well.
#[cold]
fn out_of_memory() -> Error {
    Error::new(SqlState::ERRCODE_OUT_OF_MEMORY, "out of memory")
        .detail("The system has no memory left for the library of the extension.")
}

/// Reports a panic. If it carries a server error, pgrx raises that error unchanged. Any other panic is a bug in the
/// extension: it is reported as XX000, without the backtrace that pgrx would add.
///
/// # Safety
/// As [`error::report`].
#[cold]
unsafe fn report_panic(panic: Box<dyn Any + Send>) -> Datum {
    let message = match (panic.downcast_ref::<&str>(), panic.downcast_ref::<String>()) {
        (Some(message), _) => message.as_bytes().to_vec(),
        (_, Some(message)) => message.clone().into_bytes(),
        // SAFETY: guaranteed by the caller.
        _ => return unsafe { pg_sys::panic::pgrx_extern_c_guard(|| resume_unwind(panic)) },
    };
    drop(panic);
    // SAFETY: guaranteed by the caller. Only the error is left to drop, and `report` drops it.
    unsafe { error::report(Error::new(SqlState::ERRCODE_INTERNAL_ERROR, message), ptr::null_mut()) }
}

/// Runs a function that can neither fail nor panic. It has no guard, and so no overhead.
///
/// # Safety
/// As [`guarded`].
#[inline(always)]
pub unsafe fn raw(info: pg_sys::FunctionCallInfo, function: impl FnOnce(Call<'_>) -> Datum) -> Datum {
    function(Call(info, PhantomData))
}
