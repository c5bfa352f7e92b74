//! Estimates of several conditions on one ID, for a planner that multiplies the selectivities of ANDed conditions.
//!
//! A lower and an upper bound are not independent: the selectivity of both is much smaller than the product of the two. The
//! selectivity of the tightest pair is therefore computed jointly, and each condition gets a share. The product of all shares is
//! the joint selectivity.

/// The selectivity of a bound whose value is unknown, as PostgreSQL assumes it for an inequality.
pub const UNKNOWN_BOUND: f64 = 0.333_333_333_333_333_3;

/// The selectivity of a range of which at least one bound is unknown, as PostgreSQL assumes it.
pub const UNKNOWN_RANGE: f64 = 0.005;

/// The joint selectivity of two known bounds between which there seem to be no rows, as PostgreSQL assumes it.
const EMPTY_RANGE: f64 = 1e-10;

/// The selectivity of each bound that a condition sets on an ID; `None` for a bound that it does not set. NULLs satisfy neither.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Bounds {
    /// The selectivity of the lower bound.
    pub lower: Option<f64>,
    /// The selectivity of the upper bound.
    pub upper: Option<f64>,
}

impl Bounds {
    /// The bounds of a condition that no row satisfies.
    pub const NONE: Self = Self { lower: Some(0.0), upper: Some(0.0) };
    /// Two bounds of unknown value.
    pub const UNKNOWN: Self = Self { lower: Some(UNKNOWN_BOUND), upper: Some(UNKNOWN_BOUND) };

    /// One bound.
    pub const fn one(is_lower: bool, selectivity: f64) -> Self {
        match is_lower {
            true => Self { lower: Some(selectivity), upper: None },
            false => Self { lower: None, upper: Some(selectivity) },
        }
    }
}

/// The tightest lower and the tightest upper bound of several conditions on one ID: the index of the condition, and the share of its
/// bound in the joint selectivity. The share of the lower bound is its selectivity.
#[derive(Clone, Copy, Debug)]
pub struct Tightest([Option<(usize, f64)>; 2]);

impl Tightest {
    /// The tightest bounds of the conditions; of equal ones, the first. `nulls` is the fraction of rows without an ID.
    pub fn of<'a>(conditions: impl IntoIterator<Item = &'a Bounds, IntoIter: Clone>, nulls: f64) -> Self {
        let conditions = conditions.into_iter().enumerate();
        let [lower, upper] = [|bounds: &Bounds| bounds.lower, |bounds: &Bounds| bounds.upper].map(|side| {
            let sides = conditions.clone().filter_map(|(index, bounds)| Some((index, side(bounds)?)));
            sides.min_by(|(_, one), (_, other)| one.total_cmp(other))
        });
        let share = |upper| lower.map_or(upper, |(_, lower)| share_of_upper(lower, upper, nulls));
        Self([lower, upper.map(|(index, upper)| (index, share(upper)))])
    }

    /// One condition with this selectivity, whose index this is. The others have no effect.
    pub const fn one(index: usize, selectivity: f64) -> Self {
        Self([Some((index, selectivity)), None])
    }

    /// The share of the condition with this index: that of each bound that is the condition's. It is 1 for a condition with looser
    /// bounds.
    pub fn share(&self, index: usize) -> f64 {
        let own = self.0.iter().flatten().filter(|(tightest, _)| *tightest == index);
        own.map(|(_, share)| share).product()
    }
}

/// The joint selectivity of two bounds, divided by that of the lower bound.
fn share_of_upper(lower: f64, upper: f64, nulls: f64) -> f64 {
    let joint = if lower == UNKNOWN_BOUND || upper == UNKNOWN_BOUND {
        UNKNOWN_RANGE
    } else {
        (lower + upper - 1.0 + nulls).max(EMPTY_RANGE)
    };
    if lower > 0.0 { (joint / lower).min(1.0) } else { 1.0 }
}

#[cfg(test)]
#[path = "../tests/unit/selectivity.rs"]
mod tests;
