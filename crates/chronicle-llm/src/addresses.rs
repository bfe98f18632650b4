//! Addresses of services, by their names.
//!
//! On Linux the binary brings its own C library (`build.rs` of `git-chronicle`). How names are looked up is up to
//! modules of the system's library (mDNS, systemd, LDAP), which fit no other version of it; the system's `getent` knows
//! them all.

use std::{
    io,
    net::{IpAddr, SocketAddr, ToSocketAddrs},
    process::{Command, Stdio},
};

use reqwest::dns::{Addrs, Name, Resolve, Resolving};

/// Asks `getent` for addresses, or the C library where there is no such program.
#[derive(Debug)]
pub(crate) struct Addresses;

impl Resolve for Addresses {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            let found = tokio::task::spawn_blocking(move || addresses(name.as_str())).await??;
            Ok(Box::new(found.into_iter()) as Addrs)
        })
    }
}

fn addresses(name: &str) -> io::Result<Vec<SocketAddr>> {
    #[expect(
        clippy::disallowed_methods,
        reason = "the one program that knows how this system looks up names"
    )]
    let mut command = Command::new("getent");
    let ran = command.args(["ahosts", "--", name]).stdin(Stdio::null()).stderr(Stdio::null()).output();
    match ran {
        Ok(output) => {
            let found = listed(&output.stdout);
            let unknown =
                || io::Error::new(io::ErrorKind::NotFound, format!("no address of `{name}` is known"));
            if found.is_empty() { Err(unknown()) } else { Ok(found) }
        }
        Err(_) => Ok((name, 0).to_socket_addrs()?.collect()),
    }
}

/// The addresses that begin the lines of `output`, each once.
fn listed(output: &[u8]) -> Vec<SocketAddr> {
    let mut found: Vec<SocketAddr> = Vec::new();
    for line in String::from_utf8_lossy(output).lines() {
        let address = line.split_ascii_whitespace().next().and_then(|word| word.parse::<IpAddr>().ok());
        let address = address.map(|address| SocketAddr::new(address, 0));
        found.extend(address.filter(|address| !found.contains(address)));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_address_is_told_once() {
        let output =
            b"::1             STREAM localhost\n::1             DGRAM  \n127.0.0.1       STREAM \nnoise\n";
        let addresses = listed(output).into_iter().map(|address| address.ip().to_string());
        assert_eq!(addresses.collect::<Vec<_>>(), ["::1", "127.0.0.1"]);
    }

    #[test]
    fn this_machine_is_known_and_no_option_is_taken_for_a_name() {
        assert!(addresses("localhost").unwrap().iter().all(|address| address.ip().is_loopback()));
        assert!(addresses("--help").is_err());
    }
}
