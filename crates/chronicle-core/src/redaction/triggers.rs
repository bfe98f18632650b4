//! Where a rule may find something: two bytes decide nearly everywhere that none does.
//!
//! The table holds a rule for each pair of bytes. Looking up every pair of a text is what makes a
//! text without secrets cheap, so a pair that is common in prose or code costs speed.

use super::bytes::starts_with_ignoring_case;
use super::foreign_words::WORDS;
use super::pairs::{COSTS, pair, rarest_pair};
use super::secret::Secret;
use super::shapes::SHAPES;
use super::tokens::INFIXES;
use super::{commands, context, languages, pem, sql, tokens, told, typed, url};

const NOTHING: u8 = 0;
/// The last letter of a name, or what may stand behind one, and `:` or `=`.
const ASSIGNMENT: u8 = 1;
/// `--`, of an option or a key in PEM.
const DASHES: u8 = 2;
/// `-u`, the option that takes a name and a password.
const USER: u8 = 3;
/// `:/`, in a URL.
const URL: u8 = 4;
/// `:A`, in a token of Telegram.
const TELEGRAM: u8 = 5;
/// `sw` or `pw`, of `password`, `passwd` and `pwd`.
const PASSWORD: u8 = 6;
/// `yJ`, of `eyJ`.
const JWT: u8 = 7;
/// `Be`, `be` and `Ba`, of `Bearer` and `Basic`.
const SCHEME: u8 = 8;
const INFIX: u8 = 9;
/// `%3`, of `%3D` and `%3A`: `=` and `:` in a query.
const ESCAPED: u8 = 10;
/// `%4`, of `%40`: `@` in a query.
const ESCAPED_AT: u8 = 11;
/// `-p` and its like: options of one letter that take a password, or a dash inside a token.
const OPTION: u8 = 12;
/// `/u`, of `/user:`.
const SHARE: u8 = 13;
/// Two bytes of a word that is not written in ASCII.
const WORD: u8 = 14;
/// `',`, behind the name of an argument.
const ARGUMENT: u8 = 15;
/// `hr` and `mn`, of `phrase` and `mnemonic`.
const PHRASE: u8 = 16;
/// `BY` and `by`, of `IDENTIFIED BY`.
const IDENTIFIED: u8 = 17;
/// A letter or a digit and a sign, of a password as people type them.
const TYPED: u8 = 18;
const FIRST_SHAPE: u8 = 19;

/// What names end in, and what closes or follows them.
const BEFORE_SEPARATOR: &[u8] = b"desntylhawkcoDESNTYLHAWKCO0123456789\"'`\\]*?| \t";

/// The rule for each pair of bytes.
static TRIGGERS: [u8; 1 << 16] = TABLES.0;

/// For `OPTION` and each rule from `FIRST_SHAPE` on, the first of the shapes that it stands for.
static HEADS: [usize; 256] = TABLES.1;

/// The rules that are no shapes.
static RULES: [u8; 1 << 16] = {
    let mut table = [NOTHING; 1 << 16];
    let mut n = 0;
    while n < BEFORE_SEPARATOR.len() {
        table[pair(BEFORE_SEPARATOR[n], b':')] = ASSIGNMENT;
        table[pair(BEFORE_SEPARATOR[n], b'=')] = ASSIGNMENT;
        n += 1;
    }
    table[pair(b'g', b'=')] = ASSIGNMENT;
    table[pair(b'\'', b',')] = ARGUMENT;
    table[pair(b'-', b'-')] = DASHES;
    table[pair(b'-', b'u')] = USER;
    table[pair(b'B', b'Y')] = IDENTIFIED;
    table[pair(b'b', b'y')] = IDENTIFIED;
    table[pair(b'-', b'p')] = OPTION;
    table[pair(b'-', b'P')] = OPTION;
    table[pair(b'-', b'a')] = OPTION;
    table[pair(b'/', b'u')] = SHARE;
    table[pair(b'/', b'U')] = SHARE;
    table[pair(b':', b'/')] = URL;
    table[pair(b':', b'A')] = TELEGRAM;
    table[pair(b's', b'w')] = PASSWORD;
    table[pair(b's', b'W')] = PASSWORD;
    table[pair(b'S', b'W')] = PASSWORD;
    table[pair(b'p', b'w')] = PASSWORD;
    table[pair(b'P', b'w')] = PASSWORD;
    table[pair(b'P', b'W')] = PASSWORD;
    // `passphrase`, `seed phrase`, `mnemonic`
    table[pair(b'h', b'r')] = PHRASE;
    table[pair(b'H', b'R')] = PHRASE;
    table[pair(b'm', b'n')] = PHRASE;
    table[pair(b'M', b'N')] = PHRASE;
    // `ConvertTo-SecureString`
    table[pair(b'e', b'S')] = PASSWORD;
    table[pair(b'%', b'3')] = ESCAPED;
    table[pair(b'%', b'4')] = ESCAPED_AT;
    table[pair(b'y', b'J')] = JWT;
    table[pair(b'B', b'e')] = SCHEME;
    table[pair(b'b', b'e')] = SCHEME;
    table[pair(b'B', b'a')] = SCHEME;
    let mut n = 0;
    while n < typed::SIGNS.len() {
        let mut before = 0_u8;
        while before < 128 {
            if before.is_ascii_alphanumeric() {
                table[pair(before, typed::SIGNS[n])] = TYPED;
            }
            before += 1;
        }
        n += 1;
    }
    let mut n = 0;
    while n < INFIXES.len() {
        let infix = INFIXES[n].infix.as_bytes();
        let rarest = rarest_pair(infix);
        table[pair(infix[rarest], infix[rarest + 1])] = INFIX;
        n += 1;
    }
    let mut n = 0;
    while n < WORDS.len() {
        let word = WORDS[n].word.as_bytes();
        table[pair(word[WORDS[n].near], word[WORDS[n].near + 1])] = WORD;
        n += 1;
    }
    table
};

const TABLES: ([u8; 1 << 16], [usize; 256]) = {
    let mut table = RULES;
    let (mut heads, mut rule, mut n) = ([0; 256], FIRST_SHAPE, 0);
    while n < SHAPES.len() {
        let pair = pair_of_shape(n);
        if table[pair] == NOTHING {
            assert!(rule < u8::MAX, "the shapes have outgrown the rules");
            table[pair] = rule;
            heads[rule as usize] = n;
            rule += 1;
        } else if table[pair] == OPTION {
            heads[OPTION as usize] = n;
        }
        assert!(FIRST_SHAPE <= table[pair] || table[pair] == OPTION, "two bytes have two meanings");
        n += 1;
    }
    (table, heads)
};

/// For each shape, the next one that is looked for by the same two bytes.
static NEXT: [Option<usize>; SHAPES.len()] = {
    let mut next = [None; SHAPES.len()];
    let mut n = 0;
    while n < SHAPES.len() {
        let pair = pair_of_shape(n);
        let mut other = n + 1;
        while other < SHAPES.len() && pair_of_shape(other) != pair {
            other += 1;
        }
        if other < SHAPES.len() {
            next[n] = Some(other);
        }
        n += 1;
    }
    next
};

/// For each shape, where in its prefix the two bytes stand by which it is looked for: the rarest that no
/// other rule is looked for by.
static RAREST: [usize; SHAPES.len()] = RAREST_PAIRS;

const RAREST_PAIRS: [usize; SHAPES.len()] = {
    let mut rarest = [0; SHAPES.len()];
    let mut n = 0;
    while n < SHAPES.len() {
        let prefix = SHAPES[n].prefix.as_bytes();
        let (mut best, mut least, mut at) = (0, usize::MAX, 0);
        while at + 1 < prefix.len() {
            let is_free = RULES[pair(prefix[at], prefix[at + 1])] == NOTHING || prefix.len() == 2;
            let cost = COSTS[pair(prefix[at], prefix[at + 1])];
            if is_free && cost < least {
                (best, least) = (at, cost);
            }
            at += 1;
        }
        rarest[n] = best;
        n += 1;
    }
    rarest
};

const fn pair_of_shape(n: usize) -> usize {
    let prefix = SHAPES[n].prefix.as_bytes();
    let rarest = RAREST_PAIRS[n];
    pair(prefix[rarest], prefix[rarest + 1])
}

/// Finds the first secret after `floor` that its form or its name gives away.
pub(super) fn find(text: &[u8], floor: usize) -> Option<Secret> {
    let mut at = floor;
    loop {
        at = next(text, at)?;
        if let Some(secret) = apply(text, floor, at) {
            return Some(secret);
        }
        at += 1;
    }
}

/// The next place from `at` on where a rule may find something.
fn next(text: &[u8], mut at: usize) -> Option<usize> {
    // Eight pairs at a time: a branch for each would take longer than looking it up.
    while let Some(bytes) = text.get(at..at + 9) {
        let any = (0..8).fold(NOTHING, |any, n| any | TRIGGERS[pair(bytes[n], bytes[n + 1])]);
        if any != NOTHING {
            break;
        }
        at += 8;
    }
    let near = text[at..].windows(2).position(|bytes| TRIGGERS[pair(bytes[0], bytes[1])] != NOTHING)?;
    Some(at + near)
}

/// Asks the rule for the two bytes at `at`.
fn apply(text: &[u8], floor: usize, at: usize) -> Option<Secret> {
    match TRIGGERS[pair(text[at], text[at + 1])] {
        ASSIGNMENT => url::find_telegram_token(text, floor, at + 1)
            .or_else(|| url::find_signature(text, floor, at + 1))
            .or_else(|| context::find_assigned(text, floor, at + 1))
            .or_else(|| url::find_in_line(text, floor, at + 1)),
        DASHES => pem::find_at(text, at)
            .or_else(|| context::find_option(text, floor, at))
            .or_else(|| commands::find_piped(text, floor, at)),
        USER => context::find_user(text, floor, at).or_else(|| commands::find_short(text, floor, at)),
        OPTION => commands::find_short(text, floor, at).or_else(|| find_shape(text, floor, at, OPTION)),
        IDENTIFIED => sql::find_identified(text, floor, at),
        SHARE => commands::find_share(text, floor, at),
        ARGUMENT => context::find_argument(text, floor, at + 1),
        WORD => languages::find(text, floor, at),
        URL => url::find_password(text, at).or_else(|| tokens::find_wrapped_webhook(text, at)),
        TELEGRAM => url::find_telegram_token(text, floor, at),
        PASSWORD if text[at] == b'e' && !text[at + 1..].starts_with(b"String") => None,
        PASSWORD => told::find(text, floor, at),
        PHRASE if begins_phrase(&text[at..]) => told::find(text, floor, at),
        PHRASE => None,
        JWT => tokens::find_jwt(text, floor, at.checked_sub(1).filter(|&start| floor <= start)?),
        SCHEME => tokens::find_credential(text, floor, at),
        ESCAPED => context::find_escaped(text, floor, at),
        ESCAPED_AT => url::find_escaped_password(text, floor, at),
        TYPED => typed::find(text, floor, at),
        INFIX => tokens::find_around(text, floor, at),
        rule => find_shape(text, floor, at, rule),
    }
}

/// Whether `rest` begins with the end of `phrase` or `mnemonic`.
fn begins_phrase(rest: &[u8]) -> bool {
    ["hrase", "mnemonic"].iter().any(|word| starts_with_ignoring_case(rest, word))
}

/// Finds a token of one of the shapes that `rule` stands for, whose telling two bytes stand at `at`.
fn find_shape(text: &[u8], floor: usize, at: usize, rule: u8) -> Option<Secret> {
    let numbers = std::iter::successors(Some(HEADS[usize::from(rule)]), |&n| NEXT[n]);
    numbers.map(|n| (&SHAPES[n], RAREST[n])).find_map(|(shape, rarest)| {
        let start = at.checked_sub(rarest).filter(|&start| floor <= start)?;
        tokens::find_at(text, floor, start, shape)
    })
}
