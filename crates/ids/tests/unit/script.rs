//! A predetermined random source for the tests of the generators.

use std::convert::Infallible;

use rand::TryRng;

use super::*;

/// A random source that returns the numbers of a list, and panics if a generator draws others.
pub struct Script<'a>(pub &'a [Draw]);

/// A random number, and its width.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Draw {
    /// 32 bits.
    Bits32(u32),
    /// 64 bits.
    Bits64(u64),
}

impl Script<'_> {
    fn next(&mut self) -> Draw {
        *self.0.split_off_first().expect("a random number for this draw")
    }
}

impl TryRng for Script<'_> {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        match self.next() {
            Draw::Bits32(number) => Ok(number),
            other => panic!("drew 32 bits instead of {other:?}"),
        }
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        match self.next() {
            Draw::Bits64(number) => Ok(number),
            other => panic!("drew 64 bits instead of {other:?}"),
        }
    }

    fn try_fill_bytes(&mut self, _: &mut [u8]) -> Result<(), Infallible> {
        panic!("drew bytes instead of a number")
    }
}

/// Runs a step, and asserts that it draws exactly these random numbers.
pub fn step<T: GeneratedId>(state: T::State, context: &Context<T::Settings>, draws: &[Draw]) -> Step<T> {
    let mut script = Script(draws);
    let step = T::step(state, context, &mut script);
    assert!(script.0.is_empty(), "did not draw {:?}", script.0);
    step
}
