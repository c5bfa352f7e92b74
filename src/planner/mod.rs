//! What the planner asks: conditions on time as conditions on IDs, for indexes and partitions, and estimates of rows.
//!
//! Uses [`crate::functions`], for the comparison that a condition stands for, and the folders below it.

pub mod expression;
pub mod near_clock;
pub mod range_support;
pub mod selectivity;
pub mod span;
pub mod tick_statistics;
pub mod time_support;
