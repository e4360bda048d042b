//! How other processes of the user find the sidecar: its socket and its announcement.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use hashline_link::{Announcement, Listener, Sidecar, SidecarId, StateDir};

use crate::lock::lock;
use crate::other_sidecars::Neighbours;

/// How this sidecar can be found.
#[derive(Default)]
pub(crate) struct Presence {
    /// Where agents' routers reach it; none if they cannot.
    pub socket: Option<PathBuf>,
    /// The other sidecars; none if this one cannot be reached by them.
    pub neighbours: Option<Arc<Neighbours>>,
    /// What there is to announce, before it is announced.
    waiting: Mutex<Option<(StateDir, Sidecar)>>,
    announced: Mutex<Option<Announcement>>,
}

impl Presence {
    /// Opens the socket of a new sidecar. What it is for is [announced](Self::announce) before the editor
    /// can open documents.
    ///
    /// # Errors
    ///
    /// The socket cannot be opened.
    pub fn open(state: StateDir) -> Result<(Self, Listener), hashline_link::Error> {
        let id = SidecarId::random();
        let listener = Listener::bind(&state, &id)?;
        let neighbours = Some(Arc::new(Neighbours::new(state.clone(), id.clone())));
        let sidecar = Sidecar::new(id, &listener, "", Vec::new());
        let socket = Some(listener.address().to_owned());
        let presence = Self {
            socket,
            neighbours,
            waiting: Mutex::new(Some((state, sidecar))),
            announced: Mutex::default(),
        };
        Ok((presence, listener))
    }

    /// Tells other processes of this sidecar, as it is to be described.
    ///
    /// # Errors
    ///
    /// Agents will not find it.
    pub fn announce(&self, describe: impl FnOnce(&mut Sidecar)) -> Result<(), hashline_link::Error> {
        let Some((state, mut sidecar)) = lock(&self.waiting).take() else { return Ok(()) };
        describe(&mut sidecar);
        *lock(&self.announced) = Some(hashline_link::announce(&state, sidecar)?);
        Ok(())
    }

    /// Tells other processes what has changed.
    ///
    /// # Errors
    ///
    /// They do not learn of it.
    pub fn update(&self, describe: impl FnOnce(&mut Sidecar)) -> Result<(), hashline_link::Error> {
        match &*lock(&self.announced) {
            Some(announcement) => announcement.update(describe),
            None => Ok(()),
        }
    }

    /// Takes the announcement back, for good.
    pub fn withdraw(&self) {
        lock(&self.waiting).take();
        lock(&self.announced).take();
    }
}
