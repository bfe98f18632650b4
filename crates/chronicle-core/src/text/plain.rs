//! Text from outside without anything that acts on a terminal, and without what no reader sees.
//!
//! Characters without a width hide words from a reader and break up a secret or a mark, so that no rule finds it. Some
//! scripts and emoji need a few of them: those stay where they mean something, and nowhere else.

use std::borrow::Cow;

const PIECE: usize = 64;

/// `text` without control characters (line ends and tabs stay), without marks that turn the direction of writing, by
/// which a text can show other words than it holds, and without invisible characters.
///
/// Joiners stay between letters of scripts that join, and within emoji; variation selectors after a character that has
/// variants. A lone carriage return is a line end.
#[must_use]
pub fn plain(text: &str) -> Cow<'_, str> {
    if !may_hide(text) {
        return Cow::Borrowed(text);
    }
    let seen = seen(text);
    if seen == text { Cow::Borrowed(text) } else { Cow::Owned(seen) }
}

/// Whether `text` holds a character that may not stay as it is.
fn may_hide(text: &str) -> bool {
    let is_printed = |byte: u8| matches!(byte, b' '..=b'~' | b'\n' | b'\t');
    // Whole pieces are looked at in a few steps where none of their bytes ends the search.
    let is_printed_piece = |piece: &[u8]| piece.iter().fold(true, |all, byte| all & is_printed(*byte));
    // The bytes that such characters begin with; most others are not decoded.
    let is_begin = |byte: u8| match byte {
        0x80..=0xbf => false,
        0xc2 | 0xcd | 0xd8 | 0xe1..=0xe3 | 0xef | 0xf0 | 0xf3 => true,
        byte => byte < 0x80 && !is_printed(byte),
    };
    let is_hidden = |at: usize| text[at..].chars().next().is_some_and(|c| class(c) != Class::Seen);
    (0..).step_by(PIECE).zip(text.as_bytes().chunks(PIECE)).any(|(start, piece)| {
        !is_printed_piece(piece) && (start..).zip(piece).any(|(at, byte)| is_begin(*byte) && is_hidden(at))
    })
}

/// A text on one line, however many it has.
#[must_use]
pub fn one_line(text: &str) -> String {
    plain(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// `path` on one line: what acts on a terminal, ends a line or is seen by no reader is escaped as in Rust.
#[must_use]
pub fn shown_path(path: &str) -> Cow<'_, str> {
    let is_shown = |c: char| class(c) == Class::Seen && !matches!(c, '\n' | '\t');
    if !path.contains(['\n', '\t']) && matches!(plain(path), Cow::Borrowed(_)) {
        return Cow::Borrowed(path);
    }
    let mut shown = String::with_capacity(path.len() + 8);
    for character in path.chars() {
        match is_shown(character) {
            true => shown.push(character),
            false if character.is_ascii() => shown.extend(character.escape_default()),
            false => shown.extend(character.escape_unicode()),
        }
    }
    Cow::Owned(shown)
}

/// JSON in which no character acts on a terminal, hides from a reader or is a command of the host of a build: such a one
/// can only be in a text, where it is escaped, so that every reader of JSON gets the same text.
#[must_use]
pub fn shown_json(json: &str) -> Cow<'_, str> {
    let is_shown = |c: char| c == '\r' || !matches!(class(c), Class::Gone | Class::LineEnd);
    let commands = commands_within(json);
    let is_plain = json.is_ascii() && !json.contains('\u{7f}') || json.chars().all(is_shown);
    if is_plain && commands.is_empty() {
        return Cow::Borrowed(json);
    }
    let mut shown = String::with_capacity(json.len() + 8);
    for (at, character) in json.char_indices() {
        match is_shown(character) && commands.binary_search(&at).is_err() {
            true => shown.push(character),
            false => character
                .encode_utf16(&mut [0; 2])
                .iter()
                .for_each(|unit| shown.push_str(&format!("\\u{unit:04x}"))),
        }
    }
    Cow::Owned(shown)
}

/// What begins a line that the host of a build takes for a command.
const COMMANDS: [&str; 3] = ["::", "section_start:", "section_end:"];

/// What the host of a build takes for a command wherever it is in a line.
const COMMANDS_WITHIN: [&str; 3] = ["##[", "##vso[", "##teamcity["];

/// Whether `text` begins with one of these, in any case.
fn begins_with(text: &str, beginnings: &[&str]) -> bool {
    let begins =
        |start: &&str| text.get(..start.len()).is_some_and(|begins| begins.eq_ignore_ascii_case(start));
    beginnings.iter().any(begins)
}

/// Where the second signs of such commands are within lines, each of which may begin another one.
fn commands_within(text: &str) -> Vec<usize> {
    let is_within = |(at, _): &(usize, &str)| begins_with(&text[*at..], &COMMANDS_WITHIN);
    text.match_indices('#').filter(is_within).map(|(at, _)| at + 1).collect()
}

/// `text` with nothing that the host of a build takes for a command: GitHub, Azure, TeamCity and GitLab read them in
/// whatever a build prints. Such a one gets a backslash, which markdown does not show.
#[must_use]
pub fn without_commands(text: &str) -> Cow<'_, str> {
    let is_command = |line: &str| begins_with(line.trim_start(), &COMMANDS);
    let within = commands_within(text);
    if within.is_empty() && !text.lines().any(is_command) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len() + 8);
    let (mut start, mut within) = (0, within.into_iter().peekable());
    for line in text.split_inclusive('\n') {
        let end = start + line.len();
        if is_command(line) {
            let n_blanks = line.len() - line.trim_start().len();
            safe.push_str(&line[..n_blanks]);
            safe.push('\\');
            start += n_blanks;
        }
        while let Some(at) = within.next_if(|at| *at < end) {
            safe.push_str(&text[start..at]);
            safe.push('\\');
            start = at;
        }
        safe.push_str(&text[start..end]);
        start = end;
    }
    Cow::Owned(safe)
}

/// What a character is to a reader.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    /// A reader sees it, or it is a space.
    Seen,
    /// It ends a line.
    LineEnd,
    /// It joins its neighbours or keeps them apart.
    Joiner,
    /// It chooses how the character before it looks.
    Selector,
    /// It goes.
    Gone,
}

/// Whatever Unicode says to leave out where it cannot be shown (`Default_Ignorable_Code_Point`) is invisible.
fn class(character: char) -> Class {
    match character {
        '\n' | '\t' | ' '..='~' => Class::Seen,
        '\r' | '\u{85}' | '\u{2028}' | '\u{2029}' => Class::LineEnd,
        '\0'..='\u{9f}' => Class::Gone,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{17b4}' | '\u{17b5}' | '\u{180e}' | '\u{200b}' => Class::Gone,
        // Letters of Hangul that are blank.
        '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}' => Class::Gone,
        '\u{180b}'..='\u{180d}' | '\u{180f}' | '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}' => {
            Class::Selector
        }
        '\u{200c}' | '\u{200d}' => Class::Joiner,
        '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' => Class::Gone,
        '\u{feff}' | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' => {
            Class::Gone
        }
        '\u{e0000}'..='\u{e0fff}' => Class::Gone,
        _ => Class::Seen,
    }
}

fn seen(text: &str) -> String {
    let mut seen = String::with_capacity(text.len());
    // The last character that is seen, whether something invisible follows it already, and what waits for the next.
    let (mut before, mut is_selected, mut waiting) = (None, false, None);
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        let character = match class(character) {
            Class::Gone => continue,
            Class::LineEnd if character == '\r' && characters.peek() == Some(&'\n') => continue,
            Class::LineEnd => '\n',
            Class::Joiner => {
                waiting = waiting.or(Some(character));
                continue;
            }
            Class::Selector => {
                let is_first = !is_selected && waiting.is_none();
                match before.filter(|_| is_first) {
                    Some('0'..='9' | '#' | '*') if character == '\u{fe0f}' => waiting = Some(character),
                    Some(before) if is_variant(before, character) => {
                        seen.push(character);
                        is_selected = true;
                    }
                    _ => {}
                }
                continue;
            }
            Class::Seen => character,
        };
        if let (Some(waiting), Some(before)) = (waiting.take(), before)
            && belongs(waiting, before, character)
        {
            seen.push(waiting);
        }
        seen.push(character);
        (before, is_selected) = (Some(character), false);
    }
    seen
}

/// Whether the invisible character means something between these two.
fn belongs(invisible: char, before: char, after: char) -> bool {
    match invisible {
        '\u{fe0f}' => after == '\u{20e3}',
        _ if is_joining(before) => is_joining(after) || !after.is_alphanumeric(),
        '\u{200d}' => is_emoji(before) && is_emoji(after),
        _ => false,
    }
}

/// Whether the letters of a character's script join, or keep apart, with a character of no width.
fn is_joining(character: char) -> bool {
    matches!(character, '\u{590}'..='\u{109f}' | '\u{1780}'..='\u{18af}' | '\u{1900}'..='\u{1cff}' | '\u{a800}'..='\u{abff}'
        | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}' | '\u{10a00}'..='\u{11fff}' | '\u{1e900}'..='\u{1e95f}')
}

fn is_emoji(character: char) -> bool {
    matches!(character, '\u{a9}' | '\u{ae}' | '\u{203c}' | '\u{2049}' | '\u{2122}' | '\u{2139}' | '\u{2190}'..='\u{21ff}'
        | '\u{2300}'..='\u{23ff}' | '\u{2460}'..='\u{24ff}' | '\u{25a0}'..='\u{27bf}' | '\u{2900}'..='\u{297f}'
        | '\u{2b00}'..='\u{2bff}' | '\u{3030}' | '\u{303d}' | '\u{3297}' | '\u{3299}' | '\u{1f000}'..='\u{1faff}')
}

/// Whether `selector` chooses among variants of `base`.
fn is_variant(base: char, selector: char) -> bool {
    let is_ideograph =
        matches!(base, '\u{2e80}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{323af}');
    match selector {
        '\u{fe0e}' | '\u{fe0f}' => is_emoji(base),
        '\u{fe00}'..='\u{fe0d}' => {
            is_ideograph
                || matches!(base, '\u{1000}'..='\u{109f}' | '\u{2200}'..='\u{22ff}' | '\u{a9e0}'..='\u{aa7f}' | '\u{ff00}'..='\u{ffef}')
        }
        '\u{180b}'..='\u{180f}' => matches!(base, '\u{1800}'..='\u{18af}'),
        _ => is_ideograph,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn nothing_that_acts_on_a_terminal_stays() {
        assert_eq!(plain("a\u{1b}[31mred\u{7}\u{9b}0m\r\nb\tc\u{0}"), "a[31mred0m\nb\tc");
        assert_eq!(plain("admin\u{202e}nimda"), "adminnimda");
        assert_eq!(plain("10 %\r20 %\r\nend\u{2028}x"), "10 %\n20 %\nend\nx");
        assert!(matches!(plain("größe → ok"), Cow::Borrowed(_)));
    }

    #[test]
    fn what_no_reader_sees_goes() {
        assert_eq!(
            plain("gh\u{200b}p\u{2060}_\u{feff}a\u{ad}b\u{200d}c\u{200c}d\u{fe0f}e\u{e0100}"),
            "ghp_abcde"
        );
        assert_eq!(plain("ok\u{e0068}\u{e0069}\u{e007f}\u{200f}!"), "ok!");
        // Arbitrary bytes hide in a row of selectors.
        assert_eq!(plain("\u{2764}\u{fe0f}\u{fe01}\u{e0151}\u{e0142}!"), "\u{2764}\u{fe0f}!");
        assert_eq!(plain("پ\u{200c}\u{200c}\u{200d}hunter\u{200c}"), "پhunter");
        assert_eq!(plain("a\u{3164}b\u{115f}c\u{1160}d\u{ffa0}e\u{fff8}f 한글 ひ"), "abcdef 한글 ひ");
        assert_eq!(plain("a\u{3164}"), "a");
    }

    #[test]
    fn a_path_is_on_one_line_and_like_no_other() {
        assert_eq!(
            shown_path("src/a\nb\u{1b}[31m\u{202e}\u{200b}ü.rs"),
            "src/a\\nb\\u{1b}[31m\\u{202e}\\u{200b}ü.rs"
        );
        assert!(matches!(shown_path("src/größe.rs"), Cow::Borrowed(_)));
    }

    #[test]
    fn json_says_the_same_and_hides_nothing() {
        let json = "{\"a\": \"x\u{202e}\u{e0041}\u{7f}می\u{200c}ü\"}\r\n";
        let shown = "{\"a\": \"x\\u202e\\udb40\\udc41\\u007fمی\u{200c}ü\"}\r\n";
        assert_eq!(shown_json(json), shown);
        let read = |json: &str| serde_json::from_str::<serde_json::Value>(json).unwrap();
        assert_eq!(read(shown), read(json));
        assert!(matches!(shown_json("{}\n"), Cow::Borrowed(_)));
        assert_eq!(shown_json("{\"a\": \"x ###[b] ##Vso[\"}"), "{\"a\": \"x ##\\u0023[b] #\\u0023Vso[\"}");
    }

    #[test]
    fn no_line_is_a_command_of_a_build_host() {
        let text = "a\n::error file=x::y\n  ##vso[task.x]\n\t##teamcity[x]\nb ::error::\nsection_start:1:x\n::Debug::z\nc ###[set-output name=x]y ##VSO[a";
        let safe = "a\n\\::error file=x::y\n  #\\#vso[task.x]\n\t#\\#teamcity[x]\nb ::error::\n\\section_start:1:x\n\\::Debug::z\nc ##\\#[set-output name=x]y #\\#VSO[a";
        assert_eq!(without_commands(text), safe);
        assert_eq!(without_commands(safe), safe);
        for text in ["a\nb", "# x\n## y\n##z", "std::fs", "", "\n"] {
            assert!(matches!(without_commands(text), Cow::Borrowed(_)), "{text}");
        }
    }

    #[test]
    fn scripts_and_emoji_keep_what_they_need() {
        for text in [
            "می\u{200c}خواهم و نمی\u{200c}شود",
            "क\u{94d}\u{200d}ष और क\u{94d}\u{200c}ष",
            "ශ\u{dca}\u{200d}ර\u{dd3}",
            "\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467} \u{2764}\u{fe0f}\u{200d}\u{1f525} \u{1f44d}\u{1f3fd}",
            "1\u{fe0f}\u{20e3} \u{26a0}\u{fe0f} \u{1f3f3}\u{fe0f}\u{200d}\u{1f308} \u{1f1e9}\u{1f1ea}",
            "葛\u{e0100} \u{1820}\u{180b}",
        ] {
            assert!(matches!(plain(text), Cow::Borrowed(_)), "{text}");
        }
    }

    #[test]
    fn every_character_that_may_hide_is_looked_at() {
        for character in '\0'..=char::MAX {
            let hides = class(character) != Class::Seen;
            assert_eq!(may_hide(character.encode_utf8(&mut [0; 4])), hides, "{character:?}");
        }
    }

    proptest! {
        #[test]
        fn once_is_enough(text in "[a-z\u{200b}-\u{200f}\u{fe0f}\u{2764}\u{1f525}پس\r\n1\u{20e3}\u{e0100}葛\u{202e}\u{ad}\u{7f}]{0,24}") {
            let once = plain(&text).into_owned();
            prop_assert_eq!(plain(&once), &*once);
            prop_assert!(once.chars().all(|c| c == '\n' || !c.is_control()));
            let is_hidden = once.contains(['\u{200b}', '\u{200e}', '\u{200f}', '\u{202e}', '\u{ad}']);
            prop_assert!(!is_hidden);
            prop_assert_eq!(may_hide(&text), text.chars().any(|c| class(c) != Class::Seen));
            let letters = |text: &str| text.chars().filter(|c| class(*c) == Class::Seen && *c != '\n').collect::<String>();
            prop_assert_eq!(letters(&once), letters(&text));
        }
    }
}
