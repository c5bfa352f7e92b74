//! Compares SCRU64 with its reference crate: a million random values, node specifications, and generators with the same
//! clock and random numbers.
//!
//! The reference crate runs ahead of its clock without a limit. The generator of this crate waits when it is a second ahead.

mod common;

use std::cell::RefCell;
use std::rc::Rc;

use common::{HighNumbers, NOON, SplitMix, compare_mutated, mutated};
use rand::Rng;
use scru_ids::{
    Context, GeneratedId, MAX_AHEAD_MICROS, NoId, OnClockRollback, Refusal, Scru64, Scru64Node, Scru64Settings,
    SortableId,
};
use scru64::Scru64Id;
use scru64::generator::counter_mode::{CounterMode, RenewContext};
use scru64::generator::{NodeSpec, Scru64Generator};

const VALUES: usize = 1_000_000;
const STEPS: usize = 300_000;
const TICK_MILLIS: u64 = 256;

fn values() -> impl ExactSizeIterator<Item = u64> {
    common::values(VALUES).map(|value| (value >> 64) as u64 % (Scru64::MAX.to_u64() + 1))
}

fn both(value: u64) -> (Scru64, Scru64Id) {
    (Scru64::from_u64(value).expect("in range"), Scru64Id::try_from(value).expect("in range"))
}

#[test]
fn values_are_alike() {
    let mut before = both(0);
    for (number, value) in values().enumerate() {
        let (ours, theirs) = both(value);
        let mut text = theirs.encode().as_str().to_owned();
        assert_eq!(ours.encode(&mut [0; scru_ids::MAX_TEXT_LEN]), text);
        if number % 2 == 1 {
            text.make_ascii_uppercase();
        }
        assert_eq!(Scru64::parse(text.as_bytes()), Ok(ours), "{text}");
        assert_eq!(ours.to_stored(), i64::try_from(theirs.to_u64()).unwrap());
        assert_eq!((ours.timestamp(), ours.node_ctr()), (theirs.timestamp(), theirs.node_ctr()));
        assert_eq!(Scru64::from_fields(theirs.timestamp(), theirs.node_ctr()), Some(ours));
        assert_eq!(before.0.cmp(&ours), before.1.cmp(&theirs));
        before = (ours, theirs);
    }
}

#[test]
fn mutated_texts_are_accepted_or_refused_alike() {
    let texts = values().map(|value| both(value).1.encode().as_str().to_owned());
    let theirs = |text: &str| text.parse::<Scru64Id>().map(Scru64Id::to_u64);
    compare_mutated(texts, |text| Scru64::parse(text).map(Scru64::to_u64), theirs);
}

/// Node specifications, some of them mutated. The reference crate differs in one case: it accepts a plus sign after "0x".
#[test]
fn node_specifications_are_accepted_or_refused_alike() {
    let (mut rng, mut accepted) = (SplitMix(23), 0);
    for _ in 0..VALUES {
        let (size, value) = (rng.below(26), rng.below(Scru64::MAX.to_u64()));
        let id = value & ((1 << size.min(23)) - 1);
        let forms = [format!("{id}/{size}"), format!("{id:#x}/{size}"), format!("{}/{size}", both(value).0)];
        let plain = &forms[rng.below(3) as usize];
        let text =
            if rng.below(3) == 0 { plain.clone() } else { mutated(plain, "0123456789abcdefxXz/+- .é", &mut rng) };
        match (text.parse::<Scru64Node>(), text.parse::<NodeSpec>()) {
            (Ok(ours), Ok(theirs)) => {
                assert_eq!((ours.id(), ours.size()), (theirs.node_id(), theirs.node_id_size().into()), "{text}");
                // The reference crate ignores a previous ID of the first tick.
                let previous = theirs.node_prev().map_or(0, Scru64Id::to_u64);
                assert!(ours.previous().to_u64() == previous || ours.previous().timestamp() == 0, "{text}");
                accepted += 1;
            }
            (Err(_), Err(_)) => {}
            (Err(_), Ok(_)) if text.starts_with("0x+") || text.starts_with("0X+") => {}
            (ours, theirs) => panic!("{text}: {ours:?}, reference: {theirs:?}"),
        }
    }
    assert!((VALUES / 4..VALUES * 3 / 4).contains(&accepted), "{accepted} accepted");
}

/// The default counter mode of the reference crate, with the random numbers of [`HighNumbers`].
#[derive(Clone)]
struct SharedNumbers {
    numbers: Rc<RefCell<HighNumbers>>,
    guard_bits: u8,
}

impl CounterMode for SharedNumbers {
    fn renew(&mut self, counter_size: u8, _: &RenewContext) -> u32 {
        let bits = counter_size.saturating_sub(self.guard_bits);
        self.numbers.borrow_mut().next_u32() & ((1 << bits) - 1)
    }
}

/// The number of occurrences of each event that a trace must cover.
#[derive(Debug, Default)]
struct Seen {
    overflows: usize,
    /// IDs ahead of the clock.
    leads: usize,
    waits: usize,
    refusals: usize,
}

/// Runs both generators in parallel, with the same clock and random numbers.
struct Trace {
    settings: Scru64Settings,
    ours: <Scru64 as GeneratedId>::State,
    our_numbers: HighNumbers,
    theirs: Scru64Generator<SharedNumbers>,
    their_numbers: Rc<RefCell<HighNumbers>>,
    last: Scru64,
    seen: Seen,
}

impl Trace {
    fn new(node: &str) -> Self {
        let numbers = HighNumbers { rng: SplitMix(24), share: 2 };
        let spec: NodeSpec = node.parse().unwrap();
        let their_numbers = Rc::new(RefCell::new(numbers.clone()));
        let guard_bits = u8::from(spec.node_id_size() >= 20);
        let mode = SharedNumbers { numbers: Rc::clone(&their_numbers), guard_bits };
        let node: Scru64Node = node.parse().unwrap();
        Self {
            settings: Scru64Settings { node },
            ours: Default::default(),
            our_numbers: numbers,
            theirs: Scru64Generator::with_counter_mode(spec, mode),
            their_numbers,
            last: node.previous(),
            seen: Seen::default(),
        }
    }

    fn step(&mut self, millis: u64) {
        let now = millis as i64 * 1_000;
        let context = Context { now, on_clock_rollback: OnClockRollback::Reset, settings: self.settings };
        match Scru64::step(self.ours, &context, &mut self.our_numbers) {
            Ok((state, id)) => {
                let theirs = self.their_step(millis);
                assert_eq!(Some(id.to_u64()), theirs, "{id}");
                self.seen.leads += usize::from(id.timestamp() > millis / TICK_MILLIS);
                self.seen.overflows += usize::from(id.timestamp() == self.last.timestamp() + 1);
                (self.ours, self.last) = (state, id);
            }
            Err(NoId::Refused(Refusal::ClockMovedBack(behind))) => {
                assert_eq!(behind as i64, self.last.timestamp_micros() - now);
                assert_eq!(self.their_step(millis), None);
                self.seen.refusals += 1;
            }
            // If the clock is between one and two seconds behind, this generator waits, and the reference crate refuses.
            Err(NoId::Wait(until)) if self.last.timestamp_micros() - now > MAX_AHEAD_MICROS => {
                assert_eq!(until, self.last.timestamp_micros() - MAX_AHEAD_MICROS);
                assert!(until <= now + MAX_AHEAD_MICROS);
                assert_eq!(self.their_step(millis), None);
                self.seen.refusals += 1;
            }
            Err(NoId::Wait(until)) => {
                self.their_step_is_too_far_ahead(millis);
                assert!(now < until && until < now + TICK_MILLIS as i64 * 1_000 + MAX_AHEAD_MICROS);
                self.seen.waits += 1;
            }
            refused => panic!("{refused:?}"),
        }
    }

    /// Returns the next ID of the reference crate; `None` if it refuses. The reference crate measures in ticks how far the clock
    /// may be behind. A second is 4 ticks if the fourth starts within it, otherwise 3.
    fn their_step(&mut self, millis: u64) -> Option<u64> {
        let ticks = (millis % TICK_MILLIS + MAX_AHEAD_MICROS as u64 / 1_000) / TICK_MILLIS;
        self.theirs.generate_or_abort_core(millis, ticks * TICK_MILLIS).map(Scru64Id::to_u64)
    }

    /// Asserts that the reference crate generates an ID too far ahead of the clock, and restores its state.
    fn their_step_is_too_far_ahead(&mut self, millis: u64) {
        let (theirs, numbers) = (self.theirs.clone(), self.their_numbers.borrow().clone());
        let id = Scru64::from_u64(self.their_step(millis).expect("an ID")).unwrap();
        assert_eq!(id.timestamp(), self.last.timestamp() + 1);
        assert!(id.timestamp_micros() > millis as i64 * 1_000 + MAX_AHEAD_MICROS);
        self.theirs = theirs;
        *self.their_numbers.borrow_mut() = numbers;
    }
}

/// Runs a trace with a clock that stands still, advances in small and large steps, and is behind for some periods.
fn generators_agree(node: &str) -> Seen {
    let (mut trace, mut rng) = (Trace::new(node), SplitMix(15));
    let (mut time, mut back) = (trace.last.timestamp_micros().max(NOON) as u64 / 1_000, 0);
    for _ in 0..STEPS {
        time += match rng.below(400) {
            0 => rng.pick(&[255, 256, 257, 1_000, 60_000]),
            1..130 => 1 + rng.below(100),
            _ => 0,
        };
        if rng.below(100) == 0 {
            back = rng.pick(&[0, 0, 0, 1, 24, 256, 500, 999, 1_000, 1_001, 5_000, 3_600_000]);
        }
        trace.step(time - back);
    }
    assert!(trace.seen.leads > 1_000 && trace.seen.refusals > 1_000, "{node}: {:?}", trace.seen);
    trace.seen
}

#[test]
fn generators_agree_for_every_size_of_the_node_id() {
    for size in 1..=23 {
        let seen = generators_agree(&format!("{}/{size}", (1 << size) - 1));
        assert!(size < 20 || (seen.waits > 1_000 && seen.overflows > 1_000), "{size}: {seen:?}");
    }
}

#[test]
fn generators_agree_after_a_previous_id() {
    generators_agree("5v2j98ju4vjk/8");
    generators_agree("v0rbps7ay8ks/16");
    generators_agree("v0rbps7ay8ks/23");
    generators_agree("0u2r85hm2pt3/20");
}

/// Generates every ID from one overflow of a large counter to the next.
#[test]
fn generators_agree_over_a_whole_cycle_of_the_counter() {
    let mut trace = Trace::new("3/4");
    for _ in 0..(1 << 20) + 10 {
        trace.step(NOON as u64 / 1_000);
    }
    assert!(trace.seen.overflows > 0);
}

#[test]
fn generators_agree_at_the_first_and_the_last_timestamps() {
    let mut trace = Trace::new("42/8");
    let last = Scru64::TICKS.max - 1;
    for tick in [1, 1, 2, 3, last - 1, last - 1, last, last] {
        trace.step(tick * TICK_MILLIS);
    }
}
