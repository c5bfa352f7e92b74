//! The file of this library that a process has loaded. An installation replaces the file, but not what processes have loaded.

use std::fs;

/// A file that a process has mapped: its device and inode.
type File = (String, String);

/// Returns whether another process may have loaded a file of this library other than the one of this process. Returns true if
/// that cannot be determined: without Linux's `/proc`, or if the process has ended.
pub fn may_differ(pid: u32) -> bool {
    let (Some((name, own)), Some(mapped)) = (own(), mappings(&pid.to_string())) else { return true };
    mapped.iter().any(|line| line.name == name && line.file != own)
}

/// Returns the name and the file of this library.
fn own() -> Option<(String, File)> {
    let address = own as fn() -> _ as usize;
    let line = mappings("self")?.into_iter().find(|line| line.start <= address && address < line.end)?;
    Some((line.name, line.file))
}

/// A mapping of a file into the memory of a process.
struct Mapping {
    start: usize,
    end: usize,
    file: File,
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
    Some(Mapping { start: hex(start)?, end: hex(end)?, file, name })
}
