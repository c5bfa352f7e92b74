//! The layouts that libraries of several versions have in common: those of shared memory, and that of the page of the marks.
//!
//! They are asserted at compile time. `make release` freezes the lines of `layouts!`, with which a test compares those of
//! later versions. A change of a layout requires a new name of the memory, or a new version of the page.

use core::mem::offset_of;

use crate::shared::id_type::Shared;
use crate::shared::mark_page::{self, PageEntry, PageHeader};
use crate::shared::memory::{self, Entry, Header, Slot};

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

layouts! {
    "mark v2" if matches!(memory::MARK.as_bytes(), b"mark v2"), Shared 72:
        reserved 0 flush_time 8 announced 16 announced_of_databases 24 failed 32 pending_reserved 40 pending_position 48 run 56
        warned 64;
    "horizon v1, header" if matches!(memory::HORIZON.to_bytes(), b"scru horizon v1"), Header 64:
        floor 0 durable 8 since 16 prepared 24 ended 32;
    "horizon v1, slot" if matches!(memory::HORIZON.to_bytes(), b"scru horizon v1"), Slot 64: owner 0 bound 8;
    "horizon v1, entry" if matches!(memory::HORIZON.to_bytes(), b"scru horizon v1"), Entry 24: state 0 bound 8 database 16;
    "page v1, header" if mark_page::VERSION == 1, PageHeader 16: magic 0 version 4 count 6 checksum 8 zeros 12;
    "page v1, entry" if mark_page::VERSION == 1, PageEntry 32: name 0 node 12 tick 16 run 24;
}
