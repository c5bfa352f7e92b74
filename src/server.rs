//! What differs between the supported versions of the server. Everything else in `src` is the same for all of them.

use core::ffi::{CStr, c_char, c_int, c_void};
use core::ptr;

use pgrx::pg_sys::{self, GucSource, Node};

unsafe extern "C-unwind" {
    #[cfg(feature = "pg15")]
    fn errstart(level: c_int, domain: *const c_char) -> bool;
    #[cfg(feature = "pg15")]
    fn errfinish(file: *const c_char, line: c_int, function: *const c_char);
    #[cfg(not(feature = "pg15"))]
    fn errsave_start(context: *mut Node, domain: *const c_char) -> bool;
    #[cfg(not(feature = "pg15"))]
    fn errsave_finish(context: *mut Node, file: *const c_char, line: c_int, function: *const c_char);
}

/// Starts an error report. From 16 on, a `context` that asks for it makes the error a soft one; 15 knows none.
///
/// # Safety
/// As [`crate::error::report`], which alone calls it.
pub unsafe fn start_error(context: *mut Node) -> bool {
    // SAFETY: as the caller's.
    unsafe {
        #[cfg(feature = "pg15")]
        {
            let _ = context;
            errstart(pgrx::PgLogLevel::ERROR as c_int, ptr::null())
        }
        #[cfg(not(feature = "pg15"))]
        errsave_start(context, ptr::null())
    }
}

/// Finishes an error report: returns only from a soft error.
///
/// # Safety
/// As [`start_error`].
pub unsafe fn finish_error(context: *mut Node, line: u32) {
    let (file, function) = (c"error.rs".as_ptr(), c"report".as_ptr());
    // SAFETY: as the caller's.
    unsafe {
        #[cfg(feature = "pg15")]
        {
            let _ = context;
            errfinish(file, line as c_int, function);
        }
        #[cfg(not(feature = "pg15"))]
        errsave_finish(context, file, line as c_int, function);
    }
}

/// The value that a not-yet-defined setting will be reset to, and where it came from; `None` if nothing sets it.
///
/// Until a setting is defined, the server keeps a placeholder for it. Of several sources it remembers only the one with the
/// highest priority.
pub fn configured(name: &CStr) -> Option<(GucSource::Type, String)> {
    // SAFETY: a look-up; the text is copied before the server may free it. A setting that is not defined is a placeholder.
    unsafe {
        let placeholder = find_setting(name).as_mut()?;
        let value = placeholder_value(placeholder);
        (!value.is_null()).then(|| (placeholder.reset_source, CStr::from_ptr(value).to_string_lossy().into_owned()))
    }
}

/// Where the value that a setting is reset to came from.
pub fn reset_source(name: &CStr) -> GucSource::Type {
    // SAFETY: a look-up.
    unsafe { find_setting(name).as_ref() }.map_or(GucSource::PGC_S_DEFAULT, |setting| setting.reset_source)
}

/// What the server keeps of a setting; null if it does not know the name.
fn find_setting(name: &CStr) -> *mut pg_sys::config_generic {
    // SAFETY: look-ups. On 15 the server has an array of all settings.
    unsafe {
        #[cfg(feature = "pg15")]
        {
            let settings = pg_sys::get_guc_variables().cast_const();
            let count = usize::try_from(pg_sys::GetNumConfigOptions()).unwrap_or_default();
            let has_name = |setting: &&*mut pg_sys::config_generic| {
                CStr::from_ptr((***setting).name).to_bytes().eq_ignore_ascii_case(name.to_bytes())
            };
            core::slice::from_raw_parts(settings, count).iter().find(has_name).copied().unwrap_or(ptr::null_mut())
        }
        #[cfg(not(feature = "pg15"))]
        {
            pg_sys::find_option(name.as_ptr(), false, true, 0)
        }
    }
}

/// The text that a placeholder is reset to, or null. A placeholder is always a text.
///
/// # Safety
/// The setting is a placeholder.
unsafe fn placeholder_value(setting: &mut pg_sys::config_generic) -> *const c_char {
    // SAFETY: as the caller's. Up to 18 the kind of a setting is a struct around the generic one; from 19 on a union in it.
    unsafe {
        #[cfg(any(feature = "pg15", feature = "pg16", feature = "pg17", feature = "pg18"))]
        {
            (*ptr::from_mut(setting).cast::<pg_sys::config_string>()).reset_val
        }
        #[cfg(not(any(feature = "pg15", feature = "pg16", feature = "pg17", feature = "pg18")))]
        {
            setting.__bindgen_anon_1._string.reset_val
        }
    }
}

/// Memory for what a check hook hands to the assign hook, which the server frees with the value; null if there is none left.
pub fn setting_extra(size: usize) -> *mut c_void {
    // SAFETY: allocations. 15 frees it by `free`.
    unsafe {
        #[cfg(feature = "pg15")]
        {
            libc::malloc(size)
        }
        #[cfg(not(feature = "pg15"))]
        {
            pg_sys::guc_malloc(pgrx::PgLogLevel::LOG as c_int, size)
        }
    }
}

/// A piece of shared memory by its name, all zero when it is new, that every backend of the server finds, without the
/// library being preloaded. Up to 16 it comes out of the slack that every server reserves, from 17 on it is a segment of
/// its own.
///
/// # Errors
/// Raises the server's error 53200 if there is none left.
pub fn shared_memory<const SIZE: usize>(name: &CStr) -> *mut c_void {
    let mut found = false;
    // SAFETY: both functions are made for this. What ShmemInitStruct hands out is zero, for it was never used before.
    unsafe {
        #[cfg(any(feature = "pg15", feature = "pg16"))]
        {
            pg_sys::ShmemInitStruct(name.as_ptr(), SIZE, &mut found)
        }
        #[cfg(any(feature = "pg17", feature = "pg18"))]
        {
            pg_sys::GetNamedDSMSegment(name.as_ptr(), SIZE, Some(zero::<SIZE>), &mut found)
        }
        #[cfg(not(any(feature = "pg15", feature = "pg16", feature = "pg17", feature = "pg18")))]
        {
            pg_sys::GetNamedDSMSegment(name.as_ptr(), SIZE, Some(zero_with::<SIZE>), &mut found, ptr::null_mut())
        }
    }
}

#[cfg(any(feature = "pg17", feature = "pg18"))]
unsafe extern "C-unwind" fn zero<const SIZE: usize>(memory: *mut c_void) {
    // SAFETY: the piece has this size.
    unsafe { memory.cast::<[u8; SIZE]>().write([0; SIZE]) };
}

/// The same with the argument that the callback has from 19 on.
#[cfg(not(any(feature = "pg15", feature = "pg16", feature = "pg17", feature = "pg18")))]
unsafe extern "C-unwind" fn zero_with<const SIZE: usize>(memory: *mut c_void, _argument: *mut c_void) {
    // SAFETY: the piece has this size.
    unsafe { memory.cast::<[u8; SIZE]>().write([0; SIZE]) };
}

/// The first record of the WAL that begins at a position or after it; 0 if there is none.
///
/// # Safety
/// The reader is the server's.
pub unsafe fn find_wal_record(reader: *mut pg_sys::XLogReaderState, from: pg_sys::XLogRecPtr) -> pg_sys::XLogRecPtr {
    // SAFETY: as the caller's.
    unsafe {
        #[cfg(any(feature = "pg15", feature = "pg16", feature = "pg17", feature = "pg18"))]
        {
            pg_sys::XLogFindNextRecord(reader, from)
        }
        #[cfg(not(any(feature = "pg15", feature = "pg16", feature = "pg17", feature = "pg18")))]
        {
            let mut message = ptr::null_mut();
            pg_sys::XLogFindNextRecord(reader, from, &mut message)
        }
    }
}

/// The number of a wait event with a name of its own, which pg_stat_activity shows. Up to 16 there is one for all extensions.
pub fn wait_event(name: &CStr) -> u32 {
    #[cfg(any(feature = "pg15", feature = "pg16"))]
    {
        let _ = name;
        pg_sys::PG_WAIT_EXTENSION
    }
    #[cfg(not(any(feature = "pg15", feature = "pg16")))]
    // SAFETY: the server copies the name, and returns the number that it has already given to it.
    unsafe {
        pg_sys::WaitEventExtensionNew(name.as_ptr())
    }
}
