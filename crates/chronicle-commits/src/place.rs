//! Where what was said of code is now.

pub(crate) mod by_item;
pub(crate) mod code_lines;
pub(crate) mod departures;
pub(crate) mod introduced;
pub(crate) mod line_index;
pub(crate) mod moved;
pub(crate) mod placing;
pub(crate) mod present;
pub(crate) mod reformatted;
pub(crate) mod was_here;
