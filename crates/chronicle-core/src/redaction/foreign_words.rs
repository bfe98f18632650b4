//! Words for secrets in languages whose letters are not all ASCII.

use super::secret::Kind;

/// A word, and where in it the two bytes stand by which it is looked for.
pub(super) struct Word {
    pub(super) word: &'static str,
    pub(super) near: usize,
}

pub(super) const WORDS: &[Word] = &[
    Word { word: "contraseña", near: 8 },
    Word { word: "пароль", near: 10 },
    Word { word: "密码", near: 4 },
    Word { word: "密碼", near: 4 },
    Word { word: "パスワード", near: 13 },
    Word { word: "비밀번호", near: 10 },
    Word { word: "hasło", near: 3 },
    Word { word: "şifre", near: 0 },
    Word { word: "Şifre", near: 0 },
    Word { word: "lösenord", near: 2 },
    Word { word: "jelszó", near: 4 },
    Word { word: "senha", near: 2 },
    Word { word: "mot de passe", near: 0 },
];

/// Words for keys, tokens and secrets, which name what is drawn in the same sentence.
pub(super) const NOUNS: &[(&str, Kind)] = &[
    ("Schlüssel", Kind::ApiKey),
    ("schlüssel", Kind::ApiKey),
    ("clé", Kind::ApiKey),
    ("clave", Kind::ApiKey),
    ("chave", Kind::ApiKey),
    ("chiave", Kind::ApiKey),
    ("klucz", Kind::ApiKey),
    ("Klucz", Kind::ApiKey),
    ("klíč", Kind::ApiKey),
    ("nyckel", Kind::ApiKey),
    ("anahtar", Kind::ApiKey),
    ("ключ", Kind::ApiKey),
    ("Ключ", Kind::ApiKey),
    ("密钥", Kind::ApiKey),
    ("密鑰", Kind::ApiKey),
    ("金鑰", Kind::ApiKey),
    ("キー", Kind::ApiKey),
    ("鍵", Kind::ApiKey),
    ("키", Kind::ApiKey),
    ("jeton", Kind::Token),
    ("Jeton", Kind::Token),
    ("Zugriffstoken", Kind::Token),
    ("токен", Kind::Token),
    ("Токен", Kind::Token),
    ("令牌", Kind::Token),
    ("トークン", Kind::Token),
    ("토큰", Kind::Token),
    ("segredo", Kind::Secret),
    ("Segredo", Kind::Secret),
    ("secreto", Kind::Secret),
    ("segreto", Kind::Secret),
    ("Geheimnis", Kind::Secret),
    ("sekret", Kind::Secret),
    ("секрет", Kind::Secret),
    ("Секрет", Kind::Secret),
    ("シークレット", Kind::Secret),
    ("秘密", Kind::Secret),
    ("시크릿", Kind::Secret),
];
