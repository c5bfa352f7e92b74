//! `scru.node_hosts`: the hosts to which the node of this server belongs. A copy of a server has its settings and its data, but
//! usually another host name, or another port on the same host.

use crate::settings::nodes::shown;

/// The value of the setting, and the name of this host and the port of the server, such as `db1:5432`; `None` if the setting names
/// this server.
pub fn mismatch() -> Option<(String, String)> {
    let hosts = shown(c"scru.node_hosts");
    if hosts.trim() == "*" {
        return None;
    }
    let (host, port) = (host_name(), shown(c"port"));
    let names_this = hosts.split(',').map(str::trim).any(|entry| match entry.rsplit_once(':') {
        Some((name, of_port)) => of_port == port && is_like(&host, name),
        None => is_like(&host, entry),
    });
    (!names_this).then(|| (hosts, format!("{host}:{port}")))
}

/// Whether a name is that of an entry, in which `*` stands for any characters. Case-insensitive, as host names are.
fn is_like(name: &str, entry: &str) -> bool {
    let (name, entry) = (name.to_ascii_lowercase(), entry.to_ascii_lowercase());
    let mut parts = entry.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = name.strip_prefix(first) else { return false };
    let Some(last) = parts.next_back() else { return rest.is_empty() };
    for part in parts {
        let Some((_, after)) = rest.split_once(part) else { return false };
        rest = after;
    }
    rest.ends_with(last)
}

fn host_name() -> String {
    let mut name = [0_u8; 256];
    // SAFETY: writes at most that many bytes. The last byte stays zero.
    let result = unsafe { libc::gethostname(name.as_mut_ptr().cast(), name.len() - 1) };
    let name = name.split(|&byte| byte == 0).next().unwrap_or_default();
    if result == 0 { String::from_utf8_lossy(name).into_owned() } else { String::new() }
}
