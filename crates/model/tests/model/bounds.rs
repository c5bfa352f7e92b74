//! The bounds of an exploration.

use scru_server::mark::Mark;

use crate::world::World;
use crate::{Kind, Protocol};

/// The bounds of an exploration: the possible actions, and the maximum number of each.
#[derive(Clone, Debug, Default)]
pub struct Bounds {
    /// The database, the node and the type of each backend.
    pub backends: Vec<(usize, usize, Kind)>,
    /// The maximum number of times that a backend is suspended in an operation while another one goes or the clock moves; `None` for
    /// any number.
    pub switches: Option<u8>,
    /// The maximum number of horizons that are read.
    pub horizons: u8,
    /// The nodes. None is the node `5/23`.
    pub nodes: Vec<&'static str>,
    /// Whether the server has no mark yet.
    pub is_new: bool,
    /// The mark of the server's last run, in ticks after the initial time. By default, that run ended long ago.
    pub last_mark: Option<i64>,
    /// The time that a flush takes, in microseconds.
    pub flush_time: i64,
    /// The number of IDs after which no further action follows.
    pub ids: usize,
    /// The time of the clock in the beginning, in ticks after the initial time.
    pub clock: i64,
    /// The maximum number of times that the clock advances.
    pub clock_moves: u8,
    /// The steps by which the clock may advance, in ticks.
    pub forward: Vec<i64>,
    /// The maximum number of times that the clock is set back.
    pub clock_setbacks: u8,
    /// The steps by which the clock may be set back, in ticks.
    pub back: Vec<i64>,
    /// Whether the clock only moves while all backends are idle, so that none continues with a reading of the wrong time.
    pub is_clock_calm: bool,
    /// The maximum number of crashes. A crash kills all backends, clears shared memory, and cuts off a part of the log that is
    /// not flushed.
    pub crashes: u8,
    /// The maximum number of promotions of a standby that has replayed any part of the log.
    pub promotions: u8,
    /// The possible differences of the new server's clock from the old one's, in ticks.
    pub promotion: Vec<i64>,
    /// The maximum number of upgrades, which move all databases to a new server without its page.
    pub upgrades: u8,
    /// Whether the rows move without what the databases carry, as to a logical subscriber.
    pub is_bare: bool,
    /// The maximum number of databases that are restored from the dump of another server.
    pub restores: u8,
    /// The marks that a restored database carries, in ticks after the initial time.
    pub restored: Vec<(Mark, i64)>,
    /// The maximum number of changes of a backend's node.
    pub node_changes: u8,
    /// The maximum number of times that the marks are set back.
    pub mark_sets: u8,
    /// The values to which the marks may be set back, in ticks after the initial time.
    pub set_to: Vec<i64>,
    /// The maximum number of times that the marks are raised.
    pub mark_raises: u8,
    /// The values to which the marks may be raised, in ticks after the initial time.
    pub raise_to: Vec<i64>,
    /// The maximum number of accesses to the log that fail.
    pub failures: u8,
    /// The maximum number of times that the server flushes the log.
    pub flushes: u8,
    /// The maximum number of marks that are logged before an ID is generated.
    pub marks: Option<u8>,
    /// Whether every state is examined for an operation or a wait that does not end.
    pub checks_ends: bool,
    /// The text of the protocol.
    pub protocol: Protocol,
    /// The number of the change, if that is the changed protocol.
    pub change: usize,
}

impl Bounds {
    /// Whether transactions begin with what has arrived with the database, and with the floor of the horizons.
    pub(crate) fn has_transactions(&self) -> bool {
        self.upgrades + self.restores + self.horizons > 0
    }

    pub(crate) fn can_move_clock(&self, world: &World) -> bool {
        !self.is_clock_calm
            && (world.counts.clock_moves < self.clock_moves || world.counts.clock_setbacks < self.clock_setbacks)
    }

    /// Whether a backend may go that suspends another one, or the clock move.
    pub(crate) fn can_suspend(&self, world: &World, goes: Option<usize>) -> bool {
        self.switches.is_none_or(|switches| world.counts.switches < switches || !world.suspends(goes))
    }

    /// Whether a part of the flushed log may become the whole log.
    pub(crate) fn needs_history(&self, world: &World) -> bool {
        world.counts.promotions < self.promotions
    }

    /// Whether the rows may become all IDs that must not be generated again.
    pub(crate) fn needs_rows(&self, world: &World) -> bool {
        self.needs_history(world) || world.counts.upgrades < self.upgrades
    }
}
