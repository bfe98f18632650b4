//! From text to tokens, as BERT and its kin have them.
//!
//! Words are cut at spaces and around punctuation and Chinese letters, in lower case and without accents where the model
//! wants them so, and taken apart into the longest pieces of the vocabulary. Of `tokenizer.json` only what this needs is
//! read. Its other kinds (BPE, Unigram) belong to models that are larger, or not for English.

use std::collections::HashMap;

use serde::Deserialize;
use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};

/// What is longer is one unknown token.
const LONGEST_WORD: usize = 100;

/// The vocabulary of a model.
#[derive(Debug)]
pub(crate) struct WordPiece {
    vocabulary: HashMap<String, i32>,
    is_lower_case: bool,
    strips_accents: bool,
    unknown: i32,
    /// The tokens that stand before and behind every text.
    pub(crate) frame: [i32; 2],
}

#[derive(Deserialize)]
struct TokenizerFile {
    model: ModelPart,
    normalizer: Option<NormalizerPart>,
}

#[derive(Deserialize)]
struct ModelPart {
    #[serde(rename = "type")]
    kind: Option<String>,
    #[serde(default)]
    vocab: serde_json::Value,
    unk_token: Option<String>,
    continuing_subword_prefix: Option<String>,
}

#[derive(Deserialize)]
struct NormalizerPart {
    #[serde(rename = "type")]
    kind: Option<String>,
    lowercase: Option<bool>,
    strip_accents: Option<bool>,
}

impl WordPiece {
    /// Reads `tokenizer.json`.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(crate) fn read(json: &[u8]) -> Result<Self, String> {
        let file: TokenizerFile = serde_json::from_slice(json).map_err(|error| error.to_string())?;
        let kind = file.model.kind.as_deref().unwrap_or("WordPiece");
        let prefix = file.model.continuing_subword_prefix.as_deref().unwrap_or("##");
        if kind != "WordPiece" || prefix != "##" {
            return Err(format!("it is of the kind {kind} with `{prefix}`, not WordPiece with `##`"));
        }
        let normalizer = file.normalizer.filter(|part| part.kind.as_deref() == Some("BertNormalizer"));
        let normalizer = normalizer.ok_or("it has no BertNormalizer")?;
        let vocabulary: HashMap<String, i32> =
            serde_json::from_value(file.model.vocab).map_err(|error| error.to_string())?;
        let id = |token: &str| {
            vocabulary.get(token).copied().ok_or_else(|| format!("its vocabulary has no `{token}`"))
        };
        let is_lower_case = normalizer.lowercase.unwrap_or(true);
        Ok(Self {
            unknown: id(file.model.unk_token.as_deref().unwrap_or("[UNK]"))?,
            frame: [id("[CLS]")?, id("[SEP]")?],
            is_lower_case,
            strips_accents: normalizer.strip_accents.unwrap_or(is_lower_case),
            vocabulary,
        })
    }

    /// The tokens of `text`, without the frame.
    pub(crate) fn tokens(&self, text: &str) -> Vec<i32> {
        let mut tokens = Vec::new();
        let mut word = String::new();
        for letter in self.normalized(text).chars() {
            let stands_alone = is_punctuation(letter) || is_chinese(letter);
            if letter.is_whitespace() || stands_alone {
                self.add_word(&mut word, &mut tokens);
            }
            if !letter.is_whitespace() {
                word.push(letter);
            }
            if stands_alone {
                self.add_word(&mut word, &mut tokens);
            }
        }
        self.add_word(&mut word, &mut tokens);
        tokens
    }

    fn normalized(&self, text: &str) -> String {
        let kept = text.chars().filter(|letter| letter.is_whitespace() || !is_invisible(*letter));
        let plain: String = if self.strips_accents {
            kept.nfd().filter(|letter| !is_combining_mark(*letter)).collect()
        } else {
            kept.collect()
        };
        if self.is_lower_case { plain.to_lowercase() } else { plain }
    }

    /// Takes a word apart into the longest pieces that there are, and clears it.
    fn add_word(&self, word: &mut String, tokens: &mut Vec<i32>) {
        if let Some(pieces) = self.pieces(word) {
            tokens.extend(pieces);
        } else {
            tokens.push(self.unknown);
        }
        word.clear();
    }

    /// The pieces of a word; `None` where the vocabulary does not reach.
    fn pieces(&self, word: &str) -> Option<Vec<i32>> {
        if LONGEST_WORD < word.chars().count() {
            return None;
        }
        let mut pieces = Vec::new();
        let mut start = 0;
        while start < word.len() {
            let head = if start == 0 { "" } else { "##" };
            let ends = word[start..].char_indices().map(|(at, letter)| start + at + letter.len_utf8());
            let longest = ends.rev().find_map(|end| {
                let id = self.vocabulary.get(&format!("{head}{}", &word[start..end]))?;
                Some((end, *id))
            });
            let (end, id) = longest?;
            pieces.push(id);
            start = end;
        }
        Some(pieces)
    }
}

fn is_invisible(letter: char) -> bool {
    letter.is_control()
        || matches!(u32::from(letter),
            0xad | 0x61c | 0x200b..=0x200f | 0x202a..=0x202e | 0x2060..=0x206f | 0xfeff | 0xfffd)
}

/// What BERT takes for punctuation: all marks of ASCII, and the blocks that hold nearly all others.
fn is_punctuation(letter: char) -> bool {
    letter.is_ascii_punctuation()
        || matches!(u32::from(letter),
            0xa1 | 0xa7 | 0xab | 0xb6..=0xb7 | 0xbb | 0xbf | 0x60c | 0x61b | 0x61f | 0x964..=0x965
            | 0x2010..=0x2027 | 0x2030..=0x205e | 0x3001..=0x3003 | 0x3008..=0x3011 | 0x3014..=0x301f
            | 0xff01..=0xff0f | 0xff1a..=0xff1b | 0xff1f..=0xff20)
}

fn is_chinese(letter: char) -> bool {
    matches!(u32::from(letter), 0x3400..=0x4dbf | 0x4e00..=0x9fff | 0xf900..=0xfaff | 0x2_0000..=0x2_fa1f)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A tokenizer of a few words.
    pub(crate) const JSON: &str = r###"{"normalizer": {"type": "BertNormalizer", "lowercase": true},
        "model": {"type": "WordPiece", "unk_token": "[UNK]", "vocab": {"[UNK]": 1, "[CLS]": 2, "[SEP]": 3,
        "the": 4, "pool": 5, "wait": 6, "##s": 7, "##ing": 8, "!": 9, "cafe": 10, "池": 11}}}"###;

    fn tokens(text: &str) -> Vec<i32> {
        WordPiece::read(JSON.as_bytes()).expect("it is one").tokens(text)
    }

    #[test]
    fn words_are_taken_apart_into_the_longest_pieces() {
        assert_eq!(tokens("The pools\twaiting!"), [4, 5, 7, 6, 8, 9]);
        assert_eq!(tokens("Café cafe\u{301}"), [10, 10]);
        assert_eq!(tokens("池池pool"), [11, 11, 5]);
        assert_eq!(tokens(" \u{0}"), [0; 0]);
    }

    #[test]
    fn a_word_that_cannot_be_taken_apart_is_one_unknown_token() {
        assert_eq!(tokens("waited пул"), [1, 1]);
        assert_eq!(tokens(&"wait".repeat(26)), [1]);
    }

    #[test]
    fn a_file_of_another_kind_is_refused() {
        let check = |json: &str, reason: &str| {
            let error = WordPiece::read(json.as_bytes()).expect_err("it is of another kind");
            assert!(error.contains(reason), "{error}");
        };
        check("{", "EOF");
        check("{}", "missing field `model`");
        check(&JSON.replace("WordPiece", "Unigram"), "Unigram");
        check(&JSON.replace("BertNormalizer", "NFC"), "BertNormalizer");
        check(&JSON.replace("[SEP]", "</s>"), "[SEP]");
        check(&JSON.replace(": 11", ": \"x\""), "invalid type");
    }
}
