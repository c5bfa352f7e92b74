//! The layouts that libraries of several versions have in common: those of shared memory, and that of the page of the marks.
//!
//! They are asserted at compile time. `make release` freezes the lines of `layouts!` and `words!`, with which a test compares those
//! of later versions. A change of a layout requires a new name of the memory, or a new version of the page.

use core::mem::offset_of;

use portable_atomic::{AtomicU64, AtomicU128};
use scru_ids::{GeneratedId, Scru64, Scru128, Scru160, Ulid, Ulidflake, Uuidv7};

use crate::shared::mark_page::{self, Content};
use crate::shared::memory::{self, Header, Published, Slot};
use crate::shared::state::{MarkMemory, MarksMemory, TypeMemory};

/// The layout of a type with a word of 64 bits, and of one with 128.
type Of64 = TypeMemory<AtomicU64>;
type Of128 = TypeMemory<AtomicU128>;

/// Asserts that a condition on the name holds, the size of a struct, and the offsets of all of its fields, in bytes.
macro_rules! layouts {
    ($($name:literal if $condition:expr, $type:ident $size:literal: $($field:ident $offset:literal)*;)*) => {
        $(const _: () = {
            assert!($condition, $name);
            assert!(size_of::<$type>() == $size, $name);
            let _: fn($type) = |$type { $($field: _),* }| ();
            $(assert!(offset_of!($type, $field) == $offset, $name);)*
        };)*
    };
}

/// Asserts that a condition on the name holds, and what the state of a generator holds.
macro_rules! words {
    ($($name:literal if $condition:expr, $type:ident $layout:literal;)*) => {
        $(const _: () = {
            assert!($condition, $name);
            assert!(matches!(<$type as GeneratedId>::STATE_LAYOUT.as_bytes(), $layout), $name);
        };)*
    };
}

layouts! {
    "marks v1" if matches!(memory::MARKS.to_bytes(), b"scru marks v1"), MarksMemory 192: era 0 flush_time 8 failed 16 marks 64;
    "marks v1, mark" if matches!(memory::MARKS.to_bytes(), b"scru marks v1"), MarkMemory 64:
        start 0 reserved 8 pending_until 16 pending_position 24;
    "generator v2, 64" if matches!(memory::TYPE.as_bytes(), b"generator v2"), Of64 64:
        word 0 announced 16 announced_of_databases 24 warned 32;
    "generator v2, 128" if matches!(memory::TYPE.as_bytes(), b"generator v2"), Of128 64:
        word 0 announced 16 announced_of_databases 24 warned 32;
    "horizon v2, header" if matches!(memory::HORIZON.to_bytes(), b"scru horizon v2"), Header 64: since 0 prepared 8 ended 16;
    "horizon v2, slot" if matches!(memory::HORIZON.to_bytes(), b"scru horizon v2"), Slot 64: published 0;
    "horizon v2, published" if matches!(memory::HORIZON.to_bytes(), b"scru horizon v2"), Published 24: owner 0 bound 8 database 16;
    "page v2 in global/8672" if mark_page::is_read(2, 8672), Content 32: magic 0 version 4 times 8 checksum 24 zeros 28;
}

words! {
    "generator v2, scru128" if matches!(memory::TYPE.as_bytes(), b"generator v2"), Scru128
        b"id with the age of counter_hi as entropy";
    "generator v2, scru160" if matches!(memory::TYPE.as_bytes(), b"generator v2"), Scru160 b"leading 64 bits of the id";
    "generator v2, scru64" if matches!(memory::TYPE.as_bytes(), b"generator v2"), Scru64 b"id";
    "generator v2, ulid" if matches!(memory::TYPE.as_bytes(), b"generator v2"), Ulid b"id";
    "generator v2, ulidflake" if matches!(memory::TYPE.as_bytes(), b"generator v2"), Ulidflake b"id";
    "generator v2, uuidv7" if matches!(memory::TYPE.as_bytes(), b"generator v2"), Uuidv7 b"id with 0 as entropy";
}
