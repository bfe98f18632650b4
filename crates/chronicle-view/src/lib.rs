//! The faces for people who look: a page, a shared session, and a browser in the terminal. Floor 5.
//!
//! A page is one file that needs no network and no script. Each text passes `words::shown` on its way into it, and the
//! templates escape what HTML would act on.

mod browse;
mod error;
mod material;
mod output;
mod page;
mod plots;
mod serve;
mod share;
mod words;

pub use browse::{Ended, Outside, Start, browse};
pub use error::ViewError;
pub use material::Material;
pub use output::write;
pub use page::{page, served_shell};
pub use serve::{Server, new_token};
pub use share::{Contents, ShareForm, SharedSession};
