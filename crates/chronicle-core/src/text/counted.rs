//! How many there are of something, in words.

use std::fmt::Display;

/// `1 session`, `2 sessions`, `2 entries`.
pub fn counted<N: Copy + Display + PartialEq + From<u8>>(n: N, noun: &str) -> String {
    if n == N::from(1) { format!("1 {noun}") } else { format!("{n} {}", several(noun)) }
}

/// `1 session is`, `2 sessions are`.
pub fn counted_are<N: Copy + Display + PartialEq + From<u8>>(n: N, noun: &str) -> String {
    if n == N::from(1) { format!("1 {noun} is") } else { format!("{n} {} are", several(noun)) }
}

/// `1 is`, `2 are`.
pub fn are<N: Copy + Display + PartialEq + From<u8>>(n: N) -> String {
    if n == N::from(1) { format!("{n} is") } else { format!("{n} are") }
}

/// What several of something are called; of `version of a block`, its first word counts.
fn several(noun: &str) -> String {
    let (noun, rest) =
        noun.split_once(" of ").map_or((noun, String::new()), |(noun, rest)| (noun, format!(" of {rest}")));
    let is_y = noun.ends_with('y') && !["ay", "ey", "oy", "uy"].iter().any(|end| noun.ends_with(end));
    if is_y {
        return format!("{}ies{rest}", &noun[..noun.len() - 1]);
    }
    let is_hissing = ["s", "x", "ch", "sh"].iter().any(|end| noun.ends_with(end));
    format!("{noun}{}{rest}", if is_hissing { "es" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_not_several() {
        let check = |noun: &str, none: &str, one: &str, two: &str| {
            assert_eq!(
                [counted(0_usize, noun), counted(1_u64, noun), counted(2_u32, noun)],
                [none, one, two]
            );
        };
        check("note", "0 notes", "1 note", "2 notes");
        check("open thread", "0 open threads", "1 open thread", "2 open threads");
        check("version of blocks", "0 versions of blocks", "1 version of blocks", "2 versions of blocks");
        check("entry", "0 entries", "1 entry", "2 entries");
        check("day", "0 days", "1 day", "2 days");
        check("branch", "0 branches", "1 branch", "2 branches");
        assert_eq!(counted_are(1_usize, "thread"), "1 thread is");
        assert_eq!(counted_are(3_usize, "thread"), "3 threads are");
    }
}
