//! The code of a node, by which a server's marks name it.

/// The code of a node: a 1, followed by the bits that all IDs of the node share. Two nodes overlap if the code of one is a prefix
/// of the other's code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeCode(u32);

impl NodeCode {
    /// The code of the node that includes all IDs of a type.
    pub const ALL: Self = Self(1);

    /// Returns the code of the node with the node ID `id` of `size` bits, at most 23.
    pub const fn new(id: u32, size: u32) -> Self {
        Self(1 << size | id)
    }

    /// Returns the code as a number, which is never 0.
    pub const fn to_u32(self) -> u32 {
        self.0
    }

    /// Returns the node with this code; `None` for 0.
    pub const fn from_u32(code: u32) -> Option<Self> {
        if code == 0 { None } else { Some(Self(code)) }
    }

    /// Returns whether two nodes have IDs in common: one code is a prefix of the other.
    pub const fn overlaps(self, other: Self) -> bool {
        self.join(other).0 == if self.0 < other.0 { self.0 } else { other.0 }
    }

    /// Returns the smallest node that includes both nodes: their longest common prefix.
    pub const fn join(self, other: Self) -> Self {
        let (mut short, long) = if self.0 < other.0 { (self.0, other.0) } else { (other.0, self.0) };
        let long = long >> (short.leading_zeros() - long.leading_zeros());
        short >>= u32::BITS - (short ^ long).leading_zeros();
        Self(short)
    }
}

#[cfg(test)]
#[path = "../tests/unit/node.rs"]
mod tests;
