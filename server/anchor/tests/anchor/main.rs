//! Tests of hashline-anchor: tables, properties against plain models, and the defects found in other tools.

mod defects;
mod model;
mod numbered;
mod operations;
mod parse;
mod patch;
mod refusals;
mod replacement;
mod resolve;
mod tags;
mod whole;
