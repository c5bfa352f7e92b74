//! The functions of the protocol, which the model runs as they are or changed.

use scru_ids::Step;
use scru_server::mark::Mark;

use crate::access::{Halt, Run};
use crate::kind::{Kind, Shared};

/// The functions of the protocol.
#[derive(Clone, Copy, Debug)]
pub struct Protocol {
    /// Draws an ID of a type.
    pub draw: fn(&mut Run<'_>, Kind) -> Result<Option<Drawn>, Halt>,
    /// Learns what the database carries.
    pub learn: fn(&mut Run<'_>, Mark) -> Result<i64, Halt>,
    /// Raises the floor of the horizons.
    pub floor: fn(&mut Run<'_>) -> Result<i64, Halt>,
    /// Sets the marks back.
    pub set_marks: fn(&mut Run<'_>, i64) -> Result<(), Halt>,
    /// Raises the marks.
    pub raise_marks: fn(&mut Run<'_>, i64) -> Result<(), Halt>,
    /// Sets the word of a type back.
    pub lower_word: fn(&mut Run<'_>, Kind, i64) -> Result<(), Halt>,
}

/// The result of a step: the word of the ID; `None` for a wait or a refusal.
pub type Drawn = Option<u64>;

/// The result of a step of any type.
pub(crate) fn drawn<T: Shared>(step: Option<Step<T>>) -> Option<Drawn> {
    step.map(|step| step.ok().map(|(word, _)| word))
}

/// Access by a changed protocol.
pub trait Changed {
    /// The number of the change; 0 if there is none.
    fn change(&self) -> usize;
}

/// The [`Protocol`] whose functions two modules have.
macro_rules! protocol {
    ($($module:ident)::+, $($words:ident)::+) => {
        crate::Protocol {
            draw: |run, kind| match kind {
                crate::Kind::Flake => $($words)::+::draw::<scru_ids::Ulidflake, _>(run).map(crate::protocol::drawn),
                _ => $($words)::+::draw::<scru_ids::Scru64, _>(run).map(crate::protocol::drawn),
            },
            learn: |run, of| $($module)::+::learn(run, of),
            floor: |run| $($module)::+::raise_floor(run),
            set_marks: |run, time| $($module)::+::set_marks(run, time),
            raise_marks: |run, time| $($module)::+::raise_marks(run, time),
            lower_word: |run, kind, time| match kind {
                crate::Kind::Flake => $($words)::+::lower_word::<scru_ids::Ulidflake, _>(run, time),
                _ => $($words)::+::lower_word::<scru_ids::Scru64, _>(run, time),
            },
        }
    };
}

pub(crate) use protocol;

/// The protocol as the extension runs it.
impl Default for Protocol {
    fn default() -> Self {
        protocol!(scru_server::protocol, scru_server::draw)
    }
}
