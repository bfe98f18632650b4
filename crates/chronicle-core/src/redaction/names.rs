//! The names of values that are secret.

use super::bytes::is_base64url;
use super::secret::Kind;

/// What a name says about its value.
#[derive(Clone, Copy)]
pub(super) struct Name {
    pub(super) kind: Kind,
    /// Whether it may as well name something harmless, so that the value has to prove itself.
    pub(super) is_vague: bool,
}

/// What names end in, without separators. The first that fits wins.
const NAMES: &[(&str, Kind)] = &[
    ("password", Kind::Password),
    ("passwd", Kind::Password),
    ("passphrase", Kind::Password),
    ("passcode", Kind::Password),
    ("pwd", Kind::Password),
    ("pw", Kind::Password),
    ("securestring", Kind::Password),
    ("passwort", Kind::Password),
    ("kennwort", Kind::Password),
    ("wachtwoord", Kind::Password),
    ("motdepasse", Kind::Password),
    ("contrasena", Kind::Password),
    ("senha", Kind::Password),
    ("heslo", Kind::Password),
    ("passord", Kind::Password),
    ("adgangskode", Kind::Password),
    ("salasana", Kind::Password),
    ("parola", Kind::Password),
    ("lozinka", Kind::Password),
    ("psk", Kind::Password),
    ("mnemonic", Kind::Secret),
    ("seedphrase", Kind::Secret),
    ("recoveryphrase", Kind::Secret),
    ("recoverycode", Kind::Secret),
    ("backupcode", Kind::Secret),
    ("scratchcode", Kind::Secret),
    ("noncesalt", Kind::Secret),
    ("authsalt", Kind::Secret),
    ("loggedinsalt", Kind::Secret),
    // `pass` alone is a step of a compiler or the luck of a test.
    ("dbpass", Kind::Password),
    ("mailpass", Kind::Password),
    ("mysqlpass", Kind::Password),
    ("rootpass", Kind::Password),
    ("smtppass", Kind::Password),
    ("becomepass", Kind::Password),
    ("sshpass", Kind::Password),
    ("apppass", Kind::Password),
    ("adminpass", Kind::Password),
    ("bindpass", Kind::Password),
    ("ftppass", Kind::Password),
    ("emailpass", Kind::Password),
    ("redispass", Kind::Password),
    ("pgpass", Kind::Password),
    ("userpass", Kind::Password),
    ("requirepass", Kind::Password),
    ("masterauth", Kind::Password),
    ("passwordhash", Kind::Password),
    ("secretseed", Kind::Secret),
    ("walletseed", Kind::Secret),
    ("stellarseed", Kind::Secret),
    ("secret", Kind::Secret),
    ("secretkeybase", Kind::Secret),
    ("token", Kind::Token),
    ("jwt", Kind::Token),
    ("secretaccesskey", Kind::AwsSecretKey),
    ("awssecretkey", Kind::AwsSecretKey),
    ("accountkey", Kind::AzureKey),
    ("sharedaccesskey", Kind::AzureKey),
    ("privatekey", Kind::PrivateKey),
    ("apikey", Kind::ApiKey),
    ("appkey", Kind::ApiKey),
    ("applicationkey", Kind::ApiKey),
    ("setupkey", Kind::ApiKey),
    ("servicekey", Kind::ApiKey),
    ("clientkey", Kind::ApiKey),
    ("webhookkey", Kind::ApiKey),
    ("licensekey", Kind::ApiKey),
    ("integrationkey", Kind::ApiKey),
    ("routingkey", Kind::ApiKey),
    ("adminkey", Kind::ApiKey),
    ("writekey", Kind::ApiKey),
    ("globalkey", Kind::ApiKey),
    ("accountapikey", Kind::ApiKey),
    ("accesskey", Kind::ApiKey),
    ("authkey", Kind::ApiKey),
    ("encryptionkey", Kind::ApiKey),
    ("masterkey", Kind::ApiKey),
    ("secretkey", Kind::ApiKey),
    ("signingkey", Kind::ApiKey),
    ("phpsessid", Kind::Cookie),
    ("jsessionid", Kind::Cookie),
    ("cookie", Kind::Cookie),
    ("authorization", Kind::Authorization),
    ("credential", Kind::Credential),
    ("credentials", Kind::Credential),
];

/// Names that say little.
const VAGUE: &[(&str, Kind)] =
    &[("key", Kind::ApiKey), ("pat", Kind::Token), ("pass", Kind::Password), ("auth", Kind::Credential)];

/// Names that end like secrets and hold none.
const PUBLIC: &[&str] = &[
    "publickey",
    "primarykey",
    "foreignkey",
    "partitionkey",
    "sortkey",
    "cachekey",
    "idempotencykey",
    "rowkey",
    "objectkey",
];

/// How long an ending is that may as well end a random id, and counts only behind a separator.
const WORD_OF_ITS_OWN: usize = 2;

/// How long the longest ending is.
const LONGEST: usize = 16;

/// For each last letter and the one before it, one more than the number of the first name that ends so.
static FIRST: [usize; 26 * 26] = CHAINS.0;

/// For each name, the same of the next one with its last two letters.
static NEXT: [usize; NAMES.len()] = CHAINS.1;

const CHAINS: ([usize; 26 * 26], [usize; NAMES.len()]) = {
    let (mut first, mut next) = ([0; 26 * 26], [0; NAMES.len()]);
    // From the last to the first, so that each comes before those that it is in front of.
    let mut n = NAMES.len();
    while 0 < n {
        n -= 1;
        let name = NAMES[n].0.as_bytes();
        let ends = ends(name[name.len() - 1], name[name.len() - 2]);
        next[n] = first[ends];
        first[ends] = n + 1;
    }
    (first, next)
};

const fn ends(last: u8, before: u8) -> usize {
    (last - b'a') as usize * 26 + (before - b'a') as usize
}

/// For each last letter, the letters before it that any name has.
const LAST_TWO: [u32; 26] = {
    let mut table = [0; 26];
    let mut n = 0;
    while n < NAMES.len() + VAGUE.len() {
        let name = if n < NAMES.len() { NAMES[n].0 } else { VAGUE[n - NAMES.len()].0 }.as_bytes();
        assert!(name.len() <= LONGEST, "a name is too long");
        table[(name[name.len() - 1] - b'a') as usize] |= 1 << (name[name.len() - 2] - b'a');
        n += 1;
    }
    table
};

/// What the name at the end of `text` says, whatever its case, separators and number.
///
/// A name may have several words: `API key`, `api_key`, `apiKey2`.
pub(super) fn find(text: &[u8]) -> Option<Name> {
    let letters = text.iter().rev().take_while(|byte| is_base64url(byte) || matches!(byte, b' ' | b'.'));
    let mut letters = letters
        .skip_while(|byte| byte.is_ascii_digit())
        .filter(|byte| byte.is_ascii_alphanumeric())
        .map(u8::to_ascii_lowercase);
    let (last, before) = (letters.next()?, letters.next()?);
    if !last.is_ascii_lowercase() || !before.is_ascii_lowercase() {
        return None;
    }
    if LAST_TWO[usize::from(last - b'a')] & 1 << (before - b'a') == 0 {
        return None;
    }
    let mut tail = [0; LONGEST];
    (tail[LONGEST - 1], tail[LONGEST - 2]) = (last, before);
    tail[..LONGEST - 2].iter_mut().rev().zip(letters).for_each(|(place, letter)| *place = letter);
    let fits = |ending: &str| {
        tail.ends_with(ending.as_bytes()) && (WORD_OF_ITS_OWN < ending.len() || is_word(text, ending.len()))
    };
    let mut near = FIRST[ends(last, before)];
    while let Some(n) = near.checked_sub(1) {
        let (ending, kind) = NAMES[n];
        if fits(ending) {
            return Some(Name { kind, is_vague: false });
        }
        near = NEXT[n];
    }
    if PUBLIC.iter().any(|ending| tail.ends_with(ending.as_bytes())) {
        return None;
    }
    let (_, kind) = VAGUE.iter().find(|(ending, _)| tail.ends_with(ending.as_bytes()))?;
    Some(Name { kind: *kind, is_vague: true })
}

/// Whether the last `len` letters of `text` are not the end of a longer word.
fn is_word(text: &[u8], len: usize) -> bool {
    let n_behind = text.iter().rev().take_while(|byte| !byte.is_ascii_alphabetic()).count();
    text.iter().rev().nth(n_behind + len).is_none_or(|before| !before.is_ascii_alphanumeric())
}
