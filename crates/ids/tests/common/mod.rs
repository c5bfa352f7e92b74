//! Helpers for the tests. No test file uses all of them.
#![allow(dead_code, unused_imports, unused_macros)]

use std::convert::Infallible;
use std::fmt::{Debug, Display};

use proptest::strategy::Strategy;
use proptest::test_runner::{Config, TestCaseResult, TestRunner};
use rand::{Rng, TryRng};
use scru_ids::{Context, GeneratedId, NoId, OnClockRollback, ParseError, ParseErrorKind, SortableId, Step, Stored};

/// Declares a module with a test for each of these generic functions, which a macro calls for each type.
macro_rules! tests {
    ($name:ident, $Id:ident: $($test:ident)*) => {
        mod $name {
            $(#[test]
            fn $test() {
                super::$test::<scru_ids::$Id>();
            })*
        }
    };
}
pub(crate) use tests;

/// 2026-11-01 12:00 UTC, in microseconds since 1970-01-01 UTC: the start of simulated clocks.
pub const NOON: i64 = 1_793_534_400_000_000;

/// Asserts a property of 2,000 values.
pub fn check<S: Strategy>(strategy: S, test: impl Fn(S::Value) -> TestCaseResult) {
    let config = Config { cases: 2_000, failure_persistence: None, ..Config::default() };
    TestRunner::new(config).run(&strategy, test).unwrap_or_else(|failure| panic!("{failure}"));
}

/// SplitMix64: a sufficiently random source, fast without optimization, with the same numbers in every run.
#[derive(Clone)]
pub struct SplitMix(pub u64);

impl TryRng for SplitMix {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        self.try_next_u64().map(|word| (word >> 32) as u32)
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let word = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        Ok(word ^ word >> 31)
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        for chunk in bytes.chunks_mut(8) {
            let word = self.next_u64().to_le_bytes();
            chunk.copy_from_slice(&word[..chunk.len()]);
        }
        Ok(())
    }
}

impl SplitMix {
    /// Returns a number below `bound`.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.next_u64() % bound
    }

    /// Returns one of `choices`.
    pub fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len() as u64) as usize]
    }

    /// Shuffles `items`.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last as u64 + 1) as usize);
        }
    }
}

/// Values of all magnitudes, many of them with runs of zeros or ones.
pub fn values(count: usize) -> impl ExactSizeIterator<Item = u128> {
    let mut rng = SplitMix(128);
    let mut word = move || u128::from(rng.next_u64()) << 64 | u128::from(rng.next_u64());
    (0..count).map(move |number| match number % 4 {
        0 => word() >> (word() % 128),
        1 => word() | u128::MAX << (word() % 128),
        _ => word(),
    })
}

/// Digits of some types, the neighbors of digits in ASCII, and characters of several bytes.
pub const CHARACTERS: &str = "078FfgZzIlOu/:@[`{ -+\u{7f}é漢🦀";

/// Returns the text with one to three characters replaced, inserted or removed.
pub fn mutated(text: &str, others: &str, rng: &mut SplitMix) -> String {
    let (mut text, others): (Vec<_>, Vec<_>) = (text.chars().collect(), others.chars().collect());
    for _ in 0..=rng.below(3) {
        let position = rng.below(text.len() as u64) as usize;
        match rng.below(8) {
            0 => drop(text.remove(position)),
            1 => text.insert(position, rng.pick(&others)),
            2 => text[0] = rng.pick(&others),
            _ => text[position] = rng.pick(&others),
        }
    }
    text.into_iter().collect()
}

/// Asserts that a type and its reference crate accept or refuse mutations of these texts alike, with the position of an invalid
/// digit.
pub fn compare_mutated<V: Debug + PartialEq, E: Debug + Display>(
    texts: impl ExactSizeIterator<Item = String>,
    parse: impl Fn(&[u8]) -> Result<V, ParseError>,
    parse_theirs: impl Fn(&str) -> Result<V, E>,
) {
    let (mut rng, count, mut accepted, mut placed) = (SplitMix(25), texts.len(), 0, 0);
    for text in texts {
        let text = mutated(&text, CHARACTERS, &mut rng);
        match (parse(text.as_bytes()), parse_theirs(&text)) {
            (Ok(ours), Ok(theirs)) => {
                assert_eq!(ours, theirs, "{text}");
                accepted += 1;
            }
            (Err(ours), Err(theirs)) => {
                if let Some((_, position)) = theirs.to_string().rsplit_once("' at ") {
                    let position = position.parse().unwrap();
                    assert_eq!((ours.kind, ours.position), (ParseErrorKind::InvalidDigit, position), "{text}");
                    placed += 1;
                }
            }
            (ours, theirs) => panic!("{text}: {ours:?}, reference: {theirs:?}"),
        }
    }
    assert!(accepted > count / 20 && placed > count / 5, "{accepted} accepted, {placed} invalid digits");
}

/// Random numbers, of which some are the maximum or close to it, so that counters overflow.
#[derive(Clone)]
pub struct HighNumbers {
    pub rng: SplitMix,
    /// The share of high numbers, in eighths.
    pub share: u64,
}

impl HighNumbers {
    fn raise(&mut self, number: u64, max: u64) -> u64 {
        match self.rng.below(8) {
            place if place >= self.share => number,
            place if place % 2 == 0 => max,
            _ => max - number % 50,
        }
    }
}

impl TryRng for HighNumbers {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        let number = self.rng.next_u32().into();
        Ok(self.raise(number, u32::MAX.into()) as u32)
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        let number = self.rng.next_u64();
        Ok(self.raise(number, u64::MAX))
    }

    fn try_fill_bytes(&mut self, _: &mut [u8]) -> Result<(), Infallible> {
        panic!("the reference crates draw numbers")
    }
}

/// A generator with a manual clock. When the generator has to wait for the clock, the clock advances.
#[derive(Clone)]
pub struct Simulation<T: GeneratedId> {
    pub clock: i64,
    pub state: T::State,
    pub rng: SplitMix,
}

impl<T: GeneratedId> Simulation<T> {
    pub fn new(seed: u64) -> Self {
        Self { clock: NOON, state: T::State::default(), rng: SplitMix(seed) }
    }

    /// Runs one step with the default settings of the type.
    pub fn step(&mut self, on_clock_rollback: OnClockRollback) -> Step<T> {
        let context = Context { now: self.clock, on_clock_rollback, settings: T::Settings::default() };
        T::step(self.state, &context, &mut self.rng)
    }

    /// Returns the next ID. The clock advances if the generator has to wait.
    pub fn next_id(&mut self) -> T {
        for _ in 0..10 {
            match self.step(OnClockRollback::Reset) {
                Ok((state, id)) => {
                    self.state = state;
                    return id;
                }
                Err(NoId::Wait(until)) => self.wait(until),
                Err(NoId::Refused(refusal)) => panic!("refused: {refusal:?}"),
            }
        }
        panic!("no ID after ten waits")
    }

    fn wait(&mut self, until: i64) {
        assert!(until > self.clock, "waits for a time in the past");
        assert!(until - self.clock <= 5_000_000, "waits for more than five seconds");
        self.clock = until;
    }

    /// Returns this number of IDs, `per_milli` of them per millisecond.
    pub fn bulk(&mut self, ids: usize, per_milli: usize) -> Vec<T> {
        (0..ids)
            .map(|made| {
                self.clock += if made % per_milli == 0 { 1_000 } else { 0 };
                self.next_id()
            })
            .collect()
    }
}

/// Returns the big-endian bytes of an ID.
pub fn bytes<T: SortableId>(id: T) -> Vec<u8> {
    id.to_stored().to_bytes().as_ref().to_vec()
}

/// Returns the ID with these big-endian bytes, if they are valid.
pub fn from_bytes<T: SortableId>(bytes: &[u8]) -> Option<T> {
    T::Stored::from_bytes(bytes).and_then(T::from_stored)
}
