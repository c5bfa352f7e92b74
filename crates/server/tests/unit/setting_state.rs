use super::Source::{AllRoles, Client, CommandLine, Database, Default, File, Refused, Role};
use super::*;
use core::iter::zip;

/// A configured value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Configured {
    Valid(u8),
    Malformed,
}
use Configured::{Malformed, Valid};

/// The values that are configured for new sessions, and the connection options of one session, by their sources.
type Configuration = [Option<Configured>; Client as usize + 1];
const NOTHING: Configuration = [None; Client as usize + 1];

/// The sources, in ascending order of rank.
const SOURCES: [Source; 6] = [File, CommandLine, AllRoles, Database, Role, Client];

fn with(mut configuration: Configuration, source: Source, value: Option<Configured>) -> Configuration {
    configuration[source as usize] = value;
    configuration
}

/// Returns the value with the highest rank of these sources.
fn highest(configuration: &Configuration, sources: &[Source]) -> Option<(Source, Configured)> {
    sources.iter().rev().find_map(|&source| Some((source, configuration[source as usize]?)))
}

/// The specification: the value with the highest rank decides. Returns its source if the setting is refused.
fn decision(configuration: &Configuration) -> Result<u8, Source> {
    match highest(configuration, &SOURCES) {
        None => Ok(0),
        Some((source, Valid(value))) if source <= Database => Ok(value),
        Some((source, _)) => Err(source),
    }
}

/// A process of the server: the server's own record of the setting, and the state of the extension.
struct Process {
    /// The configuration that applies to the process.
    configuration: Configuration,
    is_superuser: bool,
    is_worker: bool,
    source: Source,
    value: u8,
    state: SettingState<Configured>,
}

impl Process {
    /// Starts a process of a server that has not preloaded the library.
    fn start(configuration: Configuration, is_superuser: bool) -> Self {
        let (is_worker, state) = (false, SettingState::UNDEFINED);
        Self { configuration, is_superuser, is_worker, source: Default, value: 0, state }
    }

    fn is_loaded(&self) -> bool {
        self.state.assigned.is_some()
    }

    /// The server assigns a value.
    fn assign(&mut self, source: Source, value: u8) {
        (self.source, self.value) = (source, value);
        self.state.assign(Sourced { source, value: Valid(value) }, self.is_worker);
    }

    /// Loads the library. The server has kept the value with the highest rank only.
    fn load(&mut self) {
        if self.is_loaded() {
            return;
        }
        self.assign(Default, 0);
        match highest(&self.configuration, &SOURCES) {
            Some((source, Valid(value))) if source != Client || self.is_superuser => self.assign(source, value),
            Some((source, value)) => self.state.reject(Sourced { source, value }),
            None => {}
        }
        self.pass_to_workers();
    }

    /// Starts a process of a server that has preloaded the library, and assigns the values of the session.
    fn start_preloaded(configuration: Configuration) -> Self {
        let mut process = Self::start(with(NOTHING, File, configuration[File as usize]), true);
        process.load();
        process.configuration = configuration;
        for &source in &SOURCES[1..] {
            if let Some(Valid(value)) = configuration[source as usize] {
                process.assign(source, value);
            }
        }
        process
    }

    /// The extension rejects a malformed value that is stored for all roles before it checks the setting.
    fn reject_stored(&mut self) {
        if let Some((source, value @ Malformed)) = highest(&self.configuration, &[AllRoles, Database]) {
            self.state.reject(Sourced { source, value });
        }
    }

    fn pass_to_workers(&mut self) {
        if let Some(source) = self.state.source_to_pass().filter(|_| !self.is_worker) {
            self.assign(source, self.value);
        }
    }

    /// The server reads the configuration file again.
    fn reload(&mut self, file: Option<Configured>) {
        let before = self.configuration[File as usize];
        match file {
            _ if !self.is_loaded() => {}
            // The process keeps the previous value.
            Some(Malformed) => return,
            // The server does not know of a value that it has rejected.
            None if before == Some(Malformed) => return,
            None if self.source == File => self.assign(Default, 0),
            Some(Valid(value)) if self.source <= File => self.assign(File, value),
            _ => {}
        }
        self.configuration[File as usize] = file;
    }

    /// Returns the value to use, or the source of the value that is refused.
    fn decision(&self) -> Result<u8, Source> {
        match self.state.decide().map_err(|refused| refused.source)?.expect("the setting is defined").value {
            Valid(value) => Ok(value),
            Malformed => panic!("a malformed value is in use"),
        }
    }

    /// Generates an ID, which loads the library. Returns as [`decision`](Self::decision).
    fn draw(&mut self) -> Result<u8, Source> {
        self.load();
        self.pass_to_workers();
        self.decision()
    }

    /// Starts a parallel worker, to which the present configuration of the server applies.
    fn worker(&self, now: Configuration) -> Self {
        let mut worker = Self { is_worker: true, ..Self::start(with(now, Client, None), self.is_superuser) };
        if !self.is_loaded() {
            worker.configuration = self.configuration;
            return worker;
        }
        worker.load();
        if worker.source != Default {
            worker.assign(Default, 0);
        }
        if self.source != Default {
            worker.assign(self.source, self.value);
        }
        worker
    }
}

#[derive(Clone, Copy, Debug)]
enum Event {
    Load,
    Draw,
    /// The value of a source changes. Sessions read the configuration file again, and the others when they start.
    Set(Source, Option<Configured>),
}

const VALUES: [Option<Configured>; 4] = [None, Some(Valid(1)), Some(Valid(2)), Some(Malformed)];

/// Returns every sequence of some items.
fn every<T: Copy>(items: &[T], length: u32) -> impl Iterator<Item = Vec<T>> {
    let of_number =
        move |number| (0..length).map(|place| items[number / items.len().pow(place) % items.len()]).collect();
    (0..items.len().pow(length)).map(of_number)
}

/// Returns every configuration with at most one value of each source.
fn configurations() -> impl Iterator<Item = Configuration> {
    let sources = [File, AllRoles, Database, Role, Client];
    every(&[None, Some(Valid(3)), Some(Malformed)], 5)
        .map(move |values| zip(sources, values).fold(NOTHING, |all, (source, value)| with(all, source, value)))
}

/// Applies the events to a session and to the configuration of the server. After each event, compares the session, and a
/// worker that starts then, with the specification.
fn check(mut session: Process, events: &[Event]) {
    let mut now = session.configuration;
    let mut is_removed = false;
    for event in events {
        match *event {
            Event::Load => session.load(),
            Event::Draw => is_removed = session.draw().is_err() && is_removed,
            Event::Set(source, value) => {
                now[source as usize] = value;
                if source == File {
                    session.reload(value);
                    is_removed |= value.is_none();
                }
            }
        }
        let expected = decision(&session.configuration);
        let worker = session.worker(now).draw();
        let context = || format!("{events:?} {:?}", session.configuration);
        if session.is_loaded() {
            assert_eq!(session.decision(), expected, "{}", context());
        }
        if session.is_loaded() && session.source == Default {
            // The server passes nothing: the value of the file is refused, or has been removed since the last ID.
            assert!(expected == Err(File) || expected == Ok(0) && is_removed, "{}", context());
            assert_eq!(worker, decision(&with(now, Client, None)), "worker after {}", context());
        } else {
            assert_eq!(worker.ok(), expected.ok(), "worker after {}", context());
        }
    }
    let expected = decision(&session.configuration);
    assert_eq!(session.draw(), expected, "{events:?} {:?}", session.configuration);
}

#[test]
fn the_value_with_the_highest_rank_decides_in_every_order_of_events() {
    let set = [File, AllRoles, Database].map(|source| VALUES.map(|value| Event::Set(source, value)));
    let events = [&[Event::Load, Event::Draw][..], set.as_flattened()].concat();
    for configuration in configurations() {
        for is_superuser in [false, true] {
            for events in every(&events, 3) {
                check(Process::start(configuration, is_superuser), &events);
            }
        }
    }
}

#[test]
fn the_value_with_the_highest_rank_decides_if_the_library_is_preloaded() {
    // The server ends a session with malformed connection options, and ignores a malformed value of a role.
    let is_started = |it: &Configuration| [Client, Role].iter().all(|&source| it[source as usize] != Some(Malformed));
    for configuration in configurations().filter(is_started) {
        for files in every(&VALUES, 3) {
            let mut session = Process::start_preloaded(configuration);
            for &file in &files {
                session.reload(file);
                session.reject_stored();
                let expected = decision(&session.configuration);
                assert_eq!(session.draw(), expected, "{files:?} {:?}", session.configuration);
            }
        }
    }
}

#[test]
fn a_malformed_value_of_the_command_line_has_a_higher_rank_than_the_file() {
    let mut session = Process::start(with(NOTHING, CommandLine, Some(Malformed)), false);
    for file in [Some(Valid(1)), None, Some(Valid(2))] {
        assert_eq!(session.draw(), Err(CommandLine));
        session.reload(file);
        assert_eq!(session.worker(session.configuration).draw(), Err(CommandLine));
    }
}

#[test]
fn a_worker_of_a_refused_session_does_not_name_the_value() {
    let configuration = with(NOTHING, Client, Some(Valid(1)));
    let mut session = Process::start(configuration, false);
    session.load();
    assert_eq!(session.state.decide().unwrap_err(), &Sourced { source: Client, value: Valid(1) });
    let worker = session.worker(configuration);
    assert_eq!(worker.state.decide().unwrap_err(), &Sourced { source: Refused, value: Valid(0) });
}
