//! Tests of hashline-text against naive models of lines, positions and stored bytes.

mod bytes;
mod lines;
mod model;
mod positions;
mod replace;
mod same;
mod size;
