//! Whether the server is in recovery: a standby, or a server that replays its log.

// Declared here to avoid pgrx's guard, which would cost as much as the rest of the generation of an ID.
unsafe extern "C-unwind" {
    fn RecoveryInProgress() -> bool;
}

/// Returns whether the server is in recovery. Recovery is never re-entered.
#[inline]
pub fn is_in_recovery() -> bool {
    // SAFETY: reads the state of the server.
    unsafe { RecoveryInProgress() }
}
