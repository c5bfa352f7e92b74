use super::*;

fn shares(conditions: &[Bounds], nulls: f64) -> Vec<f64> {
    let tightest = Tightest::of(conditions, nulls);
    (0..conditions.len()).map(|index| tightest.share(index)).collect()
}

#[track_caller]
fn assert_product(conditions: &[Bounds], nulls: f64, expected: f64) {
    let product: f64 = shares(conditions, nulls).iter().product();
    assert!((product - expected).abs() <= 1e-9 * expected.max(1e-3), "{product} is not {expected}");
}

#[test]
fn a_bound_alone_has_its_own_selectivity() {
    assert_eq!(shares(&[Bounds::one(true, 0.25)], 0.1), [0.25]);
    assert_eq!(shares(&[Bounds::one(false, 0.25)], 0.1), [0.25]);
    assert_eq!(shares(&[Bounds::one(true, UNKNOWN_BOUND)], 0.0), [UNKNOWN_BOUND]);
}

#[test]
fn the_lower_bound_keeps_its_selectivity_and_the_upper_one_gets_the_rest() {
    let pair = [Bounds::one(false, 0.6), Bounds::one(true, 0.5)];
    assert_eq!(shares(&pair, 0.0)[1], 0.5);
    assert_product(&pair, 0.0, 0.1);
    assert_product(&pair, 0.05, 0.15);
    assert_product(&[Bounds { lower: Some(0.5), upper: Some(0.6) }], 0.0, 0.1);
}

#[test]
fn looser_bounds_and_repetitions_have_no_effect() {
    let conditions = [0.9, 0.5, 0.5, 0.7].map(|lower| Bounds::one(true, lower));
    assert_eq!(shares(&conditions, 0.0), [1.0, 0.5, 1.0, 1.0]);
    let mixed = [Bounds { lower: Some(0.5), upper: Some(0.9) }, Bounds::one(false, 0.6), Bounds::one(true, 0.8)];
    assert_eq!(shares(&mixed, 0.0)[0], 0.5);
    assert_eq!(shares(&mixed, 0.0)[2], 1.0);
    assert_product(&mixed, 0.0, 0.1);
}

#[test]
fn an_unknown_bound_makes_the_range_unknown() {
    assert_product(&[Bounds::UNKNOWN], 0.0, UNKNOWN_RANGE);
    assert_product(&[Bounds::one(true, UNKNOWN_BOUND), Bounds::one(false, 0.9)], 0.0, UNKNOWN_RANGE);
    assert_product(&[Bounds::one(true, 0.9), Bounds::one(false, UNKNOWN_BOUND)], 0.0, UNKNOWN_RANGE);
    // The known bound is tighter than the assumption.
    assert_product(&[Bounds::one(true, 0.001), Bounds::one(false, UNKNOWN_BOUND)], 0.0, 0.001);
}

#[test]
fn bounds_that_exclude_each_other_select_almost_nothing() {
    assert_product(&[Bounds::one(true, 0.3), Bounds::one(false, 0.3)], 0.0, EMPTY_RANGE);
    assert_product(&[Bounds::one(true, 0.5), Bounds::one(false, 0.5)], 0.0, EMPTY_RANGE);
}

#[test]
fn a_condition_that_no_row_satisfies_selects_nothing() {
    assert_product(&[Bounds::NONE], 0.0, 0.0);
    assert_product(&[Bounds::one(true, 0.5), Bounds::NONE, Bounds::one(false, 0.6)], 0.0, 0.0);
}

#[test]
fn every_share_is_a_probability() {
    let values = [0.0, 1e-12, 0.2, UNKNOWN_BOUND, 0.7, 1.0].map(Some).into_iter().chain([None]);
    let bounds: Vec<_> =
        values.clone().flat_map(|lower| values.clone().map(move |upper| Bounds { lower, upper })).collect();
    for &first in &bounds {
        for &second in &bounds {
            for share in shares(&[first, second], 0.3) {
                assert!((0.0..=1.0).contains(&share), "{first:?} {second:?}");
            }
        }
    }
}
