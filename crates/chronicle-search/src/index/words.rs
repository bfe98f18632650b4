//! From text to terms: what counts as a word, and which words are one.
//!
//! Terms are hashes. The index so holds no words, and looking one up compares
//! numbers. Forty bits keep two of a million words apart nearly always; where
//! they fail, a hit more is found.

use std::ops::Range;

use rust_stemmers::{Algorithm, Stemmer};
use twox_hash::XxHash3_64;
use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};

use super::families;

/// A word, by its hash; never 0.
pub(crate) type Term = u64;

/// How many bits a term has.
pub(crate) const TERM_BITS: u32 = 40;

/// What is longer is no word: encoded bytes, and the like.
const LONGEST: usize = 64;

/// Shorter beginnings of words are in too many others.
const LEAST_BEGINNING: usize = 3;

/// How near a word of the same family is, and a part of a name, as cosines.
pub(crate) const IN_A_FAMILY: f32 = 0.6;
const PART_OF_A_NAME: f32 = 0.45;

/// How many words are remembered with their terms; a power of two.
const REMEMBERED: usize = 1 << 13;

/// Words that say nothing by themselves. They are not in the index.
const STOP_WORDS: &str = " a about above after again all also am an and any are aren as at be because been \
    before being below between both but by can could couldn did didn do does doesn doing don down during \
    each few for from further had hadn has hasn have haven having he her here hers herself him himself his \
    how i if in into is isn it its itself just let ll me more most mustn my myself no nor not now of off on \
    once only or other our ours ourselves out over own re same shan she should shouldn so some such than \
    that the their theirs them themselves then there these they this those through to too under until up \
    ve very was wasn we were weren what when where which while who whom why will with won would wouldn you \
    your yours yourself yourselves ";

/// Takes text apart into terms.
pub(crate) struct Words {
    stemmer: Stemmer,
    /// The words that say nothing, by a hash of their letters, in order.
    stop_words: Vec<u64>,
    /// Words met lately, by a hash of their letters: stemming one again costs more than all the rest.
    remembered: Box<[(u64, Term)]>,
}

impl std::fmt::Debug for Words {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Words").finish_non_exhaustive()
    }
}

impl Default for Words {
    fn default() -> Self {
        let mut stop_words: Vec<u64> =
            STOP_WORDS.split_ascii_whitespace().map(|word| quick_hash(word.as_bytes())).collect();
        stop_words.sort_unstable();
        Self {
            stemmer: Stemmer::create(Algorithm::English),
            stop_words,
            remembered: vec![(0, 0); REMEMBERED].into_boxed_slice(),
        }
    }
}

impl Words {
    /// Tells `found` the terms of `text`, in their order.
    ///
    /// A name is found whole and by its parts: `acquireConnection`, `OAuth`, `HTML5`. Of scripts without spaces the letters
    /// are taken, and each pair of neighbours.
    pub(crate) fn each(&mut self, text: &str, found: &mut impl FnMut(Term)) {
        self.each_at(text, &mut |term, _| found(term));
    }

    /// The same, with the bytes where they stand.
    pub(crate) fn each_at(&mut self, text: &str, found: &mut impl FnMut(Term, Range<usize>)) {
        self.walk(text, true, found);
    }

    /// The terms of a question, with the bytes where they stand. Of a name, only parts that begin with a capital after a
    /// small letter are words of the question: `OAuth` asks for less than `auth` does.
    pub(crate) fn asked_at(&mut self, text: &str, found: &mut impl FnMut(Term, Range<usize>)) {
        self.walk(text, false, found);
    }

    fn walk(&mut self, text: &str, has_all_parts: bool, found: &mut impl FnMut(Term, Range<usize>)) {
        let bytes = text.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            if !is_word_byte(bytes[at]) {
                at += 1;
                continue;
            }
            let start = at;
            let mut all = 0;
            while at < bytes.len() && is_word_byte(bytes[at]) {
                all |= bytes[at];
                at += 1;
            }
            if !all.is_ascii() {
                self.beyond_ascii(&text[start..at], start, found);
            } else if at - start <= LONGEST {
                self.ascii(&bytes[start..at], start, has_all_parts, found);
            }
        }
    }

    /// The terms of the words that mean nearly the same as `word`, with the cosine: its family, the parts of a name, and
    /// what a language model found near. None of a number.
    pub(crate) fn near(&mut self, word: &str) -> Vec<(Term, f32)> {
        let mut near: Vec<(Term, f32)> = Vec::new();
        if LONGEST < word.len() || !word.is_ascii() {
            return near;
        }
        let whole = hashed(self.stemmer.stem(&word.to_ascii_lowercase()).as_bytes());
        let mut add = |term: Term, cosine: f32| {
            if term != whole && near.iter().all(|(known, _)| *known != term) {
                near.push((term, cosine));
            }
        };
        let stem = self.stemmer.stem(&word.to_ascii_lowercase()).into_owned();
        for relative in families::relatives(&stem, |word| self.stemmer.stem(word).into_owned()) {
            add(hashed(relative.as_bytes()), IN_A_FAMILY);
        }
        if word.bytes().all(|letter| letter.is_ascii_alphabetic()) {
            for other in chronicle_embedding::near(&stem) {
                add(hashed(other.stem.as_bytes()), other.cosine);
            }
        }
        let lower = word.to_ascii_lowercase();
        for part in parts(word.as_bytes()) {
            let part = &lower.as_bytes()[part];
            if 2 <= part.len() && part.len() < word.len() && part[0].is_ascii_alphabetic() {
                add(self.stemmed(part), PART_OF_A_NAME);
            }
        }
        near.retain(|(term, _)| *term != 0);
        near
    }

    /// Beginnings of words, one of which is in every text that has `word` or one of its family; none of letters beyond
    /// ASCII.
    pub(crate) fn beginnings(&mut self, word: &str) -> Option<Vec<String>> {
        if LONGEST < word.len() || !word.is_ascii() {
            return None;
        }
        let lower = word.to_ascii_lowercase();
        let stem = self.stemmer.stem(&lower).into_owned();
        // The parts of a name may be joined in another way.
        let first = parts(word.as_bytes()).next().map(|part| self.stemmer.stem(&lower[part]).into_owned());
        let mut found: Vec<String> = first.into_iter().collect();
        found.extend(families::relatives(&stem, |word| self.stemmer.stem(word).into_owned()));
        if word.bytes().all(|letter| letter.is_ascii_alphabetic()) {
            let near = chronicle_embedding::near(&stem);
            found.extend(near.filter(|other| IN_A_FAMILY <= other.cosine).map(|other| other.stem.to_owned()));
        }
        // Forms of a word differ in its last letters.
        found.iter_mut().for_each(|word| word.truncate(word.len().saturating_sub(2).max(LEAST_BEGINNING)));
        Some(found)
    }

    fn ascii(
        &mut self,
        word: &[u8],
        at: usize,
        has_all_parts: bool,
        found: &mut impl FnMut(Term, Range<usize>),
    ) {
        let mut lower = [0; LONGEST];
        let lower = &mut lower[..word.len()];
        let (mut is_camel, mut has_parts) = (false, false);
        let (mut was_lower, mut was_upper, mut was_digit) = (false, false, false);
        for (place, (letter, given)) in lower.iter_mut().zip(word).enumerate() {
            let (is_upper, is_digit) = (given.is_ascii_uppercase(), given.is_ascii_digit());
            is_camel |= is_upper & was_lower;
            has_parts |= 0 < place
                && ((is_upper && !was_upper)
                    || is_digit != was_digit
                    || (was_upper && !is_upper && 1 < place));
            was_upper = is_upper;
            was_lower = given.is_ascii_lowercase();
            was_digit = is_digit;
            *letter = given.to_ascii_lowercase();
        }
        if let Some(term) = self.term(lower) {
            found(term, at..at + word.len());
        }
        if has_all_parts && has_parts {
            for part in parts(word) {
                let is_word =
                    2 <= part.len() && part.len() < word.len() && !word[part.start].is_ascii_digit();
                if is_word && let Some(term) = self.term(&lower[part.clone()]) {
                    found(term, at + part.start..at + part.end);
                }
            }
        } else if is_camel {
            let mut start = 0;
            for end in 1..=word.len() {
                let is_end = end == word.len()
                    || (word[end].is_ascii_uppercase() && word[end - 1].is_ascii_lowercase());
                if is_end {
                    if let Some(term) = self.term(&lower[start..end]) {
                        found(term, at + start..at + end);
                    }
                    start = end;
                }
            }
        }
    }

    /// Text with letters beyond ASCII: marks are taken off, and scripts without spaces are cut.
    fn beyond_ascii(&mut self, text: &str, at: usize, found: &mut impl FnMut(Term, Range<usize>)) {
        let mut word = String::new();
        let mut start = at;
        let mut before: Option<(char, usize)> = None;
        for (place, letter) in text.char_indices().chain([(text.len(), ' ')]) {
            let place = at + place;
            let end = place + letter.len_utf8();
            if is_unspaced(letter) {
                self.plain_word(&mut word, start..place, found);
                let mut pair = [0; 8];
                let length = letter.encode_utf8(&mut pair).len();
                found(hashed(&pair[..length]), place..end);
                if let Some((before, start)) = before {
                    let length = before.encode_utf8(&mut pair).len();
                    let length = length + letter.encode_utf8(&mut pair[length..]).len();
                    found(hashed(&pair[..length]), start..end);
                }
                before = Some((letter, place));
                continue;
            }
            before = None;
            if letter.is_alphanumeric() || is_combining_mark(letter) {
                if word.is_empty() {
                    start = place;
                }
                let marked = letter.nfkd().filter(|part| !is_combining_mark(*part));
                word.extend(marked.flat_map(char::to_lowercase));
            } else {
                self.plain_word(&mut word, start..place, found);
            }
        }
    }

    fn plain_word(
        &mut self,
        word: &mut String,
        place: Range<usize>,
        found: &mut impl FnMut(Term, Range<usize>),
    ) {
        if !word.is_empty()
            && word.len() <= LONGEST
            && let Some(term) = self.term(word.as_bytes())
        {
            found(term, place);
        }
        word.clear();
    }

    /// The term of a word in lower case; none of a word that says nothing.
    fn term(&mut self, word: &[u8]) -> Option<Term> {
        let key = quick_hash(word);
        let place = (key >> 40) as usize & (REMEMBERED - 1);
        let (known, term) = self.remembered[place];
        let term = if known == key {
            term
        } else {
            let term = if self.stop_words.binary_search(&key).is_ok() { 0 } else { self.stemmed(word) };
            self.remembered[place] = (key, term);
            term
        };
        (term != 0).then_some(term)
    }

    fn stemmed(&self, word: &[u8]) -> Term {
        let is_letter = word.len() == 1 && word[0].is_ascii_alphabetic();
        if is_letter {
            return 0;
        }
        match std::str::from_utf8(word) {
            Ok(text) if word.iter().all(u8::is_ascii_lowercase) => hashed(self.stemmer.stem(text).as_bytes()),
            _ => hashed(word),
        }
    }
}

/// The parts of a name: runs of capitals (the last of them belongs to the small letters after it), of small letters with a
/// capital before them, and of digits.
fn parts(word: &[u8]) -> impl Iterator<Item = Range<usize>> {
    let mut start = 0;
    std::iter::from_fn(move || {
        let first = *word.get(start)?;
        let run = |from: usize, is_it: fn(&u8) -> bool| {
            word[from..].iter().position(|byte| !is_it(byte)).map_or(word.len(), |length| from + length)
        };
        let end = if first.is_ascii_digit() {
            run(start, u8::is_ascii_digit)
        } else if first.is_ascii_uppercase() {
            let capitals = run(start, u8::is_ascii_uppercase);
            match word.get(capitals) {
                Some(next) if next.is_ascii_lowercase() && capitals == start + 1 => {
                    run(capitals, u8::is_ascii_lowercase)
                }
                Some(next) if next.is_ascii_lowercase() => capitals - 1,
                _ => capitals,
            }
        } else {
            run(start, u8::is_ascii_lowercase)
        };
        let part = start..end.max(start + 1);
        start = part.end;
        Some(part)
    })
}

/// The bytes that belong to words; all of those beyond ASCII are looked at later.
const WORD_BYTES: [bool; 256] = {
    let mut belongs = [false; 256];
    let mut byte = 0_u8;
    loop {
        belongs[byte as usize] = !byte.is_ascii() || byte.is_ascii_alphanumeric();
        if byte == u8::MAX {
            break belongs;
        }
        byte += 1;
    }
};

fn is_word_byte(byte: u8) -> bool {
    WORD_BYTES[usize::from(byte)]
}

/// Whether a letter belongs to a script that puts no spaces between words.
fn is_unspaced(letter: char) -> bool {
    matches!(u32::from(letter),
        0x0e00..=0x0eff | 0x1000..=0x109f | 0x1100..=0x11ff | 0x1780..=0x17ff
        | 0x3041..=0x30ff | 0x3400..=0x4dbf | 0x4e00..=0x9fff | 0xac00..=0xd7a3 | 0xf900..=0xfaff
        | 0xff66..=0xff9f | 0x2_0000..=0x3_ffff)
}

fn hashed(word: &[u8]) -> Term {
    (XxHash3_64::oneshot(word) >> (u64::BITS - TERM_BITS)).max(1)
}

/// Tells words apart in memory; made for few and short ones.
fn quick_hash(word: &[u8]) -> u64 {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut hash = word.len() as u64;
    let mut chunks = word.chunks_exact(8);
    for chunk in &mut chunks {
        let chunk = u64::from_le_bytes(chunk.try_into().expect("eight bytes"));
        hash = (hash.rotate_left(23) ^ chunk).wrapping_mul(FACTOR);
    }
    let mut last = 0;
    for byte in chunks.remainder() {
        last = last << 8 | u64::from(*byte);
    }
    hash = (hash.rotate_left(23) ^ last).wrapping_mul(FACTOR);
    (hash ^ hash >> 32).wrapping_mul(FACTOR)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms(text: &str) -> Vec<Term> {
        let mut terms = Vec::new();
        Words::default().each(text, &mut |term| terms.push(term));
        terms
    }

    #[test]
    fn forms_of_a_word_are_one_term() {
        assert_eq!(terms("connections"), terms("Connection"));
        assert_eq!(terms("waiting for the pools"), terms("wait pool"));
        assert_eq!(terms("café CAFÉ cafe\u{301}"), [terms("cafe")[0]; 3]);
        assert_eq!(terms("ＡＢＣ"), terms("abc"));
    }

    #[test]
    fn words_that_say_nothing_are_no_terms() {
        assert!(terms("why is it so? I don't… \u{0} ---").is_empty());
        assert!(terms(&"a1".repeat(40)).is_empty());
    }

    #[test]
    fn a_name_in_camel_case_is_found_by_its_parts() {
        let name = terms("acquireConnection");
        assert_eq!(name.len(), 3);
        assert_eq!(name[1..], terms("acquire connection"));
        assert_eq!(terms("acquire_connection"), terms("acquire connection"));
        assert_eq!(terms("HTTPServer")[1..], terms("http server"));
        assert_eq!(terms("OAuth")[1..], terms("auth"));
        assert_eq!(terms("authN")[1..], terms("auth"));
        assert_eq!(terms("HTML5")[1..], terms("html"));
        assert_eq!(terms("E0502").len(), 1);
        assert_eq!(terms("Pool").len(), 1);
        assert_eq!(terms("POOL"), terms("pool"));
    }

    #[test]
    fn a_question_finds_the_family_of_its_words() {
        let check = |word: &str, other: &str, is_near: bool| {
            let other = terms(other)[0];
            let near = Words::default().near(word);
            assert_eq!(near.iter().any(|(term, _)| *term == other), is_near, "{word} {other}");
        };
        check("authentication", "auth", true);
        check("auth", "authorization", true);
        check("OAuth", "auth", true);
        check("HTML5", "html", true);
        check("config", "configuration", true);
        check("repos", "repository", true);
        check("pool", "auth", false);
        check("42", "two", false);
    }

    #[test]
    fn a_script_without_spaces_is_taken_in_pairs() {
        let text = terms("连接池必须等待");
        assert_eq!(text.len(), 7 + 6);
        assert!(terms("必须").iter().all(|term| text.contains(term)));
        assert_eq!(terms("日本x日"), [terms("日本"), terms("日")].concat());
    }
}
