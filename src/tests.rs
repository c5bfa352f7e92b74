//! Tests that run inside the server and check what SQL cannot observe: Datums, the server's sort against Rust's, the state of a
//! process, and raised errors.
//!
//! A released library does not contain them, because it is built without the feature `pg_test`. `unwrap` is allowed here: a panic
//! fails the test.

// The test framework requires a schema `tests`, and `pg_schema` requires an inline module.
#[allow(clippy::module_inception)]
#[pgrx::pg_schema]
mod tests {
    use core::ffi::{CStr, c_int};
    use core::ptr;
    use std::ffi::CString;
    use std::io::{Read, Write};
    use std::panic::AssertUnwindSafe;

    use pgrx::datum::DatumWithOid;
    use pgrx::pg_sys::panic::CaughtError;
    use pgrx::pg_sys::{self, Datum, Oid};
    use pgrx::prelude::*;
    use pgrx::{AnyElement, PgSqlErrorCode as SqlState};
    use rand::rngs::StdRng;
    use rand::seq::SliceRandom;
    use rand::{Rng, RngExt, SeedableRng};
    use scru_ids::{Context, ParseErrorKind, State, Step, Stored, registry};

    use crate::generate::id_type::Type;
    use crate::generate::random::Random;
    use crate::pg::datum::StoredDatum;

    /// A test that runs for every type.
    trait Test {
        fn run<T: Type>();
    }

    fn for_each_type<Each: Test>() {
        macro_rules! run {
            ($name:ident, $id:ident) => {
                Each::run::<scru_ids::$id>();
            };
        }
        registry!(run);
    }

    #[pg_test]
    fn a_million_ids_of_each_type_round_trip_as_text_and_as_datum() {
        struct RoundTrip;
        impl Test for RoundTrip {
            fn run<T: Type>() {
                let mut rng = StdRng::seed_from_u64(1);
                let read =
                    format!("SELECT array_agg(t::{} ORDER BY n) FROM unnest($1) WITH ORDINALITY AS q (t, n)", T::NAME);
                let write = "SELECT array_agg(id::text ORDER BY n) FROM unnest($1) WITH ORDINALITY AS q (id, n)";
                for _ in 0..10 {
                    let ids: Vec<T> = (0..100_000).map(|_| random_id(&mut rng)).collect();
                    let texts: Vec<_> = ids.iter().map(T::to_string).collect();
                    assert!(select_ids::<T>(&read, texts.clone().into()) == ids);
                    let written = Spi::get_one_with_args::<Vec<String>>(write, &[array(&ids)]);
                    assert!(written.unwrap().unwrap() == texts);
                }
            }
        }
        for_each_type::<RoundTrip>();
    }

    #[pg_test]
    fn the_server_sorts_as_rust_does() {
        struct Sort;
        impl Test for Sort {
            fn run<T: Type>() {
                // Shuffled IDs of a generator, and random IDs of all ticks, each of the latter twice.
                let mut rng = StdRng::seed_from_u64(2);
                let mut ids = made_ids::<T>(50_000, &mut rng);
                ids.shuffle(&mut rng);
                ids.extend((0..50_000).map(|_| random_id::<T>(&mut rng)));
                ids.extend_from_within(50_000..);
                ids.extend([T::MAX, T::MIN]);
                let ascending = select_ids::<T>("SELECT array_agg(id ORDER BY id) FROM unnest($1) AS id", array(&ids));
                let descending =
                    select_ids::<T>("SELECT array_agg(id ORDER BY id DESC) FROM unnest($1) AS id", array(&ids));
                ids.sort_unstable();
                assert!(ascending == ids);
                ids.reverse();
                assert!(descending == ids);
            }
        }
        for_each_type::<Sort>();
    }

    #[pg_test]
    fn any_text_is_an_id_or_raises_the_expected_sqlstate() {
        struct Input;
        impl Test for Input {
            fn run<T: Type>() {
                let mut rng = StdRng::seed_from_u64(3);
                let mut failed = 0;
                for _ in 0..20_000 {
                    let text = random_text::<T>(&mut rng);
                    let expected = T::parse(text.to_bytes()).map_err(|error| match error.kind {
                        ParseErrorKind::OutOfRange => SqlState::ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE,
                        _ => SqlState::ERRCODE_INVALID_TEXT_REPRESENTATION,
                    });
                    assert_eq!(caught(|| input::<T>(&text)), expected, "{text:?}");
                    failed += usize::from(expected.is_err());
                }
                assert!((5_000..15_000).contains(&failed), "{failed} of {} failed", T::NAME);
            }
        }
        for_each_type::<Input>();
    }

    #[pg_test]
    fn any_bytes_are_an_id_or_raise_the_expected_sqlstate() {
        struct Receive;
        impl Test for Receive {
            fn run<T: Type>() {
                let mut rng = StdRng::seed_from_u64(4);
                for round in 0..20_000 {
                    let mut bytes = vec![0; if round % 2 == 0 { T::Stored::LEN } else { rng.random_range(0..64) }];
                    rng.fill_bytes(&mut bytes);
                    let expected = match T::Stored::from_bytes(&bytes) {
                        None => Err(SqlState::ERRCODE_INVALID_BINARY_REPRESENTATION),
                        Some(stored) => T::from_stored(stored).ok_or(SqlState::ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
                    };
                    assert_eq!(caught(|| receive::<T>(&bytes)), expected, "{bytes:?}");
                }
            }
        }
        for_each_type::<Receive>();
    }

    #[pg_test]
    fn a_generator_of_this_process_remembers_its_last_id() {
        struct Remember;
        impl Test for Remember {
            fn run<T: Type>() {
                if T::SERVER_WIDE {
                    return;
                }
                let word = || T::process().generator.get().map(State::pack);
                let ids = select_ids::<T>(
                    &format!("SELECT array_agg(gen_{}()) FROM generate_series(1, $1)", T::NAME),
                    1_000.into(),
                );
                assert!(ids.is_sorted_by(|a, b| a < b));
                let after_these = word();
                assert!(after_these.is_some());
                let next = select_ids::<T>(
                    &format!("SELECT array_agg(gen_{}()) FROM generate_series(1, $1)", T::NAME),
                    1.into(),
                );
                assert!(word() != after_these);
                assert!(next[0] > ids[999]);
            }
        }
        for_each_type::<Remember>();
    }

    #[pg_test]
    fn a_forked_process_draws_random_numbers_of_its_own() {
        // Seeds the source before the fork.
        Random::get().unwrap().next_u64();
        let (mut reader, mut writer) = std::io::pipe().unwrap();
        // SAFETY: the child only generates a number and writes it to the pipe, and exits without the server's clean-up.
        let child = unsafe { fork() };
        if child == 0 {
            // SAFETY: the server sets this variable in each process that it forks.
            unsafe { pg_sys::MyProcPid = std::process::id() as c_int };
            let sent = Random::get().is_ok_and(|mut rng| writer.write_all(&rng.next_u64().to_ne_bytes()).is_ok());
            // SAFETY: ends the child process.
            unsafe { _exit(c_int::from(!sent)) };
        }
        let mut bytes = [0; 8];
        reader.read_exact(&mut bytes).unwrap();
        // SAFETY: waits for the child.
        assert_eq!(unsafe { waitpid(child, ptr::null_mut(), 0) }, child);
        let own = Random::get().unwrap().next_u64();
        assert_ne!(u64::from_ne_bytes(bytes), own);
    }

    unsafe extern "C" {
        fn fork() -> c_int;
        fn waitpid(child: c_int, status: *mut c_int, options: c_int) -> c_int;
        fn _exit(status: c_int) -> !;
    }

    fn random_id<T: Type>(rng: &mut StdRng) -> T {
        T::random_of(rng.random_range(0..=T::TICKS.max), rng)
    }

    /// Returns consecutive IDs of a generator that starts at a fixed time.
    fn made_ids<T: Type>(count: usize, rng: &mut StdRng) -> Vec<T> {
        let now = T::TICKS.start(T::TICKS.max / 50);
        let mut context = Context { now, on_clock_rollback: Default::default(), settings: Default::default() };
        let mut state = T::State::default();
        let mut ids = Vec::new();
        while ids.len() < count {
            match T::step(state, &context, rng) {
                Step::Made(next, id) => {
                    state = next;
                    ids.push(id);
                }
                Step::Wait(until) => context.now = until,
                Step::Refused(_) => context.now += T::TICKS.micros,
            }
        }
        ids
    }

    /// Returns the text of an ID: unchanged, with a character changed or added, truncated, or with `ZZ` as its first digits.
    fn random_text<T: Type>(rng: &mut StdRng) -> CString {
        let mut text = random_id::<T>(rng).to_string().into_bytes();
        let place = rng.random_range(0..text.len());
        match rng.random_range(0..8) {
            0 => text[place] = rng.random_range(1..128),
            1 => text.insert(place, b'0'),
            2 => text.truncate(place),
            3 => text[..2].fill(b'Z'),
            _ => (),
        }
        CString::new(text).unwrap()
    }

    /// Returns the result of `T_in` for a text.
    fn input<T: Type>(text: &CStr) -> T {
        let (mut function, mut parameter) = (Oid::INVALID, Oid::INVALID);
        // SAFETY: calls the function as the server does.
        unsafe {
            pg_sys::getTypeInputInfo(oid::<T>(), &mut function, &mut parameter);
            id(pg_sys::OidInputFunctionCall(function, text.as_ptr().cast_mut(), parameter, -1))
        }
    }

    /// Returns the result of `T_recv` for bytes.
    fn receive<T: Type>(bytes: &[u8]) -> T {
        let (mut function, mut parameter) = (Oid::INVALID, Oid::INVALID);
        // SAFETY: calls the function as the server does.
        unsafe {
            pg_sys::getTypeBinaryInputInfo(oid::<T>(), &mut function, &mut parameter);
            let message = pg_sys::makeStringInfo();
            pg_sys::appendBinaryStringInfo(message, bytes.as_ptr().cast(), bytes.len() as c_int);
            id(pg_sys::OidReceiveFunctionCall(function, message, parameter, -1))
        }
    }

    /// Returns the result, or the SQLSTATE of the error that was raised. Rethrows a panic.
    fn caught<T>(run: impl FnOnce() -> T) -> Result<T, SqlState> {
        PgTryBuilder::new(AssertUnwindSafe(|| Ok(run())))
            .catch_others(|error| match error {
                CaughtError::PostgresError(report) | CaughtError::ErrorReport(report) => Err(report.sql_error_code()),
                panic => panic.rethrow(),
            })
            .execute()
    }

    fn id<T: Type>(datum: Datum) -> T {
        // SAFETY: the callers pass a Datum of this type.
        let stored = unsafe { <T::Stored as StoredDatum>::from_datum(datum) };
        T::from_stored(stored).expect("an ID")
    }

    fn oid<T: Type>() -> Oid {
        let name = CString::new(T::NAME).unwrap();
        // SAFETY: looks up a type in the search path.
        unsafe { pg_sys::TypenameGetTypid(name.as_ptr()) }
    }

    /// Returns the layout of the elements of an array: their length, whether they are passed by value, and their alignment.
    fn layout<T: Type>() -> (i16, bool, i8) {
        let (mut length, mut by_value, mut align) = (0, false, 0);
        // SAFETY: looks the type up.
        unsafe { pg_sys::get_typlenbyvalalign(oid::<T>(), &mut length, &mut by_value, &mut align) };
        assert_eq!((length as usize, by_value), (T::Stored::LEN, T::Stored::BY_VALUE));
        (length, by_value, align)
    }

    /// Returns IDs as a parameter of type `T[]`.
    fn array<T: Type>(ids: &[T]) -> DatumWithOid<'static> {
        let mut datums: Vec<_> = ids.iter().map(|id| id.to_datum()).collect();
        let (length, by_value, align) = layout::<T>();
        // SAFETY: the Datums are of the element type of the array.
        unsafe {
            let array = pg_sys::construct_array(
                datums.as_mut_ptr(),
                ids.len() as c_int,
                oid::<T>(),
                c_int::from(length),
                by_value,
                align,
            );
            DatumWithOid::new(Datum::from(array), pg_sys::get_array_type(oid::<T>()))
        }
    }

    /// Returns the IDs of the `T[]` that a query with one parameter returns.
    fn select_ids<T: Type>(query: &str, parameter: DatumWithOid<'_>) -> Vec<T> {
        let (length, by_value, align) = layout::<T>();
        Spi::connect(|client| {
            let row = client.select(query, Some(1), &[parameter]).unwrap().first();
            let array = row.get_one::<AnyElement>().unwrap().unwrap();
            let (mut datums, mut nulls, mut count) = (ptr::null_mut(), ptr::null_mut(), 0);
            // SAFETY: the array is of this type and lives as long as the row.
            unsafe {
                let array = pg_sys::pg_detoast_datum(array.datum().cast_mut_ptr()).cast();
                pg_sys::deconstruct_array(
                    array,
                    oid::<T>(),
                    c_int::from(length),
                    by_value,
                    align,
                    &mut datums,
                    &mut nulls,
                    &mut count,
                );
                core::slice::from_raw_parts(datums, count as usize).iter().map(|&datum| id(datum)).collect()
            }
        })
    }
}
