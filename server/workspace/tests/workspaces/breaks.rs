//! What goes wrong with the record of a process: an append that fails, what comes in that very moment, and the end of the process.

use std::io::Error;
use std::sync::{Arc, Mutex, Weak};

use hashline_history::{Allow, Probe, Step};

use crate::editor::{Act, Editor};
use crate::failing::{Failing, Failure};

/// An append that is to fail.
#[derive(Clone, Debug)]
pub struct Plan {
    /// How many appends go well before it.
    pub after: usize,
    pub failure: Failure,
    /// What the person does in that moment.
    pub meanwhile: Vec<Act>,
}

#[derive(Default)]
struct State {
    plan: Option<Plan>,
    failing: Failing,
    /// The process has ended: nothing that it does reaches the disk.
    ended: bool,
    /// The failures that came.
    met: Vec<Failure>,
}

/// Lets appends of one process fail.
#[derive(Default)]
pub struct Breaks {
    state: Mutex<State>,
    editor: Mutex<Weak<Editor>>,
}

impl Breaks {
    pub fn watch(&self, editor: &Arc<Editor>) {
        *self.editor.lock().unwrap() = Arc::downgrade(editor);
    }

    pub fn arm(&self, plan: Plan) {
        self.state.lock().unwrap().plan = Some(plan);
    }

    /// Lets all go well from now on.
    pub fn mend(&self) {
        let mut state = self.state.lock().unwrap();
        *state = State { met: std::mem::take(&mut state.met), ..State::default() };
    }

    /// The process ends.
    pub fn end(&self) {
        self.state.lock().unwrap().ended = true;
    }

    /// The failures that came since this was asked last.
    pub fn met(&self) -> Vec<Failure> {
        std::mem::take(&mut self.state.lock().unwrap().met)
    }

    fn append(&self, len: usize) -> Allow {
        let plan = {
            let mut state = self.state.lock().unwrap();
            let refused = state.failing.step(Step::Write(len));
            if !matches!(refused, Allow::All) {
                return refused;
            }
            match &mut state.plan {
                Some(Plan { after, .. }) if *after > 0 => {
                    *after -= 1;
                    return Allow::All;
                }
                plan => plan.take(),
            }
        };
        let Some(Plan { failure, meanwhile, .. }) = plan else { return Allow::All };
        let editor = self.editor.lock().unwrap().upgrade();
        if let Some(editor) = editor {
            editor.meanwhile(&meanwhile);
        }
        let mut state = self.state.lock().unwrap();
        state.met.push(failure);
        state.failing.append(failure, len, 1 + len % 2)
    }
}

impl Probe for Breaks {
    fn step(&self, step: Step, path: &str) -> Allow {
        if self.state.lock().unwrap().ended {
            return Allow::Fail(Error::other("the process has ended"));
        }
        if !path.contains("decisions.log") {
            return Allow::All;
        }
        match step {
            Step::Write(len) => self.append(len),
            _ => self.state.lock().unwrap().failing.step(step),
        }
    }
}
