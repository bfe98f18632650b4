//! A secret: where it is, and what it opens.

use std::{fmt, ops::Range};

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

/// What every replacement begins with.
pub(super) const REDACTED: &str = "[redacted:";

/// Where a secret lies.
///
/// Its ends never split a character.
#[derive(Debug)]
pub(super) struct Secret {
    pub(super) range: Range<usize>,
    pub(super) kind: Kind,
}

pub(super) fn has_digits(text: &[u8], secret: &Secret) -> bool {
    text[secret.range.clone()].iter().any(u8::is_ascii_digit)
}
