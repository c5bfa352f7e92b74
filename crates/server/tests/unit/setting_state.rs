use super::Source::{AllRoles, Client, CommandLine, Database, Default, File, Refused, Role};
use super::*;

/// A configured value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Configured {
    Valid(u8),
    Malformed,
}
use Configured::{Malformed, Valid};

/// The values that are configured for new sessions, and the connection options of one session.
#[derive(Clone, Copy, Debug, std::default::Default)]
struct Configuration {
    file: Option<Configured>,
    command_line: Option<Configured>,
    all_roles: Option<Configured>,
    database: Option<Configured>,
    role: Option<Configured>,
    client: Option<Configured>,
}

impl Configuration {
    /// Returns the values with their sources, in ascending order of rank.
    fn values(self) -> impl Iterator<Item = (Source, Configured)> {
        let all = [
            (File, self.file),
            (CommandLine, self.command_line),
            (AllRoles, self.all_roles),
            (Database, self.database),
            (Role, self.role),
            (Client, self.client),
        ];
        all.into_iter().filter_map(|(source, value)| Some((source, value?)))
    }

    /// The specification: the value with the highest rank decides. Returns its source if the setting is refused.
    fn decision(self) -> Result<u8, Source> {
        match self.values().last() {
            None => Ok(0),
            Some((source, Valid(value))) if source.is_admitted() => Ok(value),
            Some((source, _)) => Err(source),
        }
    }
}

/// A process of the server: the server's own record of the setting, and the state of the extension.
struct Process {
    /// The configuration that applies to the process.
    configuration: Configuration,
    is_loaded: bool,
    is_superuser: bool,
    is_worker: bool,
    source: Source,
    value: u8,
    state: SettingState<Configured>,
}

impl Process {
    /// Starts a process of a server that has not preloaded the library.
    fn start(configuration: Configuration, is_superuser: bool) -> Self {
        let state = SettingState::UNDEFINED;
        let (is_loaded, is_worker) = (false, false);
        Self { configuration, is_loaded, is_superuser, is_worker, source: Default, value: 0, state }
    }

    /// The server assigns a value.
    fn assign(&mut self, source: Source, value: u8) {
        (self.source, self.value) = (source, value);
        self.state.assign(Sourced { source, value: Valid(value) }, self.is_worker);
    }

    /// Loads the library. The server has kept the value with the highest rank only.
    fn load(&mut self) {
        if self.is_loaded {
            return;
        }
        self.is_loaded = true;
        self.assign(Default, 0);
        match self.configuration.values().last() {
            Some((source, Valid(value))) if source != Client || self.is_superuser => self.assign(source, value),
            Some((source, value)) => self.state.reject(Sourced { source, value }),
            None => {}
        }
        self.pass_to_workers();
    }

    /// Starts a process of a server that has preloaded the library, and assigns the values of the session.
    fn start_preloaded(configuration: Configuration) -> Self {
        let of_server = Configuration { file: configuration.file, ..std::default::Default::default() };
        let mut process = Self::start(of_server, true);
        process.load();
        process.configuration = configuration;
        for (source, value) in configuration.values().filter(|(source, _)| *source > File) {
            if let Valid(value) = value {
                process.assign(source, value);
            }
        }
        process
    }

    /// The extension rejects a malformed value that is stored for all roles before it checks the setting.
    fn reject_stored(&mut self) {
        let stored = self.configuration.values().filter(|(source, _)| [AllRoles, Database].contains(source)).last();
        if let Some((source, value @ Malformed)) = stored {
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
        if !self.is_loaded {
            self.configuration.file = file;
            return;
        }
        match file {
            // The process keeps the previous value.
            Some(Malformed) => return,
            // The server does not know of a value that it has rejected.
            None if self.configuration.file == Some(Malformed) => return,
            None if self.source == File => self.assign(Default, 0),
            Some(Valid(value)) if self.source <= File => self.assign(File, value),
            _ => {}
        }
        self.configuration.file = file;
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
        let of_server = Configuration { client: None, ..now };
        let mut worker = Self { is_worker: true, ..Self::start(of_server, self.is_superuser) };
        if !self.is_loaded {
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
    Reload(Option<Configured>),
    StoreForAll(Option<Configured>),
    StoreForDatabase(Option<Configured>),
}

const VALUES: [Option<Configured>; 4] = [None, Some(Valid(1)), Some(Valid(2)), Some(Malformed)];

fn events() -> Vec<Event> {
    let of_values = VALUES
        .into_iter()
        .flat_map(|value| [Event::Reload(value), Event::StoreForAll(value), Event::StoreForDatabase(value)]);
    [Event::Load, Event::Draw].into_iter().chain(of_values).collect()
}

/// Returns every sequence of a length.
fn sequences(length: u32) -> impl Iterator<Item = Vec<Event>> {
    let events = events();
    (0..events.len().pow(length)).map(move |number| {
        (0..length).map(|position| events[number / events.len().pow(position) % events.len()]).collect()
    })
}

/// Returns every configuration with at most one value of each source.
fn configurations() -> impl Iterator<Item = Configuration> {
    let few = [None, Some(Valid(3)), Some(Malformed)];
    (0..3_usize.pow(5)).map(move |number| {
        let value = |position| few[number / 3_usize.pow(position) % 3];
        let [file, all_roles, database, role, client] = [0, 1, 2, 3, 4].map(value);
        Configuration { file, all_roles, database, role, client, command_line: None }
    })
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
            Event::Reload(file) => {
                now.file = file;
                session.reload(file);
                is_removed |= file.is_none();
            }
            Event::StoreForAll(value) => now.all_roles = value,
            Event::StoreForDatabase(value) => now.database = value,
        }
        let decision = session.configuration.decision();
        let worker = session.worker(now).draw();
        let context = || format!("{events:?} {:?}", session.configuration);
        if session.is_loaded {
            assert_eq!(session.decision(), decision, "{}", context());
        }
        if session.is_loaded && session.source == Default {
            // The server passes nothing: the value of the file is refused, or has been removed since the last ID.
            assert!(decision == Err(File) || decision == Ok(0) && is_removed, "{}", context());
            assert_eq!(worker, Configuration { client: None, ..now }.decision(), "worker after {}", context());
        } else {
            assert_eq!(worker.ok(), decision.ok(), "worker after {}", context());
        }
    }
    let decision = session.configuration.decision();
    assert_eq!(session.draw(), decision, "{events:?} {:?}", session.configuration);
}

#[test]
fn the_value_with_the_highest_rank_decides_in_every_order_of_events() {
    for configuration in configurations() {
        for is_superuser in [false, true] {
            for events in sequences(3) {
                check(Process::start(configuration, is_superuser), &events);
            }
        }
    }
}

#[test]
fn the_value_with_the_highest_rank_decides_if_the_library_is_preloaded() {
    // The server ends a session with malformed connection options, and ignores a malformed value of a role.
    let is_started = |it: &Configuration| it.client != Some(Malformed) && it.role != Some(Malformed);
    for configuration in configurations().filter(is_started) {
        for files in (0..VALUES.len().pow(3)).map(|number| [0, 1, 2].map(|it| VALUES[number >> (2 * it) & 3])) {
            let mut session = Process::start_preloaded(configuration);
            for file in files {
                session.reload(file);
                session.reject_stored();
                let decision = session.configuration.decision();
                assert_eq!(session.draw(), decision, "{files:?} {:?}", session.configuration);
            }
        }
    }
}

#[test]
fn a_malformed_value_of_the_command_line_has_a_higher_rank_than_the_file() {
    let configuration = Configuration { command_line: Some(Malformed), ..std::default::Default::default() };
    let mut session = Process::start(configuration, false);
    for file in [Some(Valid(1)), None, Some(Valid(2))] {
        assert_eq!(session.draw(), Err(CommandLine));
        session.reload(file);
        assert_eq!(session.worker(session.configuration).draw(), Err(CommandLine));
    }
}

#[test]
fn a_worker_of_a_refused_session_does_not_name_the_value() {
    let configuration = Configuration { client: Some(Valid(1)), ..std::default::Default::default() };
    let mut session = Process::start(configuration, false);
    session.load();
    assert_eq!(session.state.decide().unwrap_err(), &Sourced { source: Client, value: Valid(1) });
    let worker = session.worker(configuration);
    assert_eq!(worker.state.decide().unwrap_err(), &Sourced { source: Refused, value: Valid(0) });
}
