//! Random numbers from a list, for the tests of the generators.

use std::convert::Infallible;
use std::fmt::Debug;

use rand::TryRng;

use crate::{Context, SortableId, Step};

/// Random numbers from a list. A test tells with each whether 32 or 64 bits are drawn of it.
pub struct Script<'a>(pub &'a [Draw]);

/// A random number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Draw {
    /// Of 32 bits.
    Bits32(u32),
    /// Of 64 bits.
    Bits64(u64),
}

impl Script<'_> {
    fn next(&mut self) -> Draw {
        *self.0.split_off_first().expect("draws no more random numbers than these")
    }
}

impl TryRng for Script<'_> {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        match self.next() {
            Draw::Bits32(number) => Ok(number),
            other => panic!("draws 32 bits, not {other:?}"),
        }
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        match self.next() {
            Draw::Bits64(number) => Ok(number),
            other => panic!("draws 64 bits, not {other:?}"),
        }
    }

    fn try_fill_bytes(&mut self, _: &mut [u8]) -> Result<(), Infallible> {
        panic!("draws numbers, not bytes")
    }
}

/// A step that draws just these random numbers.
pub fn step<T: SortableId<State: Debug + PartialEq>>(
    state: T::State,
    context: &Context<T::Settings>,
    draws: &[Draw],
) -> Step<T> {
    let mut script = Script(draws);
    let step = T::step(state, context, &mut script);
    assert!(script.0.is_empty(), "draws all random numbers: {:?} are left", script.0);
    step
}
