//! The text of the protocol that the model runs.

use scru_ids::mark::NodeCode;
use scru_ids::{FastRange, Scru64, Step};

use crate::access::{Halt, Run};

/// The functions of the protocol.
#[derive(Clone, Copy, Debug)]
pub struct Protocol {
    /// Draws an ID by a full step.
    pub draw: fn(&mut Run<'_>) -> Result<Option<Step<Scru64>>, Halt>,
    /// Draws an ID by the fast path.
    pub draw_fast: fn(&mut Run<'_>, &FastRange<Scru64>) -> Result<Option<u64>, Halt>,
    /// Sets the mark of a node.
    pub set_mark: fn(&mut Run<'_>, NodeCode, u64) -> Result<(), Halt>,
    /// Raises the mark of a node.
    pub raise_mark: fn(&mut Run<'_>, NodeCode, u64) -> Result<(), Halt>,
}

/// Access by a changed protocol.
pub trait Changed {
    /// Returns the number of the change; 0 if there is none.
    fn change(&self) -> usize;
}

/// Returns the [`Protocol`] whose functions a module has.
macro_rules! protocol {
    ($($module:ident)::+) => {
        crate::Protocol {
            draw: |run| $($module)::+::draw::<scru_ids::Scru64, _>(run),
            draw_fast: |run, range| $($module)::+::draw_fast::<scru_ids::Scru64, _>(run, range),
            set_mark: |run, node, tick| $($module)::+::set_mark::<scru_ids::Scru64, _>(run, node, tick),
            raise_mark: |run, node, tick| $($module)::+::raise_mark::<scru_ids::Scru64, _>(run, node, tick),
        }
    };
}

pub(crate) use protocol;

/// Returns the protocol as the extension runs it.
impl Default for Protocol {
    fn default() -> Self {
        protocol!(scru_ids::protocol)
    }
}
