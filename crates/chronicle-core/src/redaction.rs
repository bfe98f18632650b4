//! Replaces the secrets in a text, so that they never touch disk.
//!
//! Three layers, each blind to what the one before has taken: the published forms of
//! tokens (`shapes`, `tokens`, `pem`), values that a telling name or program stands before (`names`,
//! `languages`, `context`, `commands`, `url`, `value`), and long runs that no human would have typed (`entropy`). Notes are prose
//! about code, so a word like `token` before a colon proves nothing: the value must look like a
//! secret as well. Where the two mistakes compete, a quoted string is taken for a secret and a
//! bare word for prose.
//!
//! Everything is a scan over bytes with bounded look-around and no regular expression, because
//! transcripts run to megabytes: one pattern of `regex-lite` alone takes several times as
//! long as all the rules here. `triggers` says where a rule may apply at all.
//!
//! Redacting twice must find nothing new, so a rule sees to its left what a second pass
//! would see (nothing before `floor`, the end of the last secret), and to its right it
//! refuses any value that holds a `[redacted:`.

mod above;
mod alphabet;
mod bytes;
mod clause;
mod commands;
mod context;
mod entropy;
mod groups;
mod languages;
mod lines;
mod names;
mod passphrase;
mod pem;
mod phrase;
mod shapes;
mod sql;
mod storage;
mod surroundings;
mod table;
mod tokens;
mod told;
mod triggers;
mod typed;
mod url;
mod value;

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

pub use storage::{Removed, cleaned, cleaned_in_lines, for_storage, named_for_storage, seen};

/// A text with its secrets replaced by `[redacted:kind]`.
#[derive(Debug, PartialEq, Eq)]
pub struct Redacted<'a> {
    /// The text, borrowed when there was nothing to replace.
    pub text: Cow<'a, str>,
    /// What was replaced, one for each secret, in the order of the text.
    pub found: Vec<Kind>,
}

/// What a secret opens, as far as its shape or its name tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// An age identity.
    AgeSecretKey,
    /// An Anthropic key.
    AnthropicKey,
    /// A key of some other service, or a value named as an API key, an access key or the like.
    ApiKey,
    /// The credential of an `Authorization` header.
    Authorization,
    /// The id of an AWS key, which is worth nothing without its secret but tells whose it is.
    AwsAccessKey,
    /// The secret half of an AWS key.
    AwsSecretKey,
    /// An Azure account key.
    AzureKey,
    /// A `Cookie` header that carries a session.
    Cookie,
    /// A crates.io token.
    CratesIoToken,
    /// A value named as a credential, of no more precise kind.
    Credential,
    /// A DigitalOcean token.
    DigitalOceanToken,
    /// A GitHub token.
    GithubToken,
    /// A GitLab token.
    GitlabToken,
    /// A Google API key, client secret or access token.
    GoogleKey,
    /// A long run of characters that looks drawn at random.
    HighEntropy,
    /// A Hugging Face token.
    HuggingFaceToken,
    /// A JSON web token.
    Jwt,
    /// An npm token.
    NpmToken,
    /// An OpenAI key, or one of its many imitators.
    OpenaiKey,
    /// A value named as a password, or the hash of one.
    Password,
    /// No secret by its looks: a human marked it as private.
    Private,
    /// A private key in PEM, or a value named so.
    PrivateKey,
    /// A PyPI token.
    PypiToken,
    /// A value named as a secret.
    Secret,
    /// A SendGrid key.
    SendgridKey,
    /// A Slack token.
    SlackToken,
    /// A Stripe key.
    StripeKey,
    /// The secret half of a Telegram bot token.
    TelegramToken,
    /// A token of some other service, or a value named as a token.
    Token,
    /// A Twilio key, or the id of its account.
    TwilioKey,
    /// The password inside a URL.
    UrlPassword,
    /// The signature of a URL that opens to anyone who has it.
    UrlSignature,
    /// An address that lets anyone post.
    Webhook,
}

impl Kind {
    /// The name in the replaced text.
    ///
    /// Stored texts hold these names, so they stay as they are.
    pub fn name(self) -> &'static str {
        match self {
            Self::AgeSecretKey => "age-secret-key",
            Self::AnthropicKey => "anthropic-key",
            Self::ApiKey => "api-key",
            Self::Authorization => "authorization",
            Self::AwsAccessKey => "aws-access-key",
            Self::AwsSecretKey => "aws-secret-key",
            Self::AzureKey => "azure-key",
            Self::Cookie => "cookie",
            Self::CratesIoToken => "crates-io-token",
            Self::Credential => "credential",
            Self::DigitalOceanToken => "digital-ocean-token",
            Self::GithubToken => "github-token",
            Self::GitlabToken => "gitlab-token",
            Self::GoogleKey => "google-key",
            Self::HighEntropy => "high-entropy",
            Self::HuggingFaceToken => "hugging-face-token",
            Self::Jwt => "jwt",
            Self::NpmToken => "npm-token",
            Self::OpenaiKey => "openai-key",
            Self::Password => "password",
            Self::Private => "private",
            Self::PrivateKey => "private-key",
            Self::PypiToken => "pypi-token",
            Self::Secret => "secret",
            Self::SendgridKey => "sendgrid-key",
            Self::SlackToken => "slack-token",
            Self::StripeKey => "stripe-key",
            Self::TelegramToken => "telegram-token",
            Self::Token => "token",
            Self::TwilioKey => "twilio-key",
            Self::UrlPassword => "url-password",
            Self::UrlSignature => "url-signature",
            Self::Webhook => "webhook",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Replaces every secret in `text` by `[redacted:kind]`.
///
/// Only the secret goes: names, quotes and URLs around it stay. Call it on whole texts: a
/// token cut in half by chunking is no longer recognised. The rules prefer to let a
/// password of letters alone in running prose pass over mutilating a sentence, so this is a safety net under
/// the author's care, not a licence to paste credentials.
pub fn redact(text: &str) -> Redacted<'_> {
    redact_with(text, Lost::Gone)
}

/// [`redact`] for texts whose lines are counted: a secret of several lines leaves as many of them behind.
pub fn redact_in_lines(text: &str) -> Redacted<'_> {
    redact_with(text, Lost::Kept)
}

/// What becomes of the line ends within a secret.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Lost {
    Gone,
    Kept,
}

fn redact_with(text: &str, line_ends: Lost) -> Redacted<'_> {
    let mut redacted = redact_once(text, line_ends);
    // In a tangle that only a fuzzer writes, a replacement can make a secret of what stands before it.
    while !redacted.found.is_empty() {
        let again = redact_once(&redacted.text, line_ends);
        if again.found.is_empty() {
            break;
        }
        redacted.found.extend(again.found);
        redacted.text = Cow::Owned(again.text.into_owned());
    }
    redacted
}

fn redact_once(text: &str, line_ends: Lost) -> Redacted<'_> {
    let secrets = find_all(text.as_bytes());
    if secrets.is_empty() {
        return Redacted { text: Cow::Borrowed(text), found: Vec::new() };
    }
    let mut redacted = String::with_capacity(text.len());
    let mut copied = 0;
    for secret in &secrets {
        redacted.push_str(&text[copied..secret.range.start]);
        redacted.push_str(REDACTED);
        redacted.push_str(secret.kind.name());
        redacted.push(']');
        if line_ends == Lost::Kept {
            let n_lines = text.as_bytes()[secret.range.clone()].iter().filter(|byte| **byte == b'\n').count();
            redacted.extend(std::iter::repeat_n('\n', n_lines));
        }
        copied = secret.range.end;
    }
    redacted.push_str(&text[copied..]);
    Redacted { text: Cow::Owned(redacted), found: secrets.iter().map(|secret| secret.kind).collect() }
}

/// What every replacement begins with.
const REDACTED: &str = "[redacted:";

/// Where a secret lies.
///
/// Its ends never split a character.
#[derive(Debug)]
struct Secret {
    range: Range<usize>,
    kind: Kind,
}

/// `range` with all of the characters that it begins or ends in: a rule that takes so many bytes at most may end within
/// one.
fn whole_characters(text: &[u8], range: Range<usize>) -> Range<usize> {
    let is_within = |at: usize| text.get(at).is_some_and(|byte| byte & 0b1100_0000 == 0b1000_0000);
    let start = (0..=range.start).rev().find(|at| !is_within(*at)).unwrap_or(0);
    let end = (range.end..text.len()).find(|at| !is_within(*at)).unwrap_or(text.len());
    start..end
}

/// Finds the secrets of all layers, from left to right, without overlap.
fn find_all(text: &[u8]) -> Vec<Secret> {
    let mut secrets = Vec::new();
    let mut floor = 0;
    let mut column: Option<table::Column> = None;
    // The next value of the column, which other secrets may be before.
    let mut cell: Option<Secret> = None;
    loop {
        cell = cell.filter(|cell| floor <= cell.range.start);
        let end = cell.as_ref().map_or(text.len(), |cell| cell.range.start);
        let Some(mut known) = triggers::find(&text[..end], floor).or_else(|| cell.take()) else { break };
        known.range.end = lines::end_of(text, &known);
        known.range = whole_characters(text, known.range);
        entropy::find_in(text, floor..known.range.start, &mut secrets);
        floor = known.range.end;
        if cell.is_none() {
            column = column.or_else(|| table::Column::of(text, &known));
            cell = column.as_mut().and_then(|column| column.next(text));
            column = column.filter(|_| cell.is_some());
        }
        secrets.push(known);
    }
    entropy::find_in(text, floor..text.len(), &mut secrets);
    secrets
}

#[cfg(test)]
mod tests;
