//! The wait events, as pg_stat_activity shows them.

use crate::pg::clock::WaitEvent;
use crate::pg::process::PerProcess;

/// A wait for the clock to reach the time of the next ID.
pub static CLOCK: PerProcess<WaitEvent> = PerProcess::new(WaitEvent::new(c"ScruClock"));

/// A wait for another backend to write the durable high-water mark.
pub static MARK: PerProcess<WaitEvent> = PerProcess::new(WaitEvent::new(c"ScruMark"));
