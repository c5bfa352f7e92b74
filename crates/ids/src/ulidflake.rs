//! Ulid-Flake: the ID, its settings, and the state and the steps of its generator.

use rand::Rng;

use crate::digits::CROCKFORD;
use crate::generator::{Context, MAX_AHEAD_MICROS, Moment, Refusal, Step, place_strictly};
use crate::mark::NodeCode;
use crate::{
    Field, GeneratedId, Getter, Kind, MAX_TEXT_LEN, ParseError, Setting, SettingContext, SortableId, SqlId, Ticks,
};

const RANDOMNESS_BITS: u32 = 20;
const MAX_RANDOMNESS: u32 = (1 << RANDOMNESS_BITS) - 1;

/// The number of bits of the randomness that the scalable form uses for the number of the server.
const SCALABILITY_BITS: u32 = 5;
const MAX_SCALABILITY: u32 = (1 << SCALABILITY_BITS) - 1;

/// 2024-01-01 00:00 UTC.
const EPOCH: i64 = 1_704_067_200_000_000;

/// A Ulid-Flake: a 64-bit ID, in order of creation, unique within its server.
///
/// Its [specification](https://github.com/ulid-flake/spec) defines these fields for the stand-alone form:
///
/// | bits | field |
/// |---|---|
/// | 1 | the sign, 0 |
/// | 43 | `timestamp`: milliseconds since 2024-01-01 UTC |
/// | 20 | `randomness`: random, renewed every millisecond; + n for every further ID |
///
/// In the scalable form, the last 20 bits are two fields:
///
/// | bits | field |
/// |---|---|
/// | 15 | `randomness`: random, renewed every millisecond; + n for every further ID |
/// | 5 | `scalability`: the number of the server |
///
/// n is a random number other than 0, of [`entropy_bits`](UlidFlakeSettings::entropy_bits) bits. When the randomness overflows,
/// the generator waits for the next millisecond, or refuses ([`UlidFlakeOverflow`]).
///
/// Every integer below 2^63 is an ID. The text has 13 Crockford Base32 digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UlidFlake(u64);

impl UlidFlake {
    /// Returns the ID with this integer value, or `None` if the value is 2^63 or more.
    pub const fn from_u64(value: u64) -> Option<Self> {
        if value <= Self::MAX.0 { Some(Self(value)) } else { None }
    }

    /// Returns the integer value.
    pub const fn to_u64(self) -> u64 {
        self.0
    }

    /// Returns the ID with these fields in the stand-alone form. Bits beyond the width of a field are discarded.
    pub const fn from_fields(timestamp: u64, randomness: u32) -> Self {
        Self((timestamp & Self::TICKS.max) << RANDOMNESS_BITS | (randomness & MAX_RANDOMNESS) as u64)
    }

    /// Returns the ID with these fields in the scalable form. Bits beyond the width of a field are discarded.
    pub const fn from_scalable_fields(timestamp: u64, randomness: u32, scalability: u32) -> Self {
        Self::from_fields(timestamp, randomness << SCALABILITY_BITS | scalability & MAX_SCALABILITY)
    }

    /// Returns the 43-bit timestamp, in milliseconds since 2024-01-01 UTC.
    pub const fn timestamp(self) -> u64 {
        self.0 >> RANDOMNESS_BITS
    }

    /// Returns the 20-bit randomness of the stand-alone form.
    pub const fn randomness(self) -> u32 {
        self.0 as u32 & MAX_RANDOMNESS
    }

    /// Returns the 15-bit randomness of the scalable form.
    pub const fn scalable_randomness(self) -> u32 {
        self.randomness() >> SCALABILITY_BITS
    }

    /// Returns the 5-bit scalability of the scalable form.
    pub const fn scalability(self) -> u32 {
        self.randomness() & MAX_SCALABILITY
    }
}

/// The settings of Ulid-Flake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UlidFlakeSettings {
    /// The number of the server in the scalable form, 0 to 31, or `None` for the stand-alone form.
    pub scalability: Option<u32>,
    /// The number of bits of the random increment of the randomness, 1 to 16.
    pub entropy_bits: u32,
    /// The reaction to an overflow of the randomness.
    pub on_overflow: UlidFlakeOverflow,
}

/// The reaction to an overflow of the randomness.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UlidFlakeOverflow {
    /// Wait for the next millisecond.
    #[default]
    Wait,
    /// Refuse with [`Refusal::Exhausted`].
    Error,
}

impl Default for UlidFlakeSettings {
    fn default() -> Self {
        Self { scalability: None, entropy_bits: 8, on_overflow: UlidFlakeOverflow::Wait }
    }
}

impl UlidFlakeSettings {
    /// Returns an ID of `tick` with new randomness.
    fn start(&self, tick: u64, rng: &mut impl Rng) -> UlidFlake {
        match self.scalability {
            None => UlidFlake::from_fields(tick, rng.next_u32()),
            Some(number) => UlidFlake::from_scalable_fields(tick, rng.next_u32(), number),
        }
    }

    /// Returns an ID after `last` in the same tick, or `None` if the randomness overflows.
    fn count(&self, last: UlidFlake, rng: &mut impl Rng) -> Option<UlidFlake> {
        let (tick, n) = (last.timestamp(), self.increment(rng));
        match self.scalability {
            None => {
                let randomness = last.randomness() + n;
                (randomness <= MAX_RANDOMNESS).then(|| UlidFlake::from_fields(tick, randomness))
            }
            // The upper bits increase, so the ID is greater than `last`, regardless of the lower bits.
            Some(number) => {
                let randomness = last.scalable_randomness() + n;
                let has_room = randomness <= MAX_RANDOMNESS >> SCALABILITY_BITS;
                has_room.then(|| UlidFlake::from_scalable_fields(tick, randomness, number))
            }
        }
    }

    /// Returns a random number of `entropy_bits` bits, uniformly distributed over all values except 0.
    fn increment(&self, rng: &mut impl Rng) -> u32 {
        loop {
            let n = rng.next_u32() & ((1 << self.entropy_bits) - 1);
            if n != 0 {
                return n;
            }
        }
    }

    /// Returns the result of a step whose randomness overflows. With either setting, the generator waits for a clock that is
    /// behind the tick of `last`, as after a restart.
    fn overflow(&self, last: UlidFlake, now: i64) -> Step<UlidFlake> {
        let ticks = UlidFlake::TICKS;
        match self.on_overflow {
            UlidFlakeOverflow::Error if ticks.start(last.timestamp()) <= now => Step::Refused(Refusal::Exhausted),
            _ => Step::Wait(ticks.start(last.timestamp() + 1)),
        }
    }
}

impl SortableId for UlidFlake {
    const NAME: &'static str = "ulidflake";
    const TEXT_LEN: usize = 13;
    const MIN: Self = Self(0);
    const MAX: Self = Self(i64::MAX as u64);
    const TICKS: Ticks = Ticks { epoch: EPOCH, micros: 1_000, max: (1 << 43) - 1 };
    const SEQUENCE_BITS: u32 = RANDOMNESS_BITS;

    type Stored = i64;
    type Settings = UlidFlakeSettings;

    fn to_stored(self) -> i64 {
        self.0 as i64
    }

    fn from_stored(stored: i64) -> Option<Self> {
        u64::try_from(stored).ok().map(Self)
    }

    #[inline]
    fn parse(text: &[u8]) -> Result<Self, ParseError> {
        CROCKFORD.decode_13(text).map(Self)
    }

    fn digits<'a>(self, _: &UlidFlakeSettings, buffer: &'a mut [u8; MAX_TEXT_LEN]) -> &'a [u8] {
        CROCKFORD.encode_13(self.0, buffer)
    }

    fn tick(self) -> u64 {
        self.timestamp()
    }

    fn first_of(tick: u64) -> Self {
        Self::from_fields(tick, 0)
    }

    fn last_of(tick: u64) -> Self {
        Self::from_fields(tick, MAX_RANDOMNESS)
    }
}

impl GeneratedId for UlidFlake {
    const SERVER_WIDE: bool = true;
    const NODE_BITS: u32 = SCALABILITY_BITS + 1;

    /// The last ID, or 0 if there is none.
    type State = u64;

    /// Returns a random ID of `tick`, without a guarantee of uniqueness.
    fn random_of(tick: u64, rng: &mut impl Rng) -> Self {
        Self::from_fields(tick, rng.next_u32())
    }

    /// Returns whether the ID has the number of the server. Always `false` in the stand-alone form, whose IDs have no number.
    fn is_local(self, settings: &UlidFlakeSettings) -> bool {
        settings.scalability == Some(self.scalability())
    }

    /// Returns a state whose last ID is the largest of the last tick that the predecessor may have used, which is
    /// [`MAX_AHEAD_MICROS`] ahead of `now`. The next ID therefore has a later tick.
    fn successor_state(now: i64) -> u64 {
        let tick = Self::TICKS.nearest(now.saturating_add(MAX_AHEAD_MICROS));
        Self::last_of(tick).0
    }

    /// Returns the node with the scalability as its ID. In the stand-alone form, returns [`NodeCode::ALL`], because an ID can end
    /// in the bits of any scalability.
    #[inline]
    fn node(settings: &UlidFlakeSettings) -> NodeCode {
        settings.scalability.map_or(NodeCode::ALL, |number| NodeCode::new(number, SCALABILITY_BITS))
    }

    fn node_text(settings: &UlidFlakeSettings) -> Option<String> {
        Some(settings.scalability.map_or_else(|| "-1".to_owned(), |number| number.to_string()))
    }

    fn state_tick(state: u64) -> u64 {
        Self(state).timestamp()
    }

    fn state_after(tick: u64, _: &mut impl Rng) -> u64 {
        Self::last_of(tick).0
    }

    fn last_id(state: u64) -> Option<Self> {
        (state != 0).then_some(Self(state))
    }

    #[inline(always)]
    fn step(state: u64, context: &Context<UlidFlakeSettings>, rng: &mut impl Rng) -> Step<Self> {
        let (last, settings) = (Self(state), &context.settings);
        let next = match place_strictly::<Self>(last.timestamp(), context.now) {
            Ok(Moment::Fresh(tick) | Moment::Later(tick)) => settings.start(tick, rng),
            Ok(Moment::Same) => match settings.count(last, rng) {
                Some(next) => next,
                None => return settings.overflow(last, context.now),
            },
            Err(step) => return step,
        };
        Step::Made(next.0, next)
    }
}

impl SqlId for UlidFlake {
    const SUMMARY: &'static str =
        "Ulid-Flake: 64-bit ID in order of creation, unique within its server (13 Crockford Base32 digits)";
    const FIELDS: &'static [Field<Self>] = &[
        Field {
            name: "randomness",
            summary: "20 bits of the stand-alone form, random at the start of every millisecond, then counted up",
            getter: Getter::Bits24(Self::randomness),
        },
        Field {
            name: "scalable_randomness",
            summary: "15 bits of the scalable form, random at the start of every millisecond, then counted up",
            getter: Getter::Bits24(Self::scalable_randomness),
        },
        Field {
            name: "scalability",
            summary: "5 bits of the scalable form: the number of the server",
            getter: Getter::Bits24(Self::scalability),
        },
    ];
    const SETTINGS: &'static [Setting<UlidFlakeSettings>] = &[
        Setting {
            name: "ulidflake_scalability",
            summary: "Number of this server in the scalable form, or -1 for the stand-alone form.",
            context: SettingContext::Superuser,
            kind: Kind::Integer {
                default: -1,
                min: -1,
                max: MAX_SCALABILITY as i32,
                apply: |settings, value| settings.scalability = u32::try_from(value).ok(),
            },
        },
        Setting {
            name: "ulidflake_entropy_bits",
            summary: "Number of bits of the random increment between the ulidflakes of a millisecond.",
            context: SettingContext::Reload,
            kind: Kind::Integer {
                default: 8,
                min: 1,
                max: 16,
                apply: |settings, value| settings.entropy_bits = value.unsigned_abs(),
            },
        },
        Setting {
            name: "ulidflake_on_overflow",
            summary: "Reaction when a millisecond has no room for a further ulidflake: wait, or fail.",
            context: SettingContext::User,
            kind: Kind::Choice {
                words: &["wait", "error"],
                apply: |settings, word| {
                    settings.on_overflow = [UlidFlakeOverflow::Wait, UlidFlakeOverflow::Error][word];
                },
            },
        },
    ];
}

#[cfg(test)]
mod tests {
    use rand::rngs::StdRng;
    use rand::{RngExt, SeedableRng};

    use super::*;
    use crate::generator::script::Draw::{self, Bits32};
    use crate::generator::script::{Script, step};
    use crate::{OnClockRollback, State};

    /// 2026-11-01 12:00 UTC, in milliseconds since 2024, and in microseconds since 1970.
    const TICK: u64 = 89_467_200_000;
    const NOON: i64 = 1_793_534_400_000_000;
    const SECOND: i64 = 1_000_000;
    /// The last timestamp that is not reserved.
    const LAST: u64 = UlidFlake::TICKS.max - 1;

    const STAND_ALONE: UlidFlakeSettings =
        UlidFlakeSettings { scalability: None, entropy_bits: 8, on_overflow: UlidFlakeOverflow::Wait };
    const SCALABLE: UlidFlakeSettings = UlidFlakeSettings { scalability: Some(21), ..STAND_ALONE };

    fn refusing(settings: UlidFlakeSettings) -> UlidFlakeSettings {
        UlidFlakeSettings { on_overflow: UlidFlakeOverflow::Error, ..settings }
    }

    fn at(now: i64, settings: UlidFlakeSettings) -> Context<UlidFlakeSettings> {
        Context { now, on_clock_rollback: OnClockRollback::Reset, settings }
    }

    fn id(tick: u64, randomness: u32) -> UlidFlake {
        UlidFlake::from_fields(tick, randomness)
    }

    fn scalable(tick: u64, randomness: u32) -> UlidFlake {
        UlidFlake::from_scalable_fields(tick, randomness, 21)
    }

    fn used(last: UlidFlake) -> u64 {
        last.0
    }

    fn made(state: u64, now: i64, settings: UlidFlakeSettings, draws: &[Draw]) -> UlidFlake {
        match step::<UlidFlake>(state, &at(now, settings), draws) {
            Step::Made(next, id) => {
                assert_eq!(next, used(id));
                id
            }
            other => panic!("{other:?}"),
        }
    }

    /// Runs a step that generates no ID.
    fn refusal_or_wait(last: UlidFlake, now: i64, settings: UlidFlakeSettings, draws: &[Draw]) -> Step<UlidFlake> {
        step::<UlidFlake>(used(last), &at(now, settings), draws)
    }

    #[test]
    fn an_id_is_local_to_its_number() {
        let other = UlidFlakeSettings { scalability: Some(20), ..STAND_ALONE };
        let is_local = |settings| scalable(TICK, 9).is_local(&settings);
        assert_eq!([SCALABLE, other, STAND_ALONE].map(is_local), [true, false, false]);
    }

    #[test]
    fn ids_are_not_negative() {
        assert_eq!(UlidFlake::from_u64((1 << 63) - 1), Some(UlidFlake::MAX));
        assert_eq!(UlidFlake::from_u64(1 << 63), None);
        assert_eq!(UlidFlake::from_stored(i64::MAX), Some(UlidFlake::MAX));
        assert_eq!([-1, i64::MIN].map(UlidFlake::from_stored), [None; 2]);
    }

    #[test]
    fn fields_are_cut_to_their_width() {
        assert_eq!(UlidFlake::from_fields(u64::MAX, u32::MAX), UlidFlake::MAX);
        assert_eq!(UlidFlake::from_fields(1 << 43 | 1, 1 << 20 | 2), UlidFlake(1 << 20 | 2));
        assert_eq!(UlidFlake::from_scalable_fields(1, 1 << 15 | 2, 1 << 5 | 3), UlidFlake(1 << 20 | 2 << 5 | 3));
    }

    /// The example of the specification: `New().Int()` and `New()`.
    #[test]
    fn the_specification_s_example_has_both_forms() {
        let id: UlidFlake = "00CMXB6TAK4SA".parse().unwrap();
        assert_eq!(id.to_u64(), 14_246_757_444_195_114);
        assert_eq!(id.randomness(), 627_498);
        assert_eq!((id.scalable_randomness(), id.scalability()), (19_609, 10), "the last digit, A");
    }

    #[test]
    fn a_fresh_generator_draws_20_bits_or_15() {
        assert_eq!(UlidFlake::TICKS.start(TICK), NOON);
        let fresh = 0;
        assert_eq!(made(fresh, NOON, STAND_ALONE, &[Bits32(0xabc1_2345)]), id(TICK, 0x1_2345));
        assert_eq!(made(fresh, NOON + 999, STAND_ALONE, &[Bits32(u32::MAX)]), id(TICK, 0xf_ffff));
        assert_eq!(made(fresh, NOON, SCALABLE, &[Bits32(0xabc1_2345)]), id(TICK, 0x2345 << 5 | 21));
        assert_eq!(made(fresh, NOON, SCALABLE, &[Bits32(u32::MAX)]), id(TICK, 0x7fff << 5 | 21));
    }

    #[test]
    fn within_a_millisecond_randomness_is_counted_up_by_n() {
        assert_eq!(made(used(id(TICK, 7)), NOON, STAND_ALONE, &[Bits32(0xffff_ff01)]), id(TICK, 8));
        assert_eq!(made(used(id(TICK, 7)), NOON + 999, STAND_ALONE, &[Bits32(u32::MAX)]), id(TICK, 7 + 255));
        assert_eq!(made(used(scalable(TICK, 7)), NOON, SCALABLE, &[Bits32(3)]), scalable(TICK, 10));
    }

    #[test]
    fn n_has_as_many_bits_as_set_and_is_never_0() {
        for entropy_bits in 1..=16 {
            let settings = UlidFlakeSettings { entropy_bits, ..STAND_ALONE };
            let largest = (1 << entropy_bits) - 1;
            assert_eq!(made(used(id(TICK, 0)), NOON, settings, &[Bits32(u32::MAX)]), id(TICK, largest));
            let draws = [Bits32(0), Bits32(!largest), Bits32(1)];
            assert_eq!(made(used(id(TICK, 0)), NOON, settings, &draws), id(TICK, 1), "0 is discarded");
        }
    }

    #[test]
    fn n_is_uniform() {
        let (mut rng, mut counts) = (StdRng::seed_from_u64(8), [0_u32; 8]);
        let settings = UlidFlakeSettings { entropy_bits: 3, ..STAND_ALONE };
        for _ in 0..70_000 {
            counts[settings.increment(&mut rng) as usize] += 1;
        }
        assert_eq!(counts[0], 0);
        assert!(counts[1..].iter().all(|count| (9_500..10_500).contains(count)), "{counts:?}");
    }

    #[test]
    fn in_a_later_millisecond_randomness_is_drawn_anew() {
        assert_eq!(made(used(id(TICK, 0xf_ffff)), NOON + 1_000, STAND_ALONE, &[Bits32(3)]), id(TICK + 1, 3));
        assert_eq!(made(used(id(TICK, 0xf_ffff)), NOON + 1_000, SCALABLE, &[Bits32(3)]), scalable(TICK + 1, 3));
    }

    #[test]
    fn overflow_waits_for_the_millisecond_after_the_last_id() {
        let wait = Step::Wait(NOON + 1_000);
        assert_eq!(refusal_or_wait(id(TICK, 0xf_ffff), NOON, STAND_ALONE, &[Bits32(1)]), wait);
        assert_eq!(refusal_or_wait(id(TICK, 0xf_ff01), NOON + 999, STAND_ALONE, &[Bits32(255)]), wait);
        assert_eq!(refusal_or_wait(id(TICK, 0xf_ffff), NOON - SECOND, STAND_ALONE, &[Bits32(1)]), wait);
        assert_eq!(refusal_or_wait(scalable(TICK, 0x7fff), NOON, SCALABLE, &[Bits32(1)]), wait);
        assert_eq!(refusal_or_wait(scalable(TICK, 0x7f01), NOON, SCALABLE, &[Bits32(255)]), wait);
    }

    /// On average, the randomness starts at half of its range and increases by 128.
    #[test]
    fn a_millisecond_has_room_for_4096_ids_or_128_on_average() {
        let mut rng = StdRng::seed_from_u64(20);
        for (settings, room) in [(STAND_ALONE, 4_096), (SCALABLE, 128)] {
            let mut ids = 0;
            for _ in 0..400 {
                let mut state = 0;
                while let Step::Made(next, _) = UlidFlake::step(state, &at(NOON, settings), &mut rng) {
                    (state, ids) = (next, ids + 1);
                    assert!(ids < 1 << 24, "the millisecond does not end");
                }
            }
            assert!((room * 9 / 10..room * 11 / 10).contains(&(ids / 400)), "{ids}");
        }
    }

    #[test]
    fn randomness_is_used_to_its_last_value() {
        assert_eq!(made(used(id(TICK, 0xf_ff00)), NOON, STAND_ALONE, &[Bits32(255)]), id(TICK, 0xf_ffff));
        assert_eq!(made(used(scalable(TICK, 0x7f00)), NOON, SCALABLE, &[Bits32(255)]), scalable(TICK, 0x7fff));
    }

    #[test]
    fn overflow_is_refused_if_on_overflow_is_error() {
        let refused = Step::Refused(Refusal::Exhausted);
        assert_eq!(refusal_or_wait(id(TICK, 0xf_ffff), NOON, refusing(STAND_ALONE), &[Bits32(1)]), refused);
        assert_eq!(refusal_or_wait(scalable(TICK, 0x7fff), NOON, refusing(SCALABLE), &[Bits32(1)]), refused);
    }

    #[test]
    fn overflow_waits_for_a_clock_that_is_behind() {
        let wait = Step::Wait(NOON + 1_000);
        assert_eq!(refusal_or_wait(id(TICK, 0xf_ffff), NOON - 1, refusing(STAND_ALONE), &[Bits32(1)]), wait);
        assert_eq!(refusal_or_wait(id(TICK, 0xf_ffff), NOON - SECOND, refusing(STAND_ALONE), &[Bits32(1)]), wait);
    }

    #[test]
    fn ids_continue_with_the_last_millisecond_after_a_rollback_of_a_second() {
        assert_eq!(made(used(id(TICK, 7)), NOON - 1, STAND_ALONE, &[Bits32(1)]), id(TICK, 8));
        assert_eq!(made(used(id(TICK, 7)), NOON - SECOND, STAND_ALONE, &[Bits32(1)]), id(TICK, 8));
        assert_eq!(made(used(scalable(TICK, 7)), NOON - SECOND, SCALABLE, &[Bits32(1)]), scalable(TICK, 8));
    }

    #[test]
    fn generation_waits_after_a_rollback_of_up_to_two_seconds() {
        for behind in [SECOND + 1, 2 * SECOND] {
            assert_eq!(refusal_or_wait(id(TICK, 7), NOON - behind, STAND_ALONE, &[]), Step::Wait(NOON - SECOND));
        }
    }

    #[test]
    fn a_larger_rollback_is_refused_with_its_distance_for_any_setting() {
        for settings in [STAND_ALONE, SCALABLE, refusing(STAND_ALONE)] {
            for on_clock_rollback in [OnClockRollback::Reset, OnClockRollback::Error] {
                for behind in [2 * SECOND + 1, 5 * SECOND, 3_600 * SECOND] {
                    let context = Context { on_clock_rollback, ..at(NOON - behind, settings) };
                    let refused = step::<UlidFlake>(used(id(TICK, 7)), &context, &[]);
                    assert_eq!(refused, Step::Refused(Refusal::ClockMovedBack(behind as u64)));
                }
            }
        }
    }

    #[test]
    fn ids_increase_when_the_form_changes_within_a_millisecond() {
        let n = &[Bits32(1)];
        for low in [0, 20, 21, 22, 31] {
            let next = made(used(id(TICK, 7 << 5 | low)), NOON, SCALABLE, n);
            assert_eq!(next, scalable(TICK, 8), "after {low}");
        }
        assert_eq!(made(used(scalable(TICK, 7)), NOON, STAND_ALONE, n), id(TICK, (7 << 5 | 21) + 1), "and back");
        let other = UlidFlakeSettings { scalability: Some(0), ..STAND_ALONE };
        assert_eq!(made(used(scalable(TICK, 7)), NOON, other, n), UlidFlake::from_scalable_fields(TICK, 8, 0));
        assert_eq!(
            refusal_or_wait(id(TICK, 0x7fff << 5), NOON, SCALABLE, n),
            Step::Wait(NOON + 1_000),
            "0x7fff is not reused"
        );
    }

    #[test]
    fn clocks_at_reserved_timestamps_and_beyond_are_refused() {
        let end = UlidFlake::TICKS.start(LAST + 1);
        for last in [UlidFlake::MIN, id(1, 2), id(LAST, 2), UlidFlake::MAX] {
            for now in [i64::MIN, 0, EPOCH - 1, EPOCH, EPOCH + 999, end, end + 999, end + 1_000, i64::MAX] {
                let step = refusal_or_wait(last, now, STAND_ALONE, &[]);
                assert_eq!(step, Step::Refused(Refusal::ClockOutOfRange), "at {now}");
            }
        }
    }

    #[test]
    fn the_first_and_the_last_timestamp_are_generated() {
        let fresh = 0;
        assert_eq!(made(fresh, EPOCH + 1_000, STAND_ALONE, &[Bits32(3)]), id(1, 3));
        assert_eq!(made(fresh, UlidFlake::TICKS.start(LAST), STAND_ALONE, &[Bits32(3)]), id(LAST, 3));
    }

    #[test]
    fn a_state_at_the_reserved_timestamp_is_refused() {
        let now = UlidFlake::TICKS.start(LAST);
        let refused = Step::Refused(Refusal::ClockOutOfRange);
        assert_eq!(refusal_or_wait(id(LAST + 1, 7), now, STAND_ALONE, &[]), refused);
        assert_eq!(refusal_or_wait(UlidFlake::MAX, now, STAND_ALONE, &[]), refused);
    }

    #[test]
    fn a_successor_begins_after_the_millisecond_a_second_ahead() {
        assert_eq!(UlidFlake::successor_state(NOON), used(UlidFlake::last_of(TICK + 1_000)));
        assert_eq!(UlidFlake::successor_state(NOON + 999), used(UlidFlake::last_of(TICK + 1_000)));
        for settings in [STAND_ALONE, SCALABLE] {
            let last = UlidFlake::last_of(TICK + 1_000);
            let until = NOON + 1_001_000;
            assert_eq!(refusal_or_wait(last, NOON, settings, &[Bits32(1)]), Step::Wait(until));
            assert_eq!(refusal_or_wait(last, until - 1, settings, &[Bits32(1)]), Step::Wait(until));
            assert_eq!(made(used(last), until, settings, &[Bits32(0)]).timestamp(), TICK + 1_001);
        }
    }

    #[test]
    fn a_successor_begins_at_an_end_of_the_range_if_the_clock_is_outside() {
        assert_eq!(UlidFlake::successor_state(i64::MIN), used(UlidFlake::last_of(0)));
        assert_eq!(UlidFlake::successor_state(i64::MAX), used(UlidFlake::MAX));
        assert_eq!(made(UlidFlake::successor_state(0), NOON, STAND_ALONE, &[Bits32(3)]), id(TICK, 3));
    }

    #[test]
    fn a_state_packs_into_the_last_id() {
        let state = used(id(TICK, 7));
        assert_eq!(state.pack(), TICK << 20 | 7);
        assert_eq!(u64::unpack(state.pack()), state);
    }

    #[test]
    fn random_ids_draw_20_bits() {
        assert_eq!(UlidFlake::random_of(TICK, &mut Script(&[Bits32(0xabc1_2345)])), id(TICK, 0x1_2345));
    }

    /// The defaults of the settings result in the default `UlidFlakeSettings`, and every setting stores its value.
    #[test]
    fn settings_keep_their_values() {
        let mut settings =
            UlidFlakeSettings { scalability: Some(3), entropy_bits: 1, on_overflow: UlidFlakeOverflow::Error };
        for setting in UlidFlake::SETTINGS {
            match setting.kind {
                Kind::Integer { default, apply, .. } => apply(&mut settings, default),
                Kind::Choice { apply, .. } => apply(&mut settings, 0),
                Kind::Text { .. } => panic!("no text"),
            }
        }
        assert_eq!(settings, UlidFlakeSettings::default());
        let [Kind::Integer { apply: scalability, .. }, Kind::Integer { apply: entropy_bits, .. }, _] =
            [0, 1, 2].map(|setting: usize| &UlidFlake::SETTINGS[setting].kind)
        else {
            panic!("two numbers")
        };
        scalability(&mut settings, 0);
        entropy_bits(&mut settings, 16);
        assert_eq!(settings, UlidFlakeSettings { scalability: Some(0), entropy_bits: 16, ..STAND_ALONE });
        scalability(&mut settings, 31);
        assert_eq!(settings.scalability, Some(31));
    }

    #[test]
    fn ids_increase_whatever_the_clock_and_the_settings_do() {
        let mut rng = StdRng::seed_from_u64(43);
        let (mut clock, mut settings) = (NOON, STAND_ALONE);
        let (mut state, mut last) = (0, UlidFlake::MIN);
        let (mut made, mut waits, mut refusals) = (0, 0, 0);
        for _ in 0..1_000_000 {
            clock += [0, 0, 0, 0, 0, 0, 0, 1, 100, 700, -100, -300][rng.random_range(0..12)];
            if rng.random_range(0..50) == 0 {
                settings.scalability = [None, Some(0), Some(21), Some(31)][rng.random_range(0..4)];
                settings.entropy_bits = rng.random_range(1..=16);
                settings.on_overflow = [UlidFlakeOverflow::Wait, UlidFlakeOverflow::Error][rng.random_range(0..2)];
            }
            match UlidFlake::step(state, &at(clock, settings), &mut rng) {
                Step::Made(next, id) => {
                    assert!(id > last);
                    assert!(settings.scalability.is_none_or(|number| id.scalability() == number));
                    (state, last, made) = (next, id, made + 1);
                }
                Step::Wait(until) => {
                    assert_eq!(until, last.timestamp_micros() + 1_000);
                    assert!(clock < until);
                    (clock, waits) = (until, waits + 1);
                }
                Step::Refused(refusal) => {
                    assert_eq!((refusal, settings.on_overflow), (Refusal::Exhausted, UlidFlakeOverflow::Error));
                    (clock, refusals) = (clock + 500, refusals + 1);
                }
            }
        }
        assert!(made > 500_000 && waits > 1_000 && refusals > 1_000, "{made}, {waits}, {refusals}");
    }
}
