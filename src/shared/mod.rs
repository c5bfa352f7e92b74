//! What the processes of a server share: the memory and the word of each type, the page and the sequences of the marks.

pub mod id_type;
mod layouts;
pub mod mark_page;
pub mod mark_sequence;
pub mod memory;
pub mod random;
pub mod waits;
