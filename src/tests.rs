//! A test that needs the server's own process: it runs under `cargo pgrx test`.
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

    use crate::shared::random::Random;

    #[pg_test]
    fn a_forked_process_draws_random_numbers_of_its_own() {
        // Seeds the source before the fork.
        Random::get().unwrap().next_u64();
        let (mut reader, mut writer) = std::io::pipe().unwrap();
        // SAFETY: the child only generates a number and writes it to the pipe, and exits without the server's clean-up.
        let child = unsafe { libc::fork() };
        if child == 0 {
            // SAFETY: the server sets this variable in each process that it forks.
            unsafe { pg_sys::MyProcPid = std::process::id() as c_int };
            let sent = Random::get().is_ok_and(|mut rng| writer.write_all(&rng.next_u64().to_ne_bytes()).is_ok());
            // SAFETY: ends the child process.
            unsafe { libc::_exit(c_int::from(!sent)) };
        }
        let mut bytes = [0; 8];
        reader.read_exact(&mut bytes).unwrap();
        // SAFETY: waits for the child.
        assert_eq!(unsafe { libc::waitpid(child, ptr::null_mut(), 0) }, child);
        let own = Random::get().unwrap().next_u64();
        assert_ne!(u64::from_ne_bytes(bytes), own);
    }
}
