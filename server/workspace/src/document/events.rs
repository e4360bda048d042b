//! What has come up in a document, for those outside and for the person.
//!
//! The face: every room says what has come up ([`Tidings::review`] and its kin, [`Tidings::tell`]); whoever owns the document takes it.

/// Something the outside should know of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct News {
    /// The list of edits, their states or their places have changed.
    pub review: bool,
    /// Places have moved with what was typed; how hunks stand has not changed.
    pub moved: bool,
    /// A decision was made or taken back.
    pub decided: bool,
    /// There may be something to deliver.
    pub deliver: bool,
}

/// What has come up and was not taken yet.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tidings {
    news: News,
    notices: Vec<String>,
}

impl Tidings {
    /// The review has changed.
    pub(crate) fn review(&mut self) {
        self.news.review = true;
    }

    /// Places have moved.
    pub(crate) fn moved(&mut self) {
        self.news.moved = true;
    }

    /// A decision was made or taken back.
    pub(crate) fn decided(&mut self) {
        self.news.review = true;
        self.news.decided = true;
    }

    /// There may be something to deliver.
    pub(crate) fn deliver(&mut self) {
        self.news.deliver = true;
    }

    /// Whoever delivers has just looked.
    pub(crate) fn quiet_delivery(&mut self) {
        self.news.deliver = false;
    }

    /// The person is to be told something.
    pub(crate) fn tell(&mut self, words: String) {
        self.notices.push(words);
    }

    /// What another state of the document has to tell is told by this one.
    pub(crate) fn tell_for(&mut self, other: &mut Self) {
        self.notices.append(&mut other.notices);
    }

    pub(crate) fn take_news(&mut self) -> News {
        std::mem::take(&mut self.news)
    }

    pub(crate) fn take_notices(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notices)
    }
}
