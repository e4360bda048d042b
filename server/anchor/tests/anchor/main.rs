//! Tests of hashline-anchor: tables, properties against plain models, and the defects found in other tools.

#[path = "../../../text/tests/text/cases.rs"]
mod cases;
mod defects;
mod model;
mod mutated;
mod numbered_lines;
mod operations;
mod parse;
mod patch;
mod refusals;
mod replacement;
mod resolve;
mod tags;
mod whole;
