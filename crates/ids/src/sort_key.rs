//! 64-bit keys that sort as the IDs do: for sorting many IDs without looking at each again and again.
//!
//! The plain prefix of an ID makes a poor key: IDs that one generator made within a millisecond share their first 48 bits
//! and more, so that in a bulk-loaded table all of a millisecond would tie. These keys count instead from the first ID that
//! was seen of each millisecond, which tells such IDs apart.

use crate::{SortableId, Stored};

/// Bits of a near key that hold the place within the millisecond; the others hold the millisecond.
const PLACE_BITS: u32 = 20;
/// How far, either way, places are exact around the first ID seen of a millisecond.
const EXACT: i128 = 1 << (PLACE_BITS - 2);
/// Keys of this millisecond (in the year 2248) and later ones are far keys: this bit and the ID's leading 63 bits. They
/// tell random bytes apart, which no generator made.
const FAR: u64 = 1 << 63;
const FIRST_FAR_MILLIS: u64 = 1 << (63 - PLACE_BITS);
/// Slots for first IDs: so few at first, and at most so many, which is a quarter of a MiB.
const FEWEST_SLOTS: usize = 1 << 6;
const MOST_SLOTS: usize = 1 << 14;
/// With so many different keys among a hundred thousand, keys are worth their making.
const ENOUGH: usize = 50;

/// Makes the keys of one sort. Keys of different `SortKeys` don't compare.
#[derive(Debug)]
pub struct SortKeys {
    origins: Origins,
    /// The different keys, until there are enough.
    seen: Option<LinearCounter>,
}

impl Default for SortKeys {
    fn default() -> Self {
        Self { origins: Origins::default(), seen: Some(LinearCounter::default()) }
    }
}

impl SortKeys {
    /// The key of an ID: where keys differ, they differ as the IDs do.
    ///
    /// For types that begin with a 48-bit timestamp.
    #[inline]
    pub fn key<T: SortableId>(&mut self, bytes: &<T::Stored as Stored>::Bytes) -> u64 {
        let head = head(bytes.as_ref());
        let millis = (head >> 80) as u64;
        let key = if millis < FIRST_FAR_MILLIS {
            let sequence = (head & ((1 << 80) - 1)) >> (80 - T::SEQUENCE_BITS);
            millis << PLACE_BITS | self.place(millis, sequence, T::SEQUENCE_BITS)
        } else {
            FAR | (head >> 65) as u64
        };
        if let Some(seen) = &mut self.seen {
            seen.insert(key);
        }
        key
    }

    /// Whether there are so few keys among this number of IDs that they aren't worth their making.
    pub fn are_useless_for(&mut self, ids: usize) -> bool {
        let different = self.seen.as_ref().map_or(ENOUGH, LinearCounter::len);
        if different >= ENOUGH {
            self.seen = None;
        }
        ids >= 10_000 && different < ids.min(100_000) * ENOUGH / 100_000
    }

    /// The place of a sequence number within its millisecond, in [`PLACE_BITS`] bits: the middle half of the range is
    /// exact around the origin, the outer quarters are the leading bits of what lies before and after.
    fn place(&mut self, millis: u64, sequence: u128, bits: u32) -> u64 {
        let coarse = |bits_left: u32| (sequence >> bits.saturating_sub(bits_left)) as u64;
        if bits <= PLACE_BITS {
            return coarse(PLACE_BITS);
        }
        let outer = coarse(PLACE_BITS - 2);
        match self.origins.of(millis, sequence) {
            // Without an origin all keys of the millisecond are coarse.
            None => outer,
            Some(origin) => {
                let distance = sequence as i128 - origin as i128;
                if distance < -EXACT {
                    outer
                } else if distance < EXACT {
                    (2 * EXACT + distance) as u64
                } else {
                    3 * EXACT as u64 + outer
                }
            }
        }
    }
}

/// The first 16 bytes as a number, as if zeros followed the last one.
#[inline]
fn head(bytes: &[u8]) -> u128 {
    u128::from_be_bytes(bytes.first_chunk().copied().unwrap_or_else(|| {
        let mut head = [0; 16];
        head[..bytes.len()].copy_from_slice(bytes);
        head
    }))
}

/// The sequence numbers of the first IDs seen, by millisecond, which has one slot that may be its: milliseconds that follow each
/// other, as those of a bulk load do, have one each. There are few slots at first, for most sorts are of few milliseconds, and
/// more where two want the same.
///
/// What was once said of a millisecond, an origin or none, holds to the end, for the keys already made rely on it: nothing
/// is forgotten, and none is said only once there are as many slots as there will ever be.
#[derive(Debug)]
struct Origins {
    /// A power of two.
    slots: Vec<Origin>,
}

/// A millisecond of 43 bits and a sequence number of 80, in a slot that is all zero if it is empty.
#[derive(Clone, Copy, Debug, Default)]
struct Origin {
    /// From the top: a bit that is set, the millisecond, and the upper 16 bits of the sequence number.
    head: u64,
    tail: u64,
}

impl Origin {
    #[inline]
    fn new(millis: u64, sequence: u128) -> Self {
        Self { head: 1 << 63 | millis << 16 | (sequence >> 64) as u64, tail: sequence as u64 }
    }

    #[inline]
    fn is_empty(self) -> bool {
        self.head == 0
    }

    #[inline]
    fn is_of(self, millis: u64) -> bool {
        self.head >> 16 == 1 << 47 | millis
    }

    #[inline]
    fn millis(self) -> u64 {
        self.head << 1 >> 17
    }

    #[inline]
    fn sequence(self) -> u128 {
        u128::from(self.head & 0xffff) << 64 | u128::from(self.tail)
    }
}

impl Default for Origins {
    fn default() -> Self {
        Self { slots: vec![Origin::default(); FEWEST_SLOTS] }
    }
}

impl Origins {
    /// The origin of a millisecond, which is this sequence number if it is the first.
    #[inline]
    fn of(&mut self, millis: u64, sequence: u128) -> Option<u128> {
        let slot = self.slot(millis);
        if slot.is_of(millis) { Some(slot.sequence()) } else { self.add(millis, sequence) }
    }

    #[inline]
    fn slot(&mut self, millis: u64) -> &mut Origin {
        let mask = self.slots.len() - 1;
        &mut self.slots[millis as usize & mask]
    }

    fn add(&mut self, millis: u64, sequence: u128) -> Option<u128> {
        while !self.slot(millis).is_empty() {
            if self.slots.len() == MOST_SLOTS {
                return None;
            }
            self.grow();
        }
        *self.slot(millis) = Origin::new(millis, sequence);
        Some(sequence)
    }

    #[cold]
    fn grow(&mut self) {
        let larger = vec![Origin::default(); 4 * self.slots.len()];
        for origin in core::mem::replace(&mut self.slots, larger) {
            // Those that had a slot each have one each.
            if !origin.is_empty() {
                *self.slot(origin.millis()) = origin;
            }
        }
    }
}

/// Counts different keys, up to a few hundred, in next to no time and space: by the bits that their hashes set.
#[derive(Debug, Default)]
struct LinearCounter([u64; 8]);

impl LinearCounter {
    fn insert(&mut self, key: u64) {
        let hash = key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 55;
        self.0[(hash >> 6) as usize] |= 1 << (hash & 63);
    }

    fn len(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }
}
