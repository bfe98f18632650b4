//! Made secrets in made surroundings, the same on every machine.
//!
//! The forms of the secrets are those of the rules of Kingfisher (<https://github.com/mongodb/kingfisher>),
//! which ours are not taken from. The secrets are drawn when they are needed:
//! written down, they would be taken for real ones by whoever scans this
//! repository.

#[path = "synthetic/contexts.rs"]
mod contexts;
#[path = "synthetic/kinds.rs"]
mod kinds;
#[path = "measure/random.rs"]
#[allow(dead_code, reason = "only numbers are drawn here")]
mod random;

use contexts::{CONTEXTS, MULTI_LINE};
use kinds::{KINDS, private_key};
use random::Random;

/// A text with a secret in it.
pub(crate) struct Sample {
    pub(crate) kind: &'static str,
    pub(crate) context: &'static str,
    pub(crate) text: String,
    /// What must not stay in the text.
    secret: String,
}

impl Sample {
    /// Whether nothing of the secret is left that would be worth having: no 12 bytes of it in a row.
    pub(crate) fn is_gone(&self, redacted: &str) -> bool {
        // A secret may itself hold what reads as an escape.
        let (plain, raw) = (contexts::without_percents(redacted), redacted.as_bytes());
        self.secret.split('\n').all(|line| {
            let length = line.len().clamp(1, 12);
            let is_in = |text: &[u8], part| text.windows(length).any(|window| window == part);
            line.as_bytes().windows(length).all(|part| !is_in(&plain, part) && !is_in(raw, part))
        })
    }
}

/// `n` secrets of each kind in each context that suits it.
pub(crate) fn samples(seed: u64, n: usize) -> Vec<Sample> {
    let mut random = Random(seed);
    let mut samples = Vec::new();
    for kind in KINDS {
        for context in CONTEXTS.iter().filter(|context| kind.is_known_alone || context.names) {
            for _ in 0..n {
                let secret = kind.draw(&mut random);
                let written = (context.write)(kind.name, &secret.whole, &mut random);
                let (kind, context) = (kind.kind, context.kind);
                samples.push(Sample { kind, context, text: written, secret: secret.drawn });
            }
        }
    }
    for label in ["RSA ", "EC ", "OPENSSH ", "", "ENCRYPTED "] {
        for (context, write) in MULTI_LINE {
            for _ in 0..n {
                let (key, drawn) = private_key(label, &mut random);
                let text = write(&key, &mut random);
                samples.push(Sample { kind: "private key", context, text, secret: drawn });
            }
        }
    }
    samples
}

/// The same surroundings with values that are no secrets.
pub(crate) fn controls(seed: u64, n: usize) -> Vec<Sample> {
    let mut random = Random(seed);
    let mut samples = Vec::new();
    for (kind, name, form) in kinds::HARMLESS {
        // What stands in place of a credential is one, whatever it looks like.
        for context in CONTEXTS.iter().filter(|context| context.kind != "authorization") {
            for _ in 0..n {
                let value = kinds::draw(form, &mut random);
                let text = (context.write)(name, &value.whole, &mut random);
                samples.push(Sample { kind, context: context.kind, text, secret: value.drawn });
            }
        }
    }
    samples
}
