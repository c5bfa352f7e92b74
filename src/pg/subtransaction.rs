//! Work whose failure does not end the transaction.

use std::panic::AssertUnwindSafe;

use pgrx::pg_sys::panic::CaughtError;
use pgrx::{PgSqlErrorCode as SqlState, PgTryBuilder, pg_sys};

/// Runs `work` in a subtransaction, which also releases what it leaves behind, such as buffers. Returns the message of the
/// server's error. A canceled query ends as usual.
///
/// Must not be called in parallel mode, and `work` must not process interrupts outside of the server's functions.
pub fn attempt<R>(work: impl FnOnce() -> R) -> Result<R, String> {
    // SAFETY: the calls are those of PL/pgSQL for a block with an exception handler.
    unsafe {
        let (context, owner) = (pg_sys::CurrentMemoryContext, pg_sys::CurrentResourceOwner);
        let return_to_caller = || {
            pg_sys::CurrentMemoryContext = context;
            pg_sys::CurrentResourceOwner = owner;
        };
        pg_sys::BeginInternalSubTransaction(core::ptr::null());
        pg_sys::CurrentMemoryContext = context;
        PgTryBuilder::new(AssertUnwindSafe(|| {
            let result = work();
            pg_sys::ReleaseCurrentSubTransaction();
            return_to_caller();
            Ok(result)
        }))
        .catch_others(|cause| {
            pg_sys::CurrentMemoryContext = context;
            pg_sys::RollbackAndReleaseCurrentSubTransaction();
            return_to_caller();
            match cause {
                CaughtError::PostgresError(report) if report.sql_error_code() != SqlState::ERRCODE_QUERY_CANCELED => {
                    Err(report.message().to_owned())
                }
                cause => cause.rethrow(),
            }
        })
        .execute()
    }
}
