//! Other processes, of which only is known what they say when they are asked whether they have a file.

use std::path::{Path, PathBuf};

use hashline_workspace::{OpenElsewhere, Others};

/// Says what it is told to say, and may do something when it is asked.
pub struct Strangers<F>(pub F);

impl<F: Fn(&Path) -> OpenElsewhere + Send + Sync> Others for Strangers<F> {
    fn has(&self, path: &Path) -> OpenElsewhere {
        (self.0)(path)
    }

    fn answer_for(&self, _: &Path) -> bool {
        false
    }

    fn roots(&self) -> Vec<PathBuf> {
        Vec::new()
    }

    fn own_name(&self) -> Option<&str> {
        None
    }

    fn editor_of(&self, _: &str) -> Option<String> {
        None
    }
}
