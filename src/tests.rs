//! Tests that need the server's own process: pgrx-tests calls them in a server, by the suite `in_the_server`.
//!
//! A released library does not contain it, because it is built without the feature `pg_test`. `unwrap` is allowed here: a panic
//! fails the test.

// The test framework requires a schema `tests`, and `pg_schema` requires an inline module.
#[allow(clippy::module_inception)]
#[pgrx::pg_schema]
mod tests {
    use core::ffi::c_int;
    use core::ptr;
    use std::io::{Read, Write};

    use pgrx::pg_sys;
    use pgrx::prelude::*;
    use rand::Rng;
    use scru_ids::{Scru64Settings, Scru160Settings, UlidflakeSettings};

    use crate::call::error::Error;
    use crate::pg::{allocator, clock};
    use crate::settings::FromSettings;
    use crate::shared::random::Random;

    #[pg_test]
    fn an_allocation_that_the_system_refuses_is_served() {
        let mut before = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        // SAFETY: reads and writes a limit of this process.
        let limit = |limit: &libc::rlimit| unsafe { libc::setrlimit(libc::RLIMIT_AS, limit) };
        // SAFETY: as above.
        assert_eq!(unsafe { libc::getrlimit(libc::RLIMIT_AS, &mut before) }, 0);
        for _ in 0..2 {
            let mut blocks = Vec::with_capacity(100_000);
            limit(&libc::rlimit { rlim_cur: 1, ..before });
            while !allocator::has_run_out() {
                blocks.push(vec![7_u8; 10_000]);
            }
            let mut last = vec![8_u8; 10_000];
            last.resize(20_000, 9);
            limit(&before);
            assert!(allocator::has_run_out());
            assert!(blocks.iter().flatten().all(|&byte| byte == 7));
            assert!(last[..10_000].iter().all(|&byte| byte == 8) && last[10_000..].iter().all(|&byte| byte == 9));
        }
    }

    #[pg_test]
    fn the_defaults_of_the_settings_are_those_of_the_crate() {
        assert_eq!(Scru64Settings::from_settings().unwrap(), Scru64Settings::default());
        assert_eq!(Scru160Settings::from_settings().unwrap(), Scru160Settings::default());
        assert_eq!(UlidflakeSettings::from_settings().unwrap(), UlidflakeSettings::default());
    }

    fn drawn(now: i64) -> Result<u64, Error> {
        Random::get(now).map(|mut rng| rng.next_u64())
    }

    /// A number that a copy of this process draws.
    fn drawn_by_fork(now: i64, has_pid: bool) -> u64 {
        let (mut reader, mut writer) = std::io::pipe().unwrap();
        // SAFETY: the child only generates a number and writes it to the pipe, and exits without the server's clean-up.
        let child = unsafe { libc::fork() };
        if child == 0 {
            if has_pid {
                // SAFETY: the server sets this variable in each process that it forks.
                unsafe { pg_sys::MyProcPid = std::process::id() as c_int };
            }
            let sent = drawn(now).is_ok_and(|drawn| writer.write_all(&drawn.to_ne_bytes()).is_ok());
            // SAFETY: ends the child process.
            unsafe { libc::_exit(c_int::from(!sent)) };
        }
        let mut bytes = [0; 8];
        reader.read_exact(&mut bytes).unwrap();
        // SAFETY: waits for the child.
        assert_eq!(unsafe { libc::waitpid(child, ptr::null_mut(), 0) }, child);
        u64::from_ne_bytes(bytes)
    }

    #[pg_test]
    fn a_forked_process_draws_random_numbers_of_its_own() {
        let now = clock::now();
        drawn(now).unwrap();
        assert_ne!(drawn_by_fork(now, true), drawn(now).unwrap());
    }

    /// Two forks with the number of their parent stand for two clones of a virtual machine. At once, they draw the same.
    #[pg_test]
    fn clones_of_the_memory_draw_different_random_numbers() {
        let start = clock::now() >> 16 << 16;
        let end = start + (1 << 16);
        let clones = |image: i64, now: i64| {
            drawn(image).unwrap();
            drawn_by_fork(now, false) == drawn_by_fork(now, false)
        };
        assert!(clones(start, end - 1));
        assert!(clones(end - 1, start));
        assert!(!clones(end - 1, end));
        assert!(!clones(start, start - 1));
    }
}
