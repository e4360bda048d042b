//! The names under which this machine is reached, and the requests that come under no such name. A page from elsewhere can have a browser
//! send requests here: it stands in their Origin, and in their Host where its name leads to this machine (DNS rebinding).

use std::net::{IpAddr, Ipv6Addr};

use axum::http::header::{HOST, ORIGIN};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderValue, Uri};
use url::{Host, ParseError, Url};

/// The names, each as URLs spell it.
pub(super) struct Names(Vec<Host>);

/// Why a request does not come under a name of this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Foreign {
    #[error("the header Host has to be there, and once")]
    NotOneHost,
    #[error("the header Host is no name of this machine")]
    Host,
    #[error("the header Origin is that of a page from elsewhere")]
    Page,
}

impl Names {
    /// The names of the loopback, the address that is listened at, and these.
    ///
    /// # Errors
    ///
    /// The first of them that is no name.
    pub fn new(address: IpAddr, others: Vec<String>) -> Result<Self, (String, ParseError)> {
        let mut names = vec![
            Host::Domain("localhost".to_owned()),
            Host::Ipv4([127, 0, 0, 1].into()),
            Host::Ipv6(Ipv6Addr::LOCALHOST),
        ];
        if !address.is_unspecified() {
            names.push(match address {
                IpAddr::V4(address) => Host::Ipv4(address),
                IpAddr::V6(address) => Host::Ipv6(address),
            });
        }
        for name in others {
            // URLs have brackets around it, people may not.
            let parsed = match name.parse() {
                Ok(address) => Ok(Host::Ipv6(address)),
                Err(_) => Host::parse(&name),
            };
            names.push(parsed.map_err(|why| (name, why))?);
        }
        Ok(Self(names))
    }

    /// Refuses a request that is for another machine, or that a page from elsewhere sends.
    pub fn admit(&self, target: &Uri, headers: &HeaderMap) -> Result<(), Foreign> {
        let mut hosts = headers.get_all(HOST).iter();
        let (Some(host), None) = (hosts.next(), hosts.next()) else { return Err(Foreign::NotOneHost) };
        // A target may name a machine, too, and counts before the header then.
        let asked = target.authority().map(Authority::as_str);
        if !host.to_str().is_ok_and(|host| self.has("http", host))
            || !asked.is_none_or(|asked| self.has("http", asked))
        {
            return Err(Foreign::Host);
        }
        let is_own = |origin: &HeaderValue| origin.to_str().is_ok_and(|origin| self.has_origin(origin));
        if headers.get_all(ORIGIN).iter().all(is_own) { Ok(()) } else { Err(Foreign::Page) }
    }

    fn has_origin(&self, origin: &str) -> bool {
        let Some((scheme, authority)) = origin.split_once("://") else { return false };
        ["http", "https"].iter().any(|known| known.eq_ignore_ascii_case(scheme))
            && self.has(scheme, authority)
    }

    /// Whether this is the host of a URL, with or without a port, and one of the names. It counts as browsers read it, and only where it
    /// is spelled as they spell it, so that nobody can take it for another.
    fn has(&self, scheme: &str, authority: &str) -> bool {
        let Ok(url) = Url::parse(&format!("{scheme}://{authority}")) else { return false };
        let (Some(host), Some(port)) = (url.host(), url.port_or_known_default()) else { return false };
        let spelled = [host.to_string(), format!("{host}:{port}")];
        spelled.iter().any(|spelled| spelled.eq_ignore_ascii_case(authority))
            && self.0.iter().any(|name| *name == host)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names of a server that listens at an address of its own, and has two names more.
    fn names() -> Names {
        let others = ["Build.Example", "bücher.example", "fd00::7"].map(str::to_owned);
        Names::new([192, 168, 1, 5].into(), others.into()).unwrap()
    }

    fn admitted(target: &str, hosts: &[&str], origins: &[&str]) -> Result<(), Foreign> {
        let mut headers = HeaderMap::new();
        for (name, values) in [(HOST, hosts), (ORIGIN, origins)] {
            for value in values {
                headers.append(&name, HeaderValue::from_bytes(value.as_bytes()).unwrap());
            }
        }
        names().admit(&target.parse().unwrap(), &headers)
    }

    #[test]
    fn hosts() {
        for host in [
            "localhost",
            "localhost:8437",
            "localhost:80",
            "localhost:443",
            "localhost:65535",
            "LOCALHOST",
            "LocalHost:8437",
            "127.0.0.1",
            "127.0.0.1:8437",
            "[::1]",
            "[::1]:8437",
            "192.168.1.5:8437",
            "build.example",
            "BUILD.EXAMPLE:443",
            "xn--bcher-kva.example",
            "[fd00::7]:8437",
            "[FD00::7]",
        ] {
            assert_eq!(admitted("/mcp", &[host], &[]), Ok(()), "{host}");
        }
        for host in [
            "",
            " ",
            ":8437",
            "evil.example",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "127.0.0.1.evil.example:8437",
            "127.0.0.1.nip.io",
            "127-0-0-1.sslip.io",
            "localtest.me",
            "evil.localhost",
            "notlocalhost",
            "localhost-evil.example",
            "a.build.example",
            "build.example.evil.example",
            "[::1].evil.example",
            "[::1]evil.example",
            "[::1]:8437.evil.example",
            "[::1]@evil.example",
            "[::1]:",
            "[::1]:080",
            "evil.example[::1]",
            "[::1",
            "::1]",
            "::1",
            "[[::1]]",
            "[localhost]",
            "[127.0.0.1]",
            "[::1%25lo]",
            "[::1%lo]",
            "[::]",
            "[::2]",
            "[0:0:0:0:0:0:0:1]",
            "[::0001]",
            "[::ffff:127.0.0.1]",
            "[::ffff:7f00:1]",
            "[::127.0.0.1]",
            "0.0.0.0",
            "127.0.0.2",
            "127.1",
            "0177.0.0.1",
            "0x7f.0.0.1",
            "2130706433",
            "0x7f000001",
            "017700000001",
            "127.0.0.01",
            "192.168.1.50",
            "localhost.",
            "localhost..",
            "127.0.0.1.",
            "build.example.",
            "localhost:",
            "localhost:0x50",
            "localhost:+80",
            "localhost:080",
            "localhost:65536",
            "localhost:-1",
            "localhost:80:80",
            "localhost:evil.example",
            "localhost@evil.example",
            "localhost:80@evil.example",
            "evil.example@localhost",
            "@localhost",
            ":@localhost",
            "%6cocalhost",
            "localhos%74:80",
            "localhost%00.evil.example",
            "localhost%2eevil.example",
            "localhost/",
            "localhost/mcp",
            "localhost?a",
            "localhost#a",
            "localhost\\",
            "localhost\\.evil.example",
            "localhost;evil.example",
            "evil.example/localhost",
            "evil.example#localhost",
            "local host",
            "local\thost",
            " localhost",
            "localhost ",
            "localhost,evil.example",
            "localhost, localhost",
            "http://localhost",
            "//localhost",
            "null",
            "*",
            "ｌocalhost",
            "local\u{ad}host",
            "localho\u{17f}t",
            "bücher.example",
            "127。0。0。1",
            "１２７.0.0.1",
        ] {
            assert_eq!(admitted("/mcp", &[host], &[]), Err(Foreign::Host), "{host}");
        }
        assert_eq!(admitted("/mcp", &[], &[]), Err(Foreign::NotOneHost));
        for more in ["localhost", "evil.example"] {
            assert_eq!(admitted("/mcp", &["localhost", more], &[]), Err(Foreign::NotOneHost), "{more}");
        }
    }

    #[test]
    fn origins() {
        for origin in [
            "http://localhost",
            "http://localhost:3000",
            "http://localhost:80",
            "http://localhost:443",
            "https://localhost",
            "https://localhost:443",
            "https://localhost:8443",
            "HTTP://LOCALHOST:3000",
            "http://127.0.0.1",
            "http://127.0.0.1:8437",
            "https://127.0.0.1",
            "http://[::1]",
            "http://[::1]:8437",
            "https://[::1]:443",
            "http://192.168.1.5:8437",
            "https://build.example",
            "https://xn--bcher-kva.example:8443",
            "http://[fd00::7]",
        ] {
            assert_eq!(admitted("/mcp", &["localhost"], &[origin]), Ok(()), "{origin}");
        }
        for origin in [
            "",
            " ",
            "null",
            "NULL",
            "*",
            "http",
            "http:",
            "http://",
            "https://evil.example",
            "http://localhost.evil.example",
            "http://127.0.0.1.evil.example",
            "http://127.0.0.1.nip.io",
            "http://notlocalhost",
            "http://a.build.example",
            "http://build.example.evil.example",
            "http://evil.localhost",
            "http://[::1].evil.example",
            "https://[::1].evil.example:443",
            "http://[::1]evil.example",
            "http://[::1]:8437.evil.example",
            "http://[::1]@evil.example",
            "http://[::1",
            "http://::1",
            "http://[localhost]",
            "http://[::1%25lo]",
            "http://[0:0:0:0:0:0:0:1]",
            "http://[::ffff:127.0.0.1]",
            "http://[::ffff:7f00:1]",
            "http://[::]",
            "http://0.0.0.0",
            "http://127.0.0.2",
            "http://127.1",
            "http://2130706433",
            "http://0x7f000001",
            "http://0177.0.0.1",
            "http://127.0.0.01",
            "http://localhost.",
            "http://127.0.0.1.",
            "http://localhost:",
            "http://localhost:*",
            "http://localhost:65536",
            "http://localhost:080",
            "http://localhost:-1",
            "http://localhost:80:80",
            "http://localhost@evil.example",
            "http://localhost:80@evil.example",
            "http://evil.example@localhost",
            "http://@localhost",
            "http://localhost%40evil.example",
            "http://%6cocalhost",
            "http://localhost%2eevil.example",
            "http://localhost/",
            "http://localhost/a",
            "http://localhost?a",
            "http://localhost#a",
            "http://localhost\\.evil.example",
            "http://evil.example/http://localhost",
            "http://evil.example#http://localhost",
            "http:///localhost",
            "http:/localhost",
            "http:localhost",
            "http:\\\\localhost",
            "//localhost",
            "localhost",
            "localhost:8437",
            " http://localhost",
            "http://localhost ",
            "http:// localhost",
            "ht\ttp://localhost",
            "http://local\thost",
            "http://localhost http://evil.example",
            "http://localhost, http://localhost",
            "http://localho\u{17f}t",
            "http://ｌocalhost",
            "http://local\u{ad}host",
            "http://127。0。0。1",
            "https://bücher.example",
            "ftp://localhost",
            "ws://localhost:8437",
            "wss://localhost",
            "file://",
            "file://localhost",
            "file:///",
            "app://localhost",
            "tauri://localhost",
            "capacitor://localhost",
            "chrome-extension://localhost",
            "moz-extension://9b1c2f",
            "vscode-webview://localhost",
            "vscode-webview://1a2b3c",
            "vscode-file://vscode-app",
            "blob:http://localhost",
            "data:text/html,x",
            "about:blank",
            "javascript://localhost",
            "view-source:http://localhost",
        ] {
            assert_eq!(admitted("/mcp", &["localhost"], &[origin]), Err(Foreign::Page), "{origin}");
        }
        let both = |other| admitted("/mcp", &["localhost"], &["http://localhost", other]);
        assert_eq!(both("http://127.0.0.1:3000"), Ok(()));
        assert_eq!(both("http://evil.example"), Err(Foreign::Page));
    }

    #[test]
    fn targets_that_name_a_machine() {
        for (target, verdict) in [
            ("http://localhost:8437/mcp", Ok(())),
            ("http://[::1]/mcp", Ok(())),
            ("http://evil.example/mcp", Err(Foreign::Host)),
            ("http://[::1].evil.example/mcp", Err(Foreign::Host)),
            ("http://localhost@evil.example/mcp", Err(Foreign::Host)),
        ] {
            assert_eq!(admitted(target, &["localhost"], &[]), verdict, "{target}");
        }
        assert_eq!(admitted("http://localhost/mcp", &["evil.example"], &[]), Err(Foreign::Host));
    }

    #[test]
    fn names_that_are_none() {
        for name in ["", "build.example:8443", "http://build.example", "a b", "[::1].evil.example", "a/b"] {
            let given = Names::new([0, 0, 0, 0].into(), vec!["build.example".to_owned(), name.to_owned()]);
            assert_eq!(given.err().map(|(name, _)| name).as_deref(), Some(name));
        }
        let unspecified = Names::new([0, 0, 0, 0].into(), Vec::new()).unwrap();
        assert!(unspecified.has("http", "localhost") && !unspecified.has("http", "0.0.0.0"));
    }
}
