use std::ops::Range;

use proptest::prelude::*;

use super::*;
use crate::OnClockRollback;
use crate::generator::script::Draw::{self, Bits32};
use crate::generator::script::{Script, step};

/// The tick of 2026-11-01 12:00 UTC, and its start.
const TICK: u64 = 7_005_993_750;
const NOON: i64 = 1_793_534_400_000_000;
const TICK_MICROS: i64 = 256_000;
const SECOND: i64 = 1_000_000;
/// The last tick that is not reserved.
const LAST: u64 = Scru64::TICKS.max - 1;

fn node(text: &str) -> Scru64Node {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn at(now: i64, node: &str) -> Context<Scru64Settings> {
    let settings = Scru64Settings { node: self::node(node) };
    Context { now, on_clock_rollback: OnClockRollback::Reset, settings }
}

/// Returns the ID of this tick, node and counter.
fn id(tick: u64, node: &str, counter: u32) -> Scru64 {
    let node = self::node(node);
    Scru64::from_fields(tick, node.id << (24 - node.size) | counter).unwrap()
}

fn used(last: Scru64) -> u64 {
    last.0
}

fn successor(now: i64) -> u64 {
    Scru64::successor_state(now, &mut Script(&[]))
}

fn made(state: u64, now: i64, node: &str, draws: &[Draw]) -> Scru64 {
    match step::<Scru64>(state, &at(now, node), draws) {
        Ok((next, id)) => {
            assert_eq!(next, used(id));
            id
        }
        other => panic!("{other:?}"),
    }
}

/// Runs a step that generates no ID and draws no random numbers.
fn refusal_or_wait(last: Scru64, now: i64, node: &str) -> Step<Scru64> {
    step::<Scru64>(used(last), &at(now, node), &[])
}

fn moved_back(micros: i64) -> Step<Scru64> {
    Err(NoId::Refused(Refusal::ClockMovedBack(micros as u64)))
}

/// All `node_ctr` of the node.
fn node_ctrs(node: Scru64Node) -> Range<u32> {
    let first = node.id << (24 - node.size);
    first..first + (1 << (24 - node.size))
}

#[test]
fn nodes_collide_if_their_ids_begin_with_the_same_bits() {
    for (one, other, collide) in [
        ("0/4", "0/4", true),
        ("0/4", "1/4", false),
        ("0/4", "0x80/8", false),
        ("0/4", "0x0f/8", true),
        ("8/4", "0x80/8", true),
        ("0/1", "0x3fffff/23", true),
        ("0/1", "0x7fffff/23", false),
        ("1/1", "0x7fffff/23", true),
        ("1/1", "0x3fffff/23", false),
    ] {
        assert_eq!([node(one).collides(node(other)), node(other).collides(node(one))], [collide; 2], "{one} {other}");
    }
    // The first of these is the node of a last ID.
    assert!(node("0u2r85hm2pt3/16").collides(node("0x2af9/16")));
}

fn nodes() -> impl Strategy<Value = Scru64Node> {
    let sizes = 1..=23_u32;
    sizes.prop_flat_map(|size| (0..1_u32 << size, Just(size))).prop_map(|(id, size)| node(&format!("{id}/{size}")))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    /// The second node often begins with the bits of the first.
    #[test]
    fn nodes_collide_if_they_share_an_id(one in nodes(), other in nodes(), more in 0..23_u32, bits: u32) {
        let size = one.size + more.min(23 - one.size);
        let longer = node(&format!("{}/{size}", one.id << (size - one.size) | bits & ((1 << (size - one.size)) - 1)));
        for other in [other, longer] {
            let (a, b) = (node_ctrs(one), node_ctrs(other));
            prop_assert_eq!(one.collides(other), a.start < b.end && b.start < a.end);
        }
    }
}

#[test]
fn an_id_is_local_to_its_node() {
    for (size, local) in [("5/8", [true, false]), ("10/9", [true, false]), ("2/7", [true, true]), ("0/1", [true, true])]
    {
        let settings = Scru64Settings { node: node(size) };
        assert_eq!([id(TICK, "5/8", 7), id(TICK, "4/8", 7)].map(|id| id.is_local(&settings)), local, "{size}");
    }
}

#[test]
fn ids_are_below_36_to_the_12() {
    assert_eq!(Scru64::from_u64(POW_12 - 1), Some(Scru64::MAX));
    assert_eq!(Scru64::from_u64(POW_12), None);
    assert_eq!(Scru64::from_stored(POW_12 as i64), None);
    assert_eq!([-1, i64::MIN, i64::MAX].map(Scru64::from_stored), [None; 3]);
    assert_eq!(Scru64::from_fields(9_u64.pow(12) - 1, u32::MAX), Some(Scru64::MAX));
    assert_eq!(Scru64::from_fields(9_u64.pow(12), 0), None);
    assert_eq!(Scru64::from_fields(1, 1 << 24 | 2), Some(Scru64(1 << 24 | 2)));
}

#[test]
fn node_id_and_counter_share_24_bits() {
    let id = Scru64(TICK << 24 | 0xabcdef);
    assert_eq!((id.timestamp(), id.node_ctr()), (TICK, 0xabcdef));
    assert_eq!((id.node_id(1), id.counter(1)), (1, 0x2bcdef));
    assert_eq!((id.node_id(8), id.counter(8)), (0xab, 0xcdef));
    assert_eq!((id.node_id(16), id.counter(16)), (0xabcd, 0xef));
    assert_eq!((id.node_id(23), id.counter(23)), (0xabcdef >> 1, 1));
}

#[test]
fn overflow_waits_if_the_next_tick_is_more_than_a_second_ahead() {
    // The fourth tick from now starts in 1.024 s.
    let full = id(TICK + 3, "5/20", 15);
    let until = NOON + 4 * TICK_MICROS - SECOND;
    assert_eq!(refusal_or_wait(full, NOON, "5/20"), Err(NoId::Wait(until)));
    assert_eq!(refusal_or_wait(full, until - 1, "5/20"), Err(NoId::Wait(until)));
    assert_eq!(made(used(full), until, "5/20", &[Bits32(3)]), id(TICK + 4, "5/20", 3));
}

#[test]
fn ids_continue_with_the_last_tick_after_a_rollback_of_a_second() {
    let last = id(TICK, "42/8", 7);
    assert_eq!(made(used(last), NOON - 1, "42/8", &[]), id(TICK, "42/8", 8));
    assert_eq!(made(used(last), NOON - SECOND, "42/8", &[]), id(TICK, "42/8", 8));
    let full = id(TICK, "42/8", 0xffff);
    assert_eq!(refusal_or_wait(full, NOON - SECOND, "42/8"), Err(NoId::Wait(NOON + TICK_MICROS - SECOND)));
}

#[test]
fn generation_waits_after_a_rollback_of_up_to_two_seconds() {
    for last in [id(TICK, "42/8", 7), id(TICK, "42/8", 0xffff), id(TICK, "3/8", 7)] {
        for behind in [SECOND + 1, 2 * SECOND] {
            assert_eq!(refusal_or_wait(last, NOON - behind, "42/8"), Err(NoId::Wait(NOON - SECOND)));
        }
    }
}

#[test]
fn a_larger_rollback_is_refused_with_its_distance_for_any_setting() {
    for last in [id(TICK, "42/8", 7), id(TICK, "42/8", 0xffff), id(TICK, "3/8", 7)] {
        for on_clock_rollback in [OnClockRollback::Reset, OnClockRollback::Error] {
            for behind in [2 * SECOND + 1, 5 * SECOND, 3_600 * SECOND] {
                let context = Context { on_clock_rollback, ..at(NOON - behind, "42/8") };
                assert_eq!(step::<Scru64>(used(last), &context, &[]), moved_back(behind));
            }
        }
    }
}

#[test]
fn ids_of_another_node_continue_in_the_next_tick() {
    let first = id(TICK, "42/8", 7);
    let other = made(used(first), NOON, "3/8", &[Bits32(9)]);
    assert_eq!(other, id(TICK + 1, "3/8", 9));
    let back = made(used(other), NOON, "42/8", &[Bits32(7)]);
    assert_eq!(back, id(TICK + 2, "42/8", 7));
    assert_eq!(made(used(back), NOON, "42/8", &[]), id(TICK + 2, "42/8", 8));
    let until = NOON + 4 * TICK_MICROS - SECOND;
    assert_eq!(refusal_or_wait(id(TICK + 3, "42/8", 7), NOON, "3/8"), Err(NoId::Wait(until)), "at most a second ahead");
}

#[test]
fn another_size_continues_only_if_the_node_id_is_the_same() {
    assert_eq!(made(used(id(TICK, "0/4", 7)), NOON, "0/8", &[]), id(TICK, "0/8", 8));
    assert_eq!(made(used(id(TICK, "0/4", 0x1_0000)), NOON, "0/8", &[Bits32(3)]), id(TICK + 1, "0/8", 3));
    assert_eq!(made(used(id(TICK, "0/4", 0xffff)), NOON, "0/8", &[Bits32(3)]), id(TICK + 1, "0/8", 3), "full");
    assert_eq!(made(used(id(TICK, "0/8", 0xffff)), NOON, "0/4", &[]), id(TICK, "0/4", 0x1_0000));
}

#[test]
fn generation_continues_after_the_previous_id_of_the_node() {
    let spec = format!("{}/8", id(TICK, "42/8", 7));
    let fresh = 0;
    assert_eq!(made(fresh, NOON, &spec, &[]), id(TICK, "42/8", 8));
    assert_eq!(made(fresh, NOON + TICK_MICROS, &spec, &[Bits32(3)]), id(TICK + 1, "42/8", 3));
    assert_eq!(made(used(id(TICK, "42/8", 9)), NOON, &spec, &[]), id(TICK, "42/8", 10), "the state is ahead");
    assert_eq!(made(used(id(TICK, "42/8", 5)), NOON, &spec, &[]), id(TICK, "42/8", 8), "the state is behind");
    assert_eq!(made(used(id(TICK - 9, "3/8", 5)), NOON, &spec, &[]), id(TICK, "42/8", 8));
}

#[test]
fn a_previous_id_in_the_future_is_refused_as_a_clock_that_moved_back() {
    let spec = format!("{}/8", id(TICK + 8, "42/8", 7));
    let step = step::<Scru64>(0, &at(NOON, &spec), &[]);
    assert_eq!(step, moved_back(8 * TICK_MICROS));
    let far = refusal_or_wait(Scru64::MIN, NOON, "zzzzzzzzzzzz/8");
    assert_eq!(far, moved_back(Scru64::MAX.timestamp_micros() - NOON));
}

#[test]
fn overflow_into_the_reserved_timestamp_is_refused() {
    let (full, now) = (id(LAST, "42/8", 0xffff), Scru64::TICKS.start(LAST));
    assert_eq!(refusal_or_wait(full, now, "42/8"), Err(NoId::Refused(Refusal::ClockOutOfRange)));
    assert_eq!(
        refusal_or_wait(full, now - SECOND, "42/8"),
        Err(NoId::Refused(Refusal::ClockOutOfRange)),
        "without a wait"
    );
    let reserved = id(LAST + 1, "42/8", 7);
    assert_eq!(
        refusal_or_wait(reserved, now, "42/8"),
        Err(NoId::Refused(Refusal::ClockOutOfRange)),
        "with room to count"
    );
}

#[test]
fn a_successor_begins_after_the_tick_a_second_ahead() {
    assert_eq!(successor(NOON), used(Scru64::last_of(TICK + 3)));
    assert_eq!(successor(NOON + 24_000 - 1), used(Scru64::last_of(TICK + 3)));
    assert_eq!(successor(NOON + 24_000), used(Scru64::last_of(TICK + 4)));
    for now in [NOON, NOON + 23_999, NOON + 24_000, NOON + TICK_MICROS - 1] {
        let last = Scru64(successor(now));
        let until = last.timestamp_micros() + TICK_MICROS - SECOND;
        assert!(now < until && until <= now + TICK_MICROS);
        for node in ["0/4", "15/4", "8388607/23"] {
            assert_eq!(refusal_or_wait(last, now, node), Err(NoId::Wait(until)));
            assert_eq!(made(used(last), until, node, &[Bits32(0)]), id(last.timestamp() + 1, node, 0));
        }
    }
}

#[test]
fn a_successor_begins_at_an_end_of_the_range_if_the_clock_is_outside() {
    assert_eq!(successor(i64::MIN), used(Scru64::last_of(0)));
    assert_eq!(successor(i64::MAX), used(Scru64::MAX));
    assert_eq!(made(successor(i64::MIN), NOON, "0/4", &[Bits32(3)]), id(TICK, "0/4", 3));
    let last_moment = Scru64::TICKS.start(LAST);
    assert_eq!(refusal_or_wait(Scru64::MAX, last_moment, "0/4"), Err(NoId::Refused(Refusal::ClockOutOfRange)));
}

#[test]
fn random_ids_draw_24_bits() {
    let id = Scru64::random_of(TICK, &mut Script(&[Bits32(0xabcd_ef01)]));
    assert_eq!(id, Scru64::from_fields(TICK, 0xcd_ef01).unwrap());
}

#[test]
fn nodes_are_specified_in_three_forms() {
    let parts = |text| (node(text).id(), node(text).size(), node(text).previous().to_u64());
    assert_eq!(parts("42/8"), (42, 8, 0));
    assert_eq!(parts("0xb00/12"), (0xb00, 12, 0));
    assert_eq!(parts("0XB00/12"), (0xb00, 12, 0));
    let previous = u64::from_str_radix("0u2r85hm2pt3", 36).unwrap();
    assert_eq!(parts("0u2r85hm2pt3/16"), (11_001, 16, previous));
    assert_eq!(parts("0U2R85HM2PT3/16"), (11_001, 16, previous));
    assert_eq!(parts("0/1"), (0, 1, 0));
    assert_eq!(parts("8388607/23"), (8_388_607, 23, 0));
    assert_eq!(parts("0042/008"), (42, 8, 0));
    assert_eq!(parts("000000000000/23"), (0, 23, 0), "an ID");
    assert_eq!(parts("000000000042/8"), (0, 8, 4 * 36 + 2), "an ID, although it looks like a number");
}

#[test]
fn errors_name_the_malformed_part_of_a_node() {
    let slash = "A node is specified as node_id/node_id_size with one slash, such as \"42/8\".";
    let size = |text| format!("The node_id_size after the slash must be a number from 1 to 23, not \"{text}\".");
    let left = |text| {
        format!(
            "\"{text}\" before the slash is neither a node_id of at most 8 characters, decimal or hexadecimal with \
             \"0x\", nor a SCRU64 ID of 12 digits."
        )
    };
    let fit = |node, size| format!("The node_id {node} does not fit into a node_id_size of {size}.");
    let error = |text: &str| text.parse::<Scru64Node>().expect_err(text).to_string();
    for text in ["", "42", "1/2/3", "42//8", "/42/8", "42/8/", "0u2r85hm2pt3"] {
        assert_eq!(error(text), slash, "{text}");
    }
    let sizes = ["", "0", "24", "800", "+8", "-8", " 8", "8 ", "x", "0x8", "8.0", "0008", "4294967304", "٨", "é"];
    for text in sizes {
        assert_eq!(error(&format!("42/{text}")), size(text));
    }
    let nodes = ["", "+42", "-42", " 42", "42 ", "ab", "0x", "0x+1", "0xg", "x1", "42.0", "000000042", "0x0000001"];
    for text in nodes.into_iter().chain(["0000000000001", "99999999999", "é", "٤٢", "0b1"]) {
        assert_eq!(error(&format!("{text}/8")), left(text));
    }
    assert_eq!(error("2/1"), fit("2", 1));
    assert_eq!(error("256/8"), fit("256", 8));
    assert_eq!(error("0x100/8"), fit("0x100", 8));
    assert_eq!(error("99999999/23"), fit("99999999", 23));
    assert_eq!(error("256/x"), size("x"), "the size first");
    assert_eq!(
        error("0u2r85hm2p-3/16"),
        "\"0u2r85hm2p-3\" before the slash is not a valid SCRU64 ID: invalid digit at position 11."
    );
    assert_eq!(
        error("0u2r85hm2pé/16"),
        "\"0u2r85hm2pé\" before the slash is not a valid SCRU64 ID: invalid digit at position 11."
    );
}

#[test]
fn the_default_node_is_0_of_size_4() {
    assert_eq!(Scru64Settings::default().node, node("0/4"));
}
