//! Which addresses are fetched from. An address that a stranger names may lead into the network of whoever fetches it, so names are
//! looked up here, and the connection goes to the very addresses that were looked at.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};

use futures::future::BoxFuture;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use url::Host;

/// An address that is not public.
#[derive(Debug, thiserror::Error)]
#[error("it leads to {address}, which is no public address")]
pub struct NotPublic {
    /// Where it leads.
    pub address: IpAddr,
}

/// What names mean.
pub trait Names: Debug + Send + Sync {
    /// The addresses of a name.
    fn addresses(&self, name: String) -> BoxFuture<'static, io::Result<Vec<SocketAddr>>>;
}

/// As this machine has it.
#[derive(Debug)]
pub struct SystemNames;

impl Names for SystemNames {
    fn addresses(&self, name: String) -> BoxFuture<'static, io::Result<Vec<SocketAddr>>> {
        Box::pin(async move { Ok(tokio::net::lookup_host((name, 0)).await?.collect()) })
    }
}

/// Looks up names, and knows no address but public ones unless told.
#[derive(Clone, Debug)]
pub struct Lookup {
    names: Arc<dyn Names>,
    allow_private: bool,
    /// Names that may lead to any address: those of proxies, which the person's own environment names.
    trusted: Arc<Mutex<BTreeSet<String>>>,
}

impl Lookup {
    /// With private addresses or without.
    pub fn new(names: Arc<dyn Names>, allow_private: bool) -> Self {
        Self { names, allow_private, trusted: Arc::default() }
    }

    /// The same for connections to proxies, which are often private: what it comes to trust is trusted by it alone.
    pub fn of_proxies(&self) -> Self {
        Self::new(self.names.clone(), self.allow_private)
    }

    /// Lets connections to a name through, wherever it leads.
    pub fn trust(&self, name: &str) {
        self.trusted.lock().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned());
    }

    fn trusts(&self, name: &str) -> bool {
        self.trusted.lock().unwrap_or_else(PoisonError::into_inner).contains(name)
    }

    /// Whether an address may be fetched from.
    pub fn check(&self, address: IpAddr) -> Result<(), NotPublic> {
        if self.allow_private || is_public(address) { Ok(()) } else { Err(NotPublic { address }) }
    }

    /// The addresses of a name. One that is not public refuses all: whoever mixes them has something in mind.
    pub async fn addresses(
        &self,
        name: &str,
    ) -> Result<Vec<SocketAddr>, Box<dyn std::error::Error + Send + Sync>> {
        let found = self.names.addresses(name.to_owned()).await?;
        for address in &found {
            self.check(address.ip())?;
        }
        Ok(found)
    }
}

impl Resolve for Lookup {
    fn resolve(&self, name: Name) -> Resolving {
        let mut lookup = self.clone();
        lookup.allow_private |= self.trusts(name.as_str());
        Box::pin(async move {
            let found = lookup.addresses(name.as_str()).await?;
            Ok(Box::new(found.into_iter()) as Addrs)
        })
    }
}

/// Whether an address is one of this machine itself by its very form.
pub fn is_here(host: &Host<&str>) -> bool {
    match host {
        Host::Domain(name) => *name == "localhost",
        Host::Ipv4(address) => address.is_loopback(),
        Host::Ipv6(address) => address.to_canonical().is_loopback(),
    }
}

/// Whether everybody reaches the same machine at this address.
fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    !(a == 0
        || address.is_loopback()
        || address.is_private()
        || address.is_link_local()
        || address.is_documentation()
        // Between a provider and its customers.
        || (a == 100 && (64..128).contains(&b))
        // Of protocols, and the former relays between the two kinds of addresses.
        || (a, b, c) == (192, 0, 0)
        || (a, b, c) == (192, 88, 99)
        // Of benchmarks.
        || (a == 198 && (18..20).contains(&b))
        // To many at once, and what nobody has been given.
        || a >= 224)
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let parts = address.segments();
    // Behind a translator there is an IPv4 address.
    if parts[..6] == [0x64, 0xff9b, 0, 0, 0, 0] {
        let [.., a, b, c, d] = address.octets();
        return is_public_v4(Ipv4Addr::new(a, b, c, d));
    }
    // What is given out to networks lies in one eighth of all addresses; the rest of them, that of mapped IPv4 addresses among them,
    // means something only here.
    let given_out = parts[0] & 0xe000 == 0x2000;
    let protocols = parts[0] == 0x2001 && parts[1] < 0x0200;
    let documentation = (parts[0], parts[1]) == (0x2001, 0x0db8) || (parts[0] == 0x3fff && parts[1] < 0x1000);
    let former_relay = parts[0] == 0x2002;
    given_out && !protocols && !documentation && !former_relay
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_public_addresses_are_fetched_from() {
        for (address, public) in [
            ("8.8.8.8", true),
            ("140.82.121.4", true),
            ("0.0.0.0", false),
            ("0.1.2.3", false),
            ("10.1.2.3", false),
            ("100.64.0.1", false),
            ("100.127.255.255", false),
            ("100.128.0.1", true),
            ("127.0.0.1", false),
            ("127.255.255.254", false),
            ("169.254.169.254", false),
            ("172.15.0.1", true),
            ("172.16.0.1", false),
            ("172.31.255.255", false),
            ("192.0.0.8", false),
            ("192.0.2.1", false),
            ("192.88.99.1", false),
            ("192.168.1.1", false),
            ("198.18.0.1", false),
            ("198.19.255.255", false),
            ("198.20.0.1", true),
            ("203.0.113.5", false),
            ("224.0.0.1", false),
            ("255.255.255.255", false),
            ("2606:4700::6810:85e5", true),
            ("2a00:1450:4001:830::200e", true),
            ("::", false),
            ("::1", false),
            ("::7f00:1", false),
            ("::ffff:127.0.0.1", false),
            ("::ffff:8.8.8.8", false),
            ("64:ff9b::a9fe:a9fe", false),
            ("64:ff9b::808:808", true),
            ("64:ff9b:1::808:808", false),
            ("100::1", false),
            ("2001::1", false),
            ("2001:db8::1", false),
            ("2002:7f00:1::", false),
            ("3fff::1", false),
            ("fc00::1", false),
            ("fd00:ec2::254", false),
            ("fe80::1", false),
            ("fec0::1", false),
            ("ff02::1", false),
        ] {
            assert_eq!(is_public(address.parse().unwrap()), public, "{address}");
        }
    }

    /// In every form, those among them that no machine without IPv6 connects to.
    #[test]
    fn this_machine_is_known_by_the_form_of_its_address() {
        for (host, here) in [
            ("localhost", true),
            ("127.0.0.1", true),
            ("127.1", true),
            ("[::1]", true),
            ("[::ffff:127.0.0.1]", true),
            ("localhost.example", false),
            ("10.0.0.1", false),
            ("[::ffff:10.0.0.1]", false),
            ("[::2]", false),
        ] {
            let url = url::Url::parse(&format!("http://{host}/")).unwrap();
            assert_eq!(is_here(&url.host().unwrap()), here, "{host}");
        }
    }
}
