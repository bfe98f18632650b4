//! A pool of connections.

use std::fmt;

/// How many connections are kept.
pub const LIMIT: usize = 8;
static STARTED: u64 = 0;

// Not attached: a blank line follows.

/// A pool.
#[derive(Debug)]
pub struct Pool<T> {
    free: Vec<T>,
}

pub enum State { Open, Closed }
pub union Word { a: u32, b: f32 }
pub type Reply<T> = Result<T, fmt::Error>;

/// Gives connections out.
pub trait Source {
    const NAME: &'static str;
    type Item;
    fn next(&mut self) -> Option<Self::Item>;
    fn skip(&mut self) { self.next(); }
}

impl<T: Clone> Pool<T> {
    /// Takes one.
    #[must_use]
    pub fn acquire(&self,
        wait: bool) -> Option<T>
    where
        T: Clone,
    {
        fn inner() {}
        inner();
        None
    }
}

impl<T> fmt::Display for Pool<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result { Ok(()) }
}

impl<'a, T> Source for &'a mut db::Pool<T> {
    fn next(&mut self) -> Option<T> { None }
}

macro_rules! pool {
    () => { fn hidden() {} };
}

mod inner {
    pub async unsafe extern "C" fn deep() {} // trailing
    pub fn after() {}
}

extern "C" {
    fn outside(x: i32) -> i32;
}
