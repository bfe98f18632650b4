//! The binary, end to end, on real repositories.

mod durability;
