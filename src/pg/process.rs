//! Processes of the server: values private to one, and the file of this library that one has loaded.

use core::ops::{Deref, Range};
use std::fs;

/// The value of a `static` that each process has for itself. It needs no lock: only one thread of a server process runs SQL. A
/// mutable value is in a [`Cell`](core::cell::Cell), or in a [`RefCell`](core::cell::RefCell) if it is not `Copy`.
pub struct PerProcess<T>(T);

// SAFETY: only the thread that runs SQL accesses the value.
unsafe impl<T> Sync for PerProcess<T> {}

impl<T> PerProcess<T> {
    /// Wraps the initial value.
    pub const fn new(value: T) -> Self {
        Self(value)
    }
}

impl<T> Deref for PerProcess<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

/// Returns whether another process may have loaded a file of this library other than the one of this process. Returns true if
/// that cannot be determined: without Linux's `/proc`, or if the process has ended.
pub fn may_have_another_library(pid: u32) -> bool {
    let address = may_have_another_library as fn(u32) -> bool as usize;
    let is_own = |mapping: &Mapping| mapping.addresses.contains(&address);
    let own = mappings("self").and_then(|mappings| mappings.into_iter().find(is_own));
    let (Some(own), Some(mappings)) = (own, mappings(&pid.to_string())) else { return true };
    mappings.iter().any(|mapping| mapping.name == own.name && mapping.file != own.file)
}

/// A mapping of a file into the memory of a process.
struct Mapping {
    addresses: Range<usize>,
    /// The device and the inode.
    file: (String, String),
    name: String,
}

/// Returns the mappings of the files of a process; `None` if they cannot be read.
fn mappings(process: &str) -> Option<Vec<Mapping>> {
    let content = fs::read(format!("/proc/{process}/maps")).ok()?;
    Some(String::from_utf8_lossy(&content).lines().filter_map(mapping).collect())
}

/// Parses a line such as `7f1c2000-7f1c3000 r-xp 00001000 fe:01 1234   /usr/lib/postgresql/15/lib/scru.so (deleted)`.
fn mapping(line: &str) -> Option<Mapping> {
    let (addresses, rest) = line.split_once(' ')?;
    let (start, end) = addresses.split_once('-')?;
    let hex = |text| usize::from_str_radix(text, 16).ok();
    let mut words = rest.split_whitespace().skip(2);
    let file = (words.next()?.to_owned(), words.next()?.to_owned());
    let name = rest.rsplit_once('/')?.1.trim_end_matches(" (deleted)").to_owned();
    Some(Mapping { addresses: hex(start)?..hex(end)?, file, name })
}
