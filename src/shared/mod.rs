//! What the processes of a server share: the memory and the word of each type, the marks with their page and sequences; and
//! what each process keeps of them, and its random source.

pub mod id_type;
mod layouts;
pub mod mark_page;
pub mod mark_sequence;
pub mod marks;
pub mod memory;
pub mod random;
pub mod state;
