//! The models against services on real sockets: each wire in its own words, and everything that can go wrong.

mod claude;
mod faults;
mod ledger;
mod limited;
mod local_model;
mod replayed;
mod support;
mod transport;
mod wires;
