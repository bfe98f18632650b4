use std::borrow::Cow;

use proptest::prelude::*;

use super::{Kind, redact};

/// Checks that exactly the part between `«` and `»` is replaced, and that a second pass agrees.
///
/// A `¦` is dropped: it keeps scanners of this repository from taking the table for secrets.
fn check(kind: Kind, marked: &str) {
    let marked = marked.replace('¦', "");
    let (before, rest) = marked.split_once('«').expect("a row marks its secret");
    let (secret, after) = rest.split_once('»').expect("a row closes its mark");
    let redacted = redact(&marked.replace(['«', '»'], "")).text.into_owned();
    assert_eq!(redacted, format!("{before}[redacted:{kind}]{after}"), "in place of {secret}");
    assert_eq!(redact(&redacted).found, []);
}

fn check_untouched(text: &str) {
    let redacted = redact(text);
    assert_eq!(redacted.text, text);
    assert!(matches!(redacted.text, Cow::Borrowed(_)));
    assert_eq!(redacted.found, []);
}

#[test]
fn tokens_are_known_by_their_shape() {
    use Kind::*;
    for (kind, marked) in [
        (AwsAccessKey, "key «AK¦IAQ7XNB2RT4WLM9ZKD»."),
        (AwsAccessKey, "«AS¦IAQ7XNB2RT4WLM9ZKD»"),
        (GithubToken, "git clone with «gh¦p_4fKq9ZtLw2XvB7nRj8MdYc3HsPgA6eTu1oNi», please"),
        (GithubToken, "(«gh¦o_4fKq9ZtLw2XvB7nRj8MdYc3HsPgA6eTu1oNi»)"),
        (GithubToken, "«gh¦u_4fKq9ZtLw2XvB7nRj8MdYc3HsPgA6eTu1oNi»\n"),
        (GithubToken, "«gh¦s_12_eyJhbGciOiJIUzI1NiJ9.eyJpc3MiOiIxIn0.c2lnbmF0dXJlMTIz»."),
        (GithubToken, r"line\n«gh¦r_4fKq9ZtLw2XvB7nRj8MdYc3HsPgA6eTu1oNi»\n"),
        (GithubToken, "«github¦_pat_11AB4QXYA0z8dGh2kLmN5p_q7RsTuVwXyZ1a2B3c4D5e6F7g8H9i0J1k2L3m4N5o6P7»"),
        (GitlabToken, "«gl¦pat-x7Kq2Zt-Lw9XvB4nRj8M»"),
        (GitlabToken, "it is «gl¦wt-x7Kq2ZtLw9XvB4nRj8M3» there"),
        (
            ApiKey,
            "it is «am¦zn1.oa2-cs.v1.4f8a1c9e2b7d6053f4a8c1e9b2d7605f3a4c8e1b9d2f7065a3c4e8b1d9f27065» there",
        ),
        (Token, "it is «am¦zn.mws.4f8a1c9e-2b7d-6053-f4a8-c1e9b2d7605f» there"),
        (SlackToken, "«xo¦xb-2847561930-4829175630-fKq9ZtLw2XvB7nRj8MdYc3Hs»"),
        (SlackToken, "«xa¦pp-1-A02BCD3EF4G-1234567890123-9f8e7d6c5b4a»"),
        (Webhook, "POST https://«hooks.sl¦ack.com/services/T02AB3CD4/B05EF6GH7/x8Kq2ZtLw9XvB4nRj7MdYc3H»"),
        (AnthropicKey, "«sk-¦ant-api03-4fKq9ZtLw2XvB7nRj8MdYc3HsPg_A6eTu1oNi-AA»"),
        (OpenaiKey, "«sk-¦proj-4fKq9ZtLw2XvB7nRj8MdYc3HsPgA6eTu1oNi»"),
        (OpenaiKey, "«sk-¦4fKq9ZtLw2XvB7nRj8MdT3BlbkFJYc3HsPgA6eTu1oNi5xWz»"),
        (GoogleKey, "?key=«AI¦zaSyD4fKq9ZtLw2XvB7nRj8MdYc3HsPgA6eTu»&q=1"),
        (GoogleKey, "«ya¦29.a0AfB4fKq9ZtLw2XvB7nRj8MdYc3Hs-PgA6»"),
        (StripeKey, "«sk_¦live_4fKq9ZtLw2XvB7nRj8MdYc3H»"),
        (StripeKey, "«rk_¦live_4fKq9ZtLw2XvB7nRj8MdYc3H»"),
        (NpmToken, "«np¦m_4fKq9ZtLw2XvB7nRj8MdYc3HsPgA6eTu1oNi»"),
        (PypiToken, "«py¦pi-AgEIcHlwaS5vcmcCJDRmS3E5WnRMdzJYdkI3blJqOE1kWWMzSHNQZ0E2ZVR1»"),
        (CratesIoToken, "cargo login «ci¦o4fKq9ZtLw2XvB7nRj8MdYc3HsPgA6eTu»"),
        (HuggingFaceToken, "«hf¦_fKqZtLwXvBnRjMdYcHsPgAeTuoNiQwErTy»"),
        (DigitalOceanToken, "«do¦p_v1_4f8a1c9e2b7d6053f4a8c1e9b2d7605f3a4c8e1b9d2f7065a3c4e8b1d9f27065»"),
        (SendgridKey, "«S¦G.fKq9ZtLw2XvB7nRj8MdYc3.HsPgA6eTu1oNi5xWzQ4rVbK8mJd2yLpC7hGt3sFa0e»"),
        (TwilioKey, "«S¦K4f8a1c9e2b7d6053f4a8c1e9b2d7605f»"),
        (TelegramToken, "api.telegram.org/bot«5839201746:A¦AF4fKq9ZtLw2XvB7nRj8MdYc3HsPgA6eTu»/getMe"),
        (AgeSecretKey, "«AGE-SEC¦RET-KEY-1QWERTYUPASDFGHJKLZXCVNM234567QWERTYUPASDFGHJKLZXCVNM2345»"),
        (Jwt, "«eyJ¦hbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P»."),
        (Jwt, "cut short: «eyJ¦hbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0»"),
        (Authorization, "curl -H 'X: Bearer «4fKq9ZtLw2XvB7nRj8Md»'"),
        (Authorization, r#".header("Authorization", "Basic «dXNlcjpodW50ZXIyMg==»")"#),
    ] {
        check(kind, marked);
    }
}

#[test]
fn tokens_of_other_services_are_known_by_their_shape_too() {
    use Kind::*;
    for (kind, marked) in [
        (
            Token,
            "«pat¦4fKq9ZtLw2XvB7.4f8a1c9e2b7d6053f4a8c1e9b2d7605f3a4c8e1b9d2f7065a3c4e8b1d9f27065», and so on",
        ),
        (ApiKey, "(«LT¦AI4fKq9ZtLw2XvB7nRj8Md»)"),
        (Token, "«shp¦at_4f8a1c9e2b7d6053f4a8c1e9b2d7605f»"),
        (Token, "«dp¦.pt.4fKq9ZtLw2XvB7nRj8MdYc3HsPgA6eTu1oNi5xWzQ4r»."),
        (
            Token,
            "«4fKq9ZtLw2XvB7.atlas¦v1.4fKq9ZtLw2XvB7nRj8MdYc3HsPgA6eTu1oNi5xWzQ4rVbK8mJd2yLpC7hGt3sFa0eQ1w2E3»",
        ),
        (Token, "«4fK8Q¦~ZtLw2XvB7nRj8MdYc3HsPgA6eTu1oNi5x»"),
        (Token, "«4fKq9Z_tLw2XvB7nRj8MdYc3HsPgA6eTu1oN_m¦mk»"),
        (Password, "'«$2¦b$12$4fKq9ZtLw2XvB7nRj8MdYc3HsPgA6eTu1oNi5xWzQ4rVbK8mJd2yL»'"),
        (
            Webhook,
            "u=https%3A%2F%2F«hooks.sl¦ack.com%2Fservices%2FT02AB3CD4%2FB05EF6GH7%2Fx8Kq2ZtLw9XvB4nRj7MdYc3H»&n=1",
        ),
    ] {
        check(kind, marked);
    }
}

#[test]
fn groups_and_seeds_are_known_by_their_form() {
    use Kind::*;
    for (kind, marked) in [
        (Secret, "unlock with «447524-118085-331694-002431-660022-719268-027962-548900» once"),
        (Secret, "nats «SU¦APTGZ6JFEBZSDOXRLGQNBQRMKTSXFVYPLP6RFTASTM23S34KOTQCFC5R»"),
        (PrivateKey, "x = [\"«desc¦riptor:x25519:WQ7XNB2RT4WLM6ZKDFEQ2TLWXVBNRJMDYCHSPGAETUONIXWZQ4RV»\"]"),
        (Token, "kubeadm join «4fkq9z.tlw2xvb7nrj8mdyc»"),
        (Token, "X-Ctx: eu;«s.4fKq9ZtLw2XvB7nRj8MdYc3H»"),
        (Token, "with «Nz¦g0NjQ5OTI1NDI5MzE4OTUx.t-qscv.4fKq9ZtLw2XvB7nRj8MdYc3HsPgA6eTu1oNi5x» it fails"),
    ] {
        check(kind, marked);
    }
    // Numbers that 11 does not divide, and the digest of a bundle.
    check_untouched("447525-118085-331694-002431-660022-719268-027962-548900");
    check_untouched("https://example.com/assets/vendor.tlw2xvb7nrj8mdyc.js");
}

#[test]
fn names_need_no_separator_before_what_was_drawn() {
    use Kind::*;
    for (kind, marked) in [
        (ApiKey, "ENV DATADOG_API_KEY «4f8a1c9e2b7d6053f4a8c1e9b2d7605f»"),
        (ApiKey, "The datadog api key is «4f8a1c9e2b7d6053f4a8c1e9b2d7605f», as ever"),
        (ApiKey, "client.header(\"X-Api-Key\", \"«4fKq9ZtLw2XvB7nRj8Md»\")"),
        (Token, "<token>«4fKq9ZtLw2XvB7nRj8Md»</token>"),
        (AwsSecretKey, "aws configure set aws_secret_access_key «4fKq9ZtLw2XvB7nRj8MdYc3HsPgA6eTu1oNi5xWz»"),
        (ApiKey, "MAILGUN_KEY=«4f8a1c9e2b7d6053f4a8»"),
        (ApiKey, "api_key: «1b2c3d4e-5f60-7a8b-9c0d-1e2f3a4b5c6d»"),
        (Token, "vercel_token = \"«WjxQyNhMYUaYfTaKSjOGvZxP»\""),
        (Password, "the password is «hunter22», as ever"),
        (Password, "machine example.com login bob password «hunter22»\n"),
        (Password, "<dbPassword>«correcthorse»</dbPassword>"),
        (Password, "setenv(\"DB_PASSWORD\", \"«hunter22»\")"),
        (Password, "curl -u bob:«hunter22» https://example.com"),
        (Password, "curl --user bob:«hunter22» https://example.com"),
        (Password, "db_password%3D«hunter22»&x=1"),
        (UrlPassword, "https://«4fKq9ZtLw2XvB7nRj8Md»@example.com/x.git"),
        (UrlPassword, "u=postgres%3A%2F%2Fapp%3A«hunter2»%40db%3A5432"),
    ] {
        check(kind, marked);
    }
}

#[test]
fn a_private_key_goes_whatever_stands_before_its_lines() {
    let line = "MIIEpAIBAAKCAQEA4fKq9ZtLw2XvB7nRj8MdYc3HsPgA6eTu1oNi5xWzQ4rVbK8m";
    let (begin, end) = ("-----BEGIN PRIV¦ATE KEY-----", "-----END PRIVATE KEY-----");
    for before in ["+", "-", "# ", "   12\u{2192}", "key.pem:"] {
        check(
            Kind::PrivateKey,
            &format!("{before}«{begin}\n{before}{line}\n{before}{line}\n{before}{end}»\n"),
        );
    }
    // Nothing is lost between words about markers.
    let words = "the block ends far below, where there is another word. ".repeat(20);
    check_untouched(&format!("`{}` {words} `{end}`", begin.replace('¦', "")));
}

#[test]
fn a_private_key_goes_whole_or_as_far_as_it_is_there() {
    let body = "MIIEpAIBAAKCAQEA4fKq9ZtLw2XvB7nRj8MdYc3HsPgA6eTu1oNi5xWzQ4rVbK8m\nJd2yLpC7==";
    for label in ["", "RSA ", "OPENSSH ", "ENCRYPTED "] {
        let (begin, end) =
            (format!("-----BEGIN {label}PRIV¦ATE KEY-----"), format!("-----END {label}PRIVATE KEY-----"));
        check(Kind::PrivateKey, &format!("key:\n«{begin}\n{body}\n{end}»\nand more"));
        check(
            Kind::PrivateKey,
            &format!("«{begin}\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES,0A\n\n{body}»\nand more"),
        );
        check(
            Kind::PrivateKey,
            &format!(r#"{{"k": "«{}»\n"}}"#, format!("{begin}\n{body}\n{end}").replace('\n', r"\n")),
        );
    }
}

#[test]
fn values_are_known_by_their_names() {
    use Kind::*;
    for (kind, marked) in [
        (Password, "password = \"«hunter22»\""),
        (Password, "password: «hunter22»"),
        (Password, "the password: «Tr0ub4dor&3», as ever"),
        (Password, "**Password:** «Summer2024»"),
        (Password, "POSTGRES_PASSWORD=«letmein»\nPOSTGRES_USER=app"),
        (Password, "Server=db;Pwd=«letmein»;Port=1"),
        (Password, r#"{"user": "bob", "password": "«correcthorse»"}"#),
        (Password, r#"{\"user\": \"bob\", \"password\": \"«hunter22»\"}"#),
        (Password, "config['password'] = '«hunter22»'"),
        (Password, r#"const DB_PASSWORD: &str = "«hunter22»";"#),
        (Password, "if password == \"«hunter22»\" {"),
        (Password, "mysql --password «hunter22» -u root"),
        (Password, "mysql --password=«hunter22» -u root"),
        (Password, "passphrase: '«pâté-en-croûte-1815»'"),
        (Password, "PGPASSWORD=«hunter22» psql"),
        (Secret, "client_secret: «8fKq9ZtLw2Xv»"),
        (Secret, "clientSecret: '«8fKq9ZtLw2Xv»',"),
        (Secret, "SECRET_KEY_BASE=«4f8a1c9e2b7d6053f4a8c1e9b2d7605f3a4c»"),
        (Token, "token=«4f8a1c9e2b7d6053»"),
        (Token, "//registry.npmjs.org/:_authToken=«1b2c3d4e-5f60-7a8b-9c0d-1e2f3a4b5c6d»"),
        (Token, r#"let token = "«abc123def456»";"#),
        (ApiKey, "api_key: \"«abcd1234efgh5678»\""),
        (ApiKey, "X-API-Key: «4f8a1c9e2b7d6053»"),
        (ApiKey, "?apikey=«4f8a1c9e2b7d6053»&page=2"),
        (ApiKey, "the API key: «4f8a1c9e2b7d6053»"),
        (ApiKey, ":api_key => '«4f8a1c9e2b7d6053»'"),
        (ApiKey, "api_key := \"«4f8a1c9e2b7d6053»\""),
        (AwsSecretKey, "aws_secret_access_key = «wJalr9UtnFE¦MI/K7MDENG/bPxRfiCYzQ4rVbK8m»"),
        (AzureKey, "AccountName=x;AccountKey=«4fKq9ZtLw2XvB7nRj8MdYc3HsPgA6eTu1oNi==»;Endpoint"),
        (AzureKey, "SharedAccessKey=«4fKq9ZtLw2XvB7nRj8MdYc3HsPgA6eTu1oNi=»"),
        (UrlSignature, "https://a.blob.core.windows.net/c?sv=1&sig=«4fKq9ZtLw2XvB7nRj8Md%3D»&se=2"),
        (PrivateKey, "private_key = \"«4f8a1c9e2b7d60534f8a»\""),
        (Credential, "credentials: '«bob:hunter22x»'"),
        (Authorization, "Authorization: Bearer «abc123xyz»"),
        (Authorization, "authorization: Basic «dXNlcjpodW50ZXIyMg==»"),
        (Authorization, "-H \"Authorization: token «abc123xyz»\""),
        (Cookie, "Cookie: «theme=dark; sid=8fKq9ZtLw2Xv»"),
        (Cookie, "Set-Cookie: «session=8fKq9ZtLw2Xv; Path=/»; HttpOnly"),
        (Cookie, "PHPSESSID=«8f3kq9ztlw2xv7b»"),
        (UrlPassword, "postgres://app:«hunter2»@db:5432/app"),
        (UrlPassword, "redis://:«p@ssword»@host"),
        (UrlPassword, "https://user:«secret»@example.com/a:b@c"),
    ] {
        check(kind, marked);
    }
}

#[test]
fn passwords_go_whole_whatever_signs_they_hold() {
    // Each sign in the middle of one that was drawn, and behind a word.
    for sign in "()<>[]{}&;,|#!$=?*^~@%:+\"'`\\".chars() {
        for password in
            [format!("tR7kQ2{sign}mW9xL4pZ"), format!("kQ{sign}2mW9xL4pZ"), format!("sunshine{sign}99")]
        {
            check(Kind::Password, &format!("PORT=1\nDB_PASSWORD=«{password}»\nUSER=app\n"));
            check(Kind::Password, &format!("$ DB_PASSWORD=«{password}» ./run --now\n"));
            check(Kind::Password, &format!("export DB_PASSWORD=«{password}»"));
            let escaped = password.replace('\\', r"\\").replace('"', "\\\"");
            check(Kind::Password, &format!("{{\"password\": \"«{escaped}»\", \"port\": 1}}"));
            check(Kind::Password, &format!("const DB_PASSWORD: &str = \"«{escaped}»\";\n"));
            if sign != '\'' && sign != '\\' {
                check(Kind::Password, &format!("DB_PASSWORD='«{password}»'\n"));
            }
            if !"\"'`\\{}".contains(sign) {
                check(Kind::Password, &format!("db:\n  password: «{password}»\n  port: 1\n"));
            }
        }
    }
    for marked in [
        "SECRET_KEY=«django-insecure-7$b9toca#11&!00qp9z&8-%w4ka=$$(_9lznia&d!g-qo1my(=»",
        "SECRET_KEY = '«django-insecure-7$b9toca#11&!00qp9z&8-%w4ka=$$(_9lznia&d!g-qo1my(=»'",
    ] {
        check(Kind::ApiKey, marked);
    }
    for marked in [
        "DB_PASSWORD=\"«correct horse battery 7»\"",
        "{\"password\": \"«correct horse battery staple»\"}",
        "password = '«my 3 small cats»'",
        "db.example.com:5432:shop:bob:«hA4ieThijwSx»\nlocalhost:5432:*:bob:x",
        "tool --password '«aB3(x)y z7»' --dry",
        "password: '«cat''s tR7k»'",
        "DB_PASSWORD='«tR7k'\"Q2m\"'W9x'» ./run",
        "{\"run\": \"DB_PASSWORD='«tR7kQ2m»'\"}",
        "\"DB_PASSWORD=«tR7kQ2(mW9»\", \"PORT=1\"",
        "(`DB_PASSWORD=«tR7kQ2(mW9»`)",
        "(with DB_PASSWORD=«tR7kQ2mW9»)",
        "{\\\"password\\\": \\\"«tR7k\\\\\\\"Q2mW9»\\\"}",
        "Server=db;Pwd=«tR7k(Q2,mW9»;Port=1",
        "Password=«tR7k(Q2,mW9»;Server=db",
        "https://example.com/?a=1&password=«tR7k(Q2;mW9»&b=2",
        "config: DB_PASSWORD=«tR7k(Q2;mW9», retries=3",
        "redis-cli -a «tR7k)Q2;mW9» ping",
    ] {
        check(Kind::Password, marked);
    }
}

#[test]
fn messages_about_passwords_between_quotes_stay_whole() {
    for text in [
        "{\"password\": \"The password must have 8 characters\"}",
        "password: \"must be at least 12 characters long\"",
        "{\"password\": \"required|min:8\"}",
        "DB_PASSWORD=\"$(cat /run/secrets/db 2>&1)\"",
        "DB_PASSWORD=$(pwgen 12 1)",
        "PASSWORD=`pwgen 12 1`",
        "PASSWORD=config('PASSWORD_2')",
        "PASSWORD=getpass.getpass(prompt1)",
        "\"password\": \"{password1}\"",
        "\"password\": \"[A-Za-z0-9]{8,32}\"",
        "password: hash(input1, salt2),",
        "let password = Aligned64<[u8; 32]>::new();",
    ] {
        check_untouched(text);
    }
}

#[test]
fn a_secret_goes_on_in_the_lines_below() {
    for marked in [
        "export API_TOKEN=«4fKq9ZtLw2XvB7nRj8Md\nYc3HsPgA6eTu1oNi»\nbob@host:~$ ",
        "API_TOKEN=\"«4fKq9ZtLw2XvB7nRj8Md\\\nYc3HsPgA6eTu»\"\nPORT=1",
        "api_token = (\"«4fKq9ZtLw2XvB7nRj8Md\"\n    + \"Yc3HsPgA6eTu»\")\nport = 1",
        "> API token: «4fKq9ZtLw2XvB7nRj8Md\n> Yc3HsPgA6eTu1oNi»\n> and more words",
        "api_token:\n  value: >-\n    «4fKq9ZtLw2XvB7nRj8Md\n    Yc3HsPgA6eTu1oNi»\n  port: 1",
        "api_token: |\n  «4fKq9ZtLw2XvB7nRj8Md»\nport: 1",
        "API token:\n«4f8a1c9e2b7d6053f4a8c1e9b2d7605f»\nthat is all",
    ] {
        check(Kind::Token, marked);
    }
    check_untouched("the token:\nit is refreshed twice\nand kept");
}

#[test]
fn a_token_is_known_by_its_form_however_it_is_broken() {
    use Kind::*;
    for (kind, marked) in [
        (GithubToken, "from the terminal:\n«gh¦p_4fKq9ZtLw2XvB7n\nRj8MdYc3HsPgA6eTu1oNi»\nend"),
        (GithubToken, "> «gh¦p_4fKq9ZtLw2XvB7n\n> Rj8MdYc3HsPgA6eTu1oNi»\n> regards"),
        (GithubToken, "  7 | «gh¦p_4fKq9ZtLw2XvB7n\n  8 | Rj8MdYc3HsPgA6eTu1oNi»\n  9 | end"),
        (GithubToken, "│ «gh¦p_4fKq9ZtLw2XvB7n\n│ Rj8MdYc3HsPgA6eTu1oNi»\n└──"),
        (GithubToken, "Key: «gh¦p_4fKq9ZtLw2XvB7n=\nRj8MdYc3HsPg=\nA6eTu1oNi»\n"),
        (GithubToken, "x = (\n    'a: «gh¦p_4fKq9ZtLw2XvB7n'\n    'Rj8MdYc3HsPgA6eTu1oNi»'\n)"),
        (Token, "login --token=«4fKq9ZtLw2XvB7nRj8Md \\\n    Yc3HsPgA6eTu1oNi»\n"),
        (
            Webhook,
            "url = https://«hooks.sl¦ack.com/serv\nices/T02AB3CD4/B05EF6GH7/x8Kq2Zt\nLw9XvB4nRj7MdYc3H»\nend",
        ),
    ] {
        check(kind, marked);
    }
    check_untouched("sk-\nwhat-follows\nis-a-list-of-words\nand-nothing-else");
    check_untouched("see https://example.com/services/\nREADME2.md\nCONTRIBUTING.md");
    check_untouched("login --flag=x \\\n    --other-flag-of-it=y \\\n    --third\n");
}

#[test]
fn the_pieces_of_a_value_are_judged_together() {
    for marked in [
        "db_password = (\n    \"«goblin_lemon_hollow_\"\n    \"elbow_feather_indigo»\"\n)",
        "const dbPassword = '«urchin.parcel.magnet' +\n  '.raven.pepper.hammer7»';",
        "export DB_PASSWORD=«falafel-walnut-correct\\\n-engine-kernel-violin»\nPORT=80",
    ] {
        check(Kind::Password, marked);
    }
    check(
        Kind::Token,
        "+    github_token = \"«gpt_11RJKPWNIUB4KRKUZ1\" \\\n+        \"J416_18iiqtkaUWv7beq6VGLgG9Pe»\"",
    );
    check(Kind::Token, "let client_token = String::from(\"«s.ctOmm25ixVqljNI4SXv24nwt»\");");
    check_untouched("messages = (\n    \"the password\"\n    \" is required\"\n)");
    check_untouched("let token = String::from(\"required\");");
    check_untouched("PASSWORD_FILE=a/b\nOTHER_NAME=c-d-e-f");
}

#[test]
fn a_line_above_names_what_is_alone_in_its_line() {
    for marked in [
        "## Vercel token\n\n```\n«IN28h97AXnJzSG7GqOgagamF»\n```",
        "sara@build-03:~$ cat auth_token.txt\n«7a5b53c34084d1d903b0cc5a022f37cb»\nsara@build-03:~$ exit",
        "The bot token is\n«5896168346:AA_DckcoIC\nK6nZyApNUfeY02OWJPt5UjX72»\n(it was wrapped by the terminal)",
        ">>> cfg[\"codecov_token\"]\n\"«dcd07c04-2e05-4614-aec4-32e5f8e6cfa6»\"",
        "hey, the session token you asked for:\n\n«fcc09bc02f2d71d57f5c27af9ee035ec»\n\nthanks!",
    ] {
        check(Kind::Token, marked);
    }
    check(Kind::Password, "$ read -s PGPASSWORD\n$ echo $PGPASSWORD\n«o-mFiDQKiGkOVlN1vwaux»\n$ ./run");
    check(Kind::Password, "Username: sara\nPassword:\n  «ferrari.1987»\nPort: 22");
    check(Kind::Password, "## login password\n\n```\n«Y65WZ5-r$gFNpSl3,%veVfJ»\n```");
    for text in [
        "$ git rev-parse token\n7a5b53c34084d1d903b0cc5a022f37cb",
        "The tokenizer\n7a5b53c34084d1d903b0cc5a022f37cb",
        "token: [redacted:token]\n7a5b53c34084d1d903b0cc5a022f37cb",
        "Enter your password\nUsername2\n",
        "The commit hash is\n7a5b53c34084d1d903b0cc5a022f37cb7a5b53c3",
    ] {
        check_untouched(text);
    }
}

#[test]
fn a_password_may_be_before_its_name_or_in_its_column() {
    for marked in [
        "kofi@example.com / «Arsenal!123michelle» (MySQL root password for MySQL)",
        "the keystore password's «9cFb51-cm1qj7-QDpFcL» btw",
        "| host | login password | `«Chelsea@99charlie»` |",
        "[21:48] sara: password → «Hl04@,a>VHDA7K9_k»",
        "gh secret set DEFAULT_PASS --body '«harbor_anchor_goblin_badger_dolphin»' --repo a/web",
        "| service | user | password |\n|---|---|---|\n| mq | anna | «winterLiverpool42» |\n| x | bob | none |",
        " user | password\n------+---------\n anna | «winterLiverpool42»\n(1 row)",
    ] {
        check(Kind::Password, marked);
    }
    let table = "| user | password |\n|---|---|\n| anna | winterLiverpool42 |\n| bob | summerArsenal77 |\n";
    let redacted =
        "| user | password |\n|---|---|\n| anna | [redacted:password] |\n| bob | [redacted:password] |\n";
    assert_eq!(redact(table).text, redacted);
    check_untouched("Fixed the login (see the password page of step 2)");
    check_untouched("| user | password policy |\n|---|---|\n| anna42 | strict1234 |");
    check_untouched("gh issue create --body 'the secret set is bigger than 2 items'");
}

#[test]
fn words_that_make_a_secret_go_together() {
    let words = "donate tiny addict marble admit accident cake veteran agent green ahead wrong";
    for before in [
        "## seed phrase\n\n```\n",
        "seed phrase → ",
        "recovery phrase:\n\n    ",
        "SetVariable(\"MNEMONIC\", \"",
    ] {
        check(Kind::Secret, &format!("{before}«{words}»"));
    }
    check(Kind::Secret, &format!("Voici code secret pour BIP39 : «{words}»."));
    check(Kind::Password, "\"passphrase\": \"«staple.uncle.correct.kettle»\"");
    check(Kind::Password, "Redis password: «OrbitDominoCorrectGarnetRocketJacket!»");
    check_untouched("{\"password\": \"auth.login.form.title\"}");
    check_untouched("password: UserLoginFormComponent");
    check_untouched(&format!("The list: {words}"));
}

#[test]
fn a_name_may_be_written_elsewhere() {
    for marked in [
        "{\"name\":\"SNYK_TOKEN\",\"value\":\"«1b2c3d4e-5f60-7a8b-9c0d-1e2f3a4b5c6d»\"}",
        "- name: API_TOKEN\n  value: «4fKq9ZtLw2XvB7nRj8Md»\n",
        "variable \"api_token\" {\n  default = \"«4fKq9ZtLw2XvB7nRj8Md»\"\n}",
        "| service | API token |\n|---|---|\n| shop | «4f8a1c9e2b7d6053f4a8c1e9b2d7605f» |",
        "I found a hard-coded auth token in src/config.ts: \"«4f8a1c9e2b7d6053f4a8c1e9b2d7605f»\".",
        "We rotated the auth token yesterday, new one is «4f8a1c9e2b7d6053f4a8c1e9b2d7605f». Regards",
        "Use `«1b2c3d4e-5f60-7a8b-9c0d-1e2f3a4b5c6d»` as the access token for now.",
        "Voici le jeton d'accès : «4f8a1c9e2b7d6053f4a8c1e9b2d7605f»",
        "Токен: «1b2c3d4e-5f60-7a8b-9c0d-1e2f3a4b5c6d»",
        "访问令牌：«4f8a1c9e2b7d6053f4a8c1e9b2d7605f»",
    ] {
        check(Kind::Token, marked);
    }
    for text in [
        "the token cache is built from commit: 1170c0148e3e49603ec890ce8f994c2e78b361a9",
        "\"url\": \"https://github.com/a/php-jwt.git\", \"reference\": \"1170c0148e3e49603ec890ce8f994c2e78b361a9\"",
        "{\"name\":\"retries\",\"value\":\"4fKq9ZtLw2XvB7nRj8Md\"}",
        "the token was refreshed in session 1b2c3d4e-5f60-7a8b-9c0d-1e2f3a4b5c6d",
    ] {
        check_untouched(text);
    }
}

#[test]
fn groups_of_a_token_go_together() {
    use Kind::*;
    for (kind, marked) in [
        (Token, "it was «2/1620336007671803/4391292035528214:7bdb2a48eb8461648f12912f2fd66c70» before"),
        (Token, "use «9e451e48f5060c4f261422cc0ab3ee36-us4» now"),
        (Token, "use «e02f9a020e84593096c82d46ad3f5ab7-c6cb8e44-d73422bf» now"),
        (Token, "use «NTA3MTI0NDY3MzEyNTgzMTc4Mw.G1nBIA.x¦fEbbD-Vv0QofY7pt58_1s6Y1AtTaPZ-6R-74A» now"),
        (Token, "the token is «q362s2.bnjkh72psfyxkdvc», as ever"),
        (Token, "it takes «root@pam!ci=049a2282-818c-4011-a599-7c6be8956db0» only"),
        (
            Password,
            "hash «pbkdf2_sha256$600000$aH1nCW1iPFRbCqneOJ5Xku$J9V0+UsR7PnBXqxSW33b/zbxtGLQRygIKl4hwFmGGok=»",
        ),
        (
            Secret,
            "seed phrase: «lonely issue razor effort slight level doll suffer hurry reward autumn push»",
        ),
        (Password, "app password: «nayq qyho lhbs sril»"),
        (Password, "DB_PASSWORD=«willow-dragon-cactus-zebra»"),
        (Authorization, "Authorization: GenieKey «cd4d906b-c17a-40c9-b301-d5af5bee31ef»"),
        (
            PrivateKey,
            "«---- BEGIN SSH2 ENCRYPTED PRIV¦ATE KEY ----\nComment: \"x\"\nP2/56wAAAUwAAAA3aWYtbW9kbntzaWdue3JzYS1wa2NzMS1zaGExf\n---- END SSH2 ENCRYPTED PRIVATE KEY ----»\n",
        ),
    ] {
        check(kind, marked);
    }
}

#[test]
fn passwords_on_command_lines_may_be_weak() {
    for marked in [
        "mysqldump -u root -p«hunter» shop > shop.sql",
        "docker exec db mysql -uroot -p«correcthorse» -e 'select 1'",
        "/usr/bin/mysqladmin -p'«two words»' status",
        "mysql -u root \\\n  -p«Winter2024» shop",
        "mysql --user=root --password «sunshine» shop",
        "sshpass -p «letmein» ssh bob@host",
        "sshpass -p'«letmein»' ssh bob@host",
        "docker login -u bob -p «dragonfly» registry.example.com",
        "docker login --username bob --password «dragonfly»",
        "redis-cli -h cache -a «foobared» ping",
        "zip -r -P «monkeys» out.zip src",
        "cd out && 7z a -p«monkeys» out.7z src",
        "net use X: \\\\host\\share «Sommer» /user:bob",
        "net use \\\\host\\share /user:bob «Sommer»",
        "curl -u admin:«changeme» https://example.com",
        "curl -s -uadmin:«changeme» https://example.com",
        "curl --user admin:«changeme» https://example.com",
        "PGPASSWORD=«correctHorse» psql -h db",
    ] {
        check(Kind::Password, marked);
    }
}

#[test]
fn passwords_go_that_were_typed_for_a_user_a_database_or_a_key() {
    for marked in [
        "pass: «Hunter22»",
        "Pass: «Winter2024!»",
        "user: a pass: «hunter2»",
        "Login: bob\nPass: «s3cretx»",
        "{ user: 'a', pass: '«hunterx»' }",
        "CREATE USER 'a'@'%' IDENTIFIED BY '«hunter»';",
        "create user a identified by '«hunter»'",
        "ALTER USER a IDENTIFIED WITH mysql_native_password BY '«hunter»';",
        "ALTER USER a IDENTIFIED WITH 'caching_sha2_password' AS '«hunter»';",
        "CREATE USER a IDENTIFIED BY \"«Hunter22»\" ACCOUNT UNLOCK;",
        "ALTER USER a IDENTIFIED BY «hunterx» REPLACE old",
        "GRANT ALL ON *.* TO a IDENTIFIED BY '«hunter»' WITH GRANT OPTION;",
        "CREATE ROLE a LOGIN PASSWORD '«hunter»';",
        "ALTER USER a WITH ENCRYPTED PASSWORD '«hunter»';",
        "alter role a password '«hunter»'",
        "SET PASSWORD = '«hunter»';",
        "SET PASSWORD FOR 'a'@'%' = '«hunter»';",
        "SET PASSWORD FOR 'a'@'%' = PASSWORD('«hunter»');",
        "CREATE LOGIN a WITH PASSWORD = N'«Hunter22»';",
        "openssl rsa -in k -passin pass:«hunter» -out x",
        "openssl pkcs12 -export -passout pass:«hunter»",
        "openssl enc -aes-256-cbc -pass pass:«hunter» -in a",
        "openssl rsa -passin=pass:«hunter»",
        "change the password from old to «tiger33», please",
        "the password was changed from admin to '«tiger33»'",
    ] {
        check(Kind::Password, marked);
    }
    assert_eq!(
        redact("change the password from hunter2 to tiger3 today").text,
        "change the password from [redacted:password] to [redacted:password] today"
    );
    assert_eq!(
        redact("updated the password from `hunter2` to `tiger3`").text,
        "updated the password from `[redacted:password]` to `[redacted:password]`"
    );
    for text in [
        "pass: all of them",
        "the second pass: resolve names",
        "pass: render_12",
        "it is identified by its id, 'x' is not",
        "CREATE USER a IDENTIFIED BY '$DB_PASSWORD'",
        "CREATE USER a IDENTIFIED WITH auth_socket;",
        "ALTER TABLE a ADD COLUMN password text",
        "openssl rsa -passin env:KEY_PASS -out x",
        "openssl rsa -passin file:pass.txt -passout stdin",
        "docker run --password-file /run/x1y2 a",
        "moved the password check from utils22 to auth33",
        "we changed from hunter22 to tiger33",
        "read the password from stdin to memory",
    ] {
        check_untouched(text);
    }
}

#[test]
fn options_without_a_password_stay_whole() {
    for text in [
        "mysql -u root -p shop",
        "mysql -u root -p$PASSWORD shop",
        "mysql -u root -p\"$PASSWORD\" shop",
        "mysql -u root -pPASSWORD shop; mysql -pyour_password shop; mysql -p<password> shop",
        "docker run --name mysql -p3306:3306 mysql:8",
        "docker run -p 8080:80 image; mkdir -p some/folder; ssh -p 2222 host",
        "mysql -u root | grep -p something",
        "docker login -u bob -p $TOKEN; docker login -p ${{ secrets.TOKEN }}; docker login --password-stdin",
        "zip -P **** out.zip src; unzip -p out.zip name",
        "redis-cli -a \"$REDIS\" ping; ls -a folder; git commit -a",
        "curl -u $USER:$PASSWORD https://example.com; curl -u admin:<password> x; curl -u name: x",
        "net use X: \\\\host\\share * /user:bob; net use X: /delete; see docs/user:guide",
        "Run mysql with --password twice to confirm",
        "the docs/usage and user-agent and half-planned parts",
    ] {
        check_untouched(text);
    }
}

#[test]
fn passwords_are_announced_in_sentences_and_languages() {
    for marked in [
        "password: «Winter2024» and more",
        "Log in with password: «P@ssw0rd» as before.",
        "the password is «hunter22» for now",
        "The password for the staging database is «Winter2024», ask Bob",
        "the password of bob: «hunter22»",
        "pw: «Winter2024» works",
        "Mot de passe : «Hiver2024» pour la base",
        "Passwort: «Winter2024» bitte",
        "das Passwort ist «Winter2024» und bleibt so",
        "Das Passwort für die Datenbank lautet «Winter2024».",
        "Kennwort: «Sommer99»",
        "contraseña: «Verano2024» por ahora",
        "La Contraseña es «Verano2024»",
        "senha: «Verao2024» por enquanto",
        "密码：«Winter2024»，谢谢",
        "密码是 «Winter2024»",
        "密碼: «Winter2024»",
        "パスワードは«Winter2024»",
        "パスワード：«Winter2024»。",
        "пароль: «Zima2024» пока",
    ] {
        check(Kind::Password, marked);
    }
}

#[test]
fn a_sentence_may_tie_a_password_to_its_name_from_afar() {
    for marked in [
        "I rotated the password today, the new one is `«SIVkdfJw1y%6mHYni»`. Can you update CI?",
        "I rotated the password today, the new one is `«bracket harvest lemon dolphin arena delay»`.",
        "I found a password in config/prod («0X2y.70JHYMieU») and used it",
        "Here is my password so you can test: \"«7I_%7stg8dD^ba»\". It fails",
        "Q: What password do we use?\nA: «BZ~o+ncI1-nF»",
        "can someone send me the password?\njo 09:19  sure: «vvms-xnbd-flch-acql»\nlena  thx, works",
        "Voici le mot de passe pour Ansible : “«9F_tiQvd+5%eoU7ga+lG0W»”. Tu peux ?",
        "Bon, le mot de passe de SFTP est «0I?asnCmy-XDbY+p!hk», merci",
        "Te paso la contraseña (SFTP): «j~V^Ow!5AwvKxJaC53»",
        "Agora a senha do Redis é «mX_c#t-E8A!a67q94», não",
        "**Linux password** – `«NA-it9KkKEYkHe^2oa^C»` (rotated 501 days ago)",
        "ops;PostgreSQL;password;«JYje_Do48bB57_t-B»;2026-10-22",
        "the password of it: «lunar.castle.orbit.badge.artist»",
        "note: Wi-Fi password = «atom-donkey-planet76», expires",
        "printf '%s' '«dG5D6vEVF%~12wb»' | gcloud secrets versions add db --data-file=-",
        "echo «hunter22» | docker login -u bob --password-stdin ghcr.io",
    ] {
        check(Kind::Password, marked);
    }
    check(Kind::Token, "What token do we use?\nA: «3b492440b017273681cef1323df2895baa56b00d»");
    for text in [
        "https://example.com/login?next=%2Freset-password%2Fhelp%2F371",
        "Does the password work?\nlena: yes, since Monday",
        "the password for `SELECT a FROM b` is not in issue Abc1234",
        "A password is derived by PBKDF2-HMAC-SHA256 with 600000 rounds",
        "echo done | tee log.txt --append",
        "Which commit?\nA: 3b492440b017273681cef1323df2895baa56b00d",
    ] {
        check_untouched(text);
    }
}

#[test]
fn passwords_as_people_type_them_go_where_something_next_to_them_says_so() {
    use Kind::*;
    for (kind, marked) in [
        (ApiKey, "--api-key «DNxrilR!6543» --json"),
        (ApiKey, "apikey «hunter!2024»"),
        (Token, "curl -H \"X-Auth-Token: «Sommer#2024x»\" https://a.b"),
        (Token, "https://x/?a=1&access_token=«Winter$2024»&b=2"),
        (Token, "The token is «Sommer#2024x»."),
        (Token, "use «P@ssw0rd!» for the token"),
        (Secret, "«Tr0ub4dor&31» is the secret"),
        (Token, "token: |\n    «Kaffee+1234»\n"),
        (Password, "\"password\":\n   \"«Sommer2024~»\" in this place"),
        (Password, "password: |-\n  «Sommer^2024» in this place"),
        (Password, "use «Sommer#2024x» as the password, please"),
        (Password, "pass: «Berlin%1987» in the middle"),
        (Password, "login: admin / «Dragon*2025z»"),
        (Password, "Log in to the shop as admin/«Dragon2025!»"),
        (Password, "creds: bob@example.com / «Sommer#2024»"),
        (Password, "auth=(\"u\",\"«Sommer#2024»\")"),
        (Password, "db.connect(\"app\", \"«Sommer?2024x»\")"),
        (Password, "| root | «Sommer#2024» |"),
        (Password, "net user anna «Sommer#2024» /add"),
        (AwsSecretKey, "aws configure set aws_secret_access_key «wTXpKVe$4783»"),
        (Password, "echo «Sommer#2024» | sudo -S ls"),
        (Password, "sudo -S ls <<< '«Sommer#2024»'"),
        (Password, "echo \"root:«Sommer#2024»\" | sudo chpasswd"),
        (Password, "ssh-keygen -t rsa -N «Sommer#2024» -f k"),
        (Password, "keytool -genkey -keypass «Sommer#2024» -v"),
        (Password, "htpasswd -b .htpasswd anna «Sommer#2024»"),
        (Password, "ldapsearch -D cn=a -w «Sommer#2024» -x"),
    ] {
        check(kind, marked);
    }
}

#[test]
fn code_references_and_addresses_with_a_sign_are_no_typed_passwords() {
    for text in [
        "the token is in Issue#1234, see RFC#7519",
        "the token is at HEAD~12, main~12 or HEAD^2",
        "the key: Ctrl+Shift+F12",
        "token: Readme#L120",
        "see Token#validate2 for the token",
        "use react@18 for the token page, or eslint@9.1.2",
        "ssh login: admin root@server12",
        "creds of alice2024@example.com",
        "login: admin / $ADMIN_PASSWORD2",
        "login: admin / %PASSWORD2%",
        "creds: admin / docs/Build#2024",
        "login icon: icon-login@2x",
        "token=%s12345&x=1",
        "api_key=abc%20def1",
        "api_key: prefix+name1",
        "api_key: apiKey$1",
        "token is offset+20 or offset*1024",
        "token: user2?.token",
        "token is count2!(x)",
        "token 2024-11-27T10:00:00+0100",
        "token v1.2.3+build2024",
        "--color-token: gray-100!important",
        "echo Build#2024 | sudo tee /etc/build",
        "echo net.core.x2=abc!12 | sudo sysctl -p",
        "tests pass: 120+34failed, 100%coverage2",
        "<apiKey>prefix&#10;suffix</apiKey>",
        "connect() takes a port, see joyent/node#9268",
        "[redacted:github-token] «Sommer#2024x»",
        "Sommer#2024 was warm, and so was Dragon2025!",
    ] {
        check_untouched(text);
    }
}

#[test]
fn words_about_passwords_stay_whole_in_all_languages() {
    for text in [
        "password: string and password = get_password() and password: Option<String>",
        "password: bcrypt of the salted input; password: sha256 and more",
        "the password for the staging database is in the vault",
        "the password for step 12 of chapter 4 is wrong",
        "Mot de passe : obligatoire",
        "Passwort: <passwort> oder ********",
        "Das Passwort ist falsch",
        "contraseña: obligatoria, mínimo 12 caracteres",
        "密码：必填，至少 12 个字符",
        "密码错误",
        "パスワードは必須です",
        "raw: 4 rows, view: table22 and new: x",
        "tool_use_id=toolu_01bXPVWnPh7n9U6fS1sjCMPw attempt=1",
    ] {
        check_untouched(text);
    }
}

#[test]
fn long_random_runs_need_no_name() {
    for marked in [
        "it printed «8fKq9ZtLw2XvB7nRj8MdYc3HsPgA6eTu1oNi5xWz» once",
        "data: \"«fKq9+tLw2XvB7/Rj8MdYc3HsPgA6eTu1oNi5xWzQ4rVbK8mJd2y==»\"",
        "https://example.com/?x=«8fKq9ZtLw2XvB7nRj8MdYc3HsPgA6eTu1oNi5xWz»",
        "«q7x2m9k4v8b3n6z1t5w0r2y7p4j8h3g6f9d1s5a0»",
    ] {
        check(Kind::HighEntropy, marked);
    }
}

#[test]
fn every_secret_is_told_in_order() {
    let text = "password=hunter22 then 8fKq9ZtLw2XvB7nRj8MdYc3HsPgA6eTu1oNi5xWz then redis://:hunter2@h";
    let redacted = redact(text);
    assert_eq!(redacted.found, [Kind::Password, Kind::HighEntropy, Kind::UrlPassword]);
    assert_eq!(
        redacted.text,
        "password=[redacted:password] then [redacted:high-entropy] then redis://:[redacted:url-password]@h"
    );
}

#[test]
fn prose_about_secrets_stays_whole() {
    for text in [
        "",
        "The token: see below.",
        "the secret: never block here",
        "password: required, at least 12 characters",
        "auth: add retry to the login flow",
        "auth: oauth2 is handled by the gateway",
        "password: sha256 of the salted input",
        "unexpected token: expected `;`",
        "error: invalid token: '}' at line 3",
        "Credentials: ask Bob, he keeps them in the vault.",
        "The private key: rotate it every 90 days",
        "Basic authentication is refused, bearer tokens only.",
        "Use Bearer authentication-with-refresh as before",
        "`-----BEGIN PRIVATE KEY-----` starts the block; we stop at -----END PRIVATE KEY-----.",
        "Set-Cookie: the header that the proxy strips",
        "Cookie: theme=dark; lang=en",
        "token: 这是一个令牌",
        "the api key: ask the platform team for one",
        "`--token` is read before `--password`; pass --password twice to confirm",
        "export GITHUB_TOKEN=ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "set ANTHROPIC_API_KEY=sk-ant-... in the environment",
        "an eyJ prefix marks a JWT; eyJhbGci... is its header",
        "PWD=/home/bob/src/chronicle",
        "password=********",
        "password=******** attempt=1",
        "the password is required2 when it is set",
        "(\"password\", \"Passwort\")",
        "<label>Password</label>",
        "docker run -u 1000:1000 image",
        "the primary key is id_of_the_row_in_the_table",
        "password: <your password>",
        "api_key: your-api-key-here1",
        "https://user:${PASSWORD}@host/",
        "https://user:***@host/",
        "ssh://git@github.com:22/x.git and git@github.com:a/b.git",
        "http://localhost:3000/@scope/package",
    ] {
        check_untouched(text);
    }
}

#[test]
fn code_about_secrets_stays_whole() {
    for text in [
        "max_tokens = 2000",
        "token_count: usize",
        "password: &str",
        "fn login(password: String, token: Option<String>) -> Result<Session>",
        "password: Aligned64<[u8; 32]>",
        "let token = self.next_token();",
        "let token = tokens[0];",
        "token = lexer.peek2",
        "const SECRET: &str = env!(\"SECRET\");",
        "let key = std::env::var(\"API_KEY\")?;",
        "api_key = os.environ[\"API_KEY\"]",
        "apiKey: process.env.API_KEY,",
        "api_key: \"process.env.API_KEY_2\"",
        "api_key = std::env::var(\"API_KEY_2\").ok()",
        "TOKEN=${GITHUB_TOKEN}",
        "TOKEN=$GITHUB_TOKEN_2",
        "token: ${{ secrets.GITHUB_TOKEN }}",
        "password: \"{{ vault_password_1 }}\"",
        "password = None",
        "secret: null",
        "\"token\": true",
        "login(username=username, password=password)",
        "{\"token\": {\"type\": \"string\"}}",
        "\"password\": \"string\"",
        "println!(\"token: {token}\")",
        "printf(\"password: %s\\n\", password)",
        "Token::Secret(value) => token = value,",
        "self.token == other.token",
        "if token != expected_token2 {",
        "secret: Box<dyn Secret>",
        "private_key: X509RequestInheritOptions",
        "private_key: \"/etc/ssl/private/server1.pem\"",
        "SELECT * FROM users WHERE password = :password1",
        "password: ENC[vault,1]",
        "token: 0x1f2e3d4c",
        "token: 1_000_000",
        "auth: src/auth/oauth2.rs:42",
        "#[arg(long, env = \"TOKEN\")] token: Option<String>,",
        "assert_eq!(pool.acquire(), Err(Error::Timeout));",
    ] {
        check_untouched(text);
    }
}

#[test]
fn public_random_values_stay_whole() {
    for text in [
        "commit 1170c0148e3e49603ec890ce8f994c2e78b361a9 (c314de6)",
        "sha256 e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "\"integrity\": \"sha512-fKq9ZtLw2XvB7nRj8MdYc3HsPgA6eTu1oNi5xWzQ4rVbK8mJd2yLpC7hGt3sFa0eQ1w2E3r4T5y6U7i8O9p0Aa==\"",
        "SHA256:fKq9ZtLw2XvB7nRj8MdYc3HsPgA6eTu1oNi5xWzQ4rV",
        "golang.org/x/sys v0.1.0 h1:fKq9ZtLw2XvB7nRj8MdYc3HsPgA6eTu1oNi5xWzQ4rV=",
        "Change-Id: I1170c0148e3e49603ec890ce8f994c2e78b361a9",
        "Digest: sha-256=ZZrdIqrdaFvk1bYUM6My5MiODyu8BuY9CNTH7Z91Tpk=",
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIVUJyCS031QZ0KOF9t4YO3E7N4OSHODSilDqL9dXwjC bob@host",
        "age1907z4v8lxcyaln2jvt7ajp3wms66kkupwrhsylyuhcpcu45m9lkqpd3803",
        "PublicKey = 7O1bw0j4HgjuqIjz+eUlt9TGbjEaRp/il6gv8Oz+ew0=",
        "/nix/store/4k9p7vvjdp3cqqx6dc0qhirhnplz8nbx-openssl-3.0.14/bin/openssl",
        "-----BEGIN CERTIFICATE-----\nMIIDfTCCAmWgAwIBAgIU7v3H65sKbGPPQo1r5MuZ5gm2RueCXOgmeJlcQwhZfd\n9Chw7eotA95ftzUuHcXe9il77ZGTjt75j8caioc4Jw1o3AzoIHML0ZmdeBix1oO\n-----END CERTIFICATE-----",
        "Auth0: 1170c0148e3e49603ec890ce8f994c2e78b361a9",
        "session 1b2c3d4e-5f60-7a8b-9c0d-1e2f3a4b5c6d",
        "session-01HXYZ4Q7V8N9M2K3J4H5G6F7D.json",
        "h-k4q7zt2lw5xvbnrj3mdyc6hspg",
        "\"sketch\": \"1:fKq9ZtLw2XvB7nRj8MdYc3HsPgA6eTu1oNi5xWzQ4rV\"",
        "agent_msg_01fKq9ZtLw2XvB7nRj8MdYc3HsPgA6",
        "primary_key: 4fKq9ZtLw2XvB7nRj8Md",
        "cache key: 4f8a1c9e2b7d6053f4a8c1e9b2d7605f",
        "i=sha512-fKq9ZtLw2X%2FvB7nRj8MdYc3HsPgA6eTu1oNi5xWzQ4rVbK8mJd2yLpC7hGt3sFa0eQ1w2E3%3D%3D",
        "toolu_01fKq9ZtLw2XvB7nRj8MdYc3 call_fKq9ZtLw2XvB7nRj8MdYc3HsPgA6",
        "msg_01fKq9ZtLw2XvB7nRj8MdYc3HsPgA6 req_011fKq9ZtLw2XvB7nRj8MdYc3",
        "target/debug/deps/chronicle_core-4f8a1c9e2b7d6053",
        "crates/chronicle-core/src/redaction/x86_64/utf8_to_utf16.rs",
        "chronicle_core::redaction::entropy::is_random_enough_for_v2",
        "WHvRunVpExitReasonX64ApicInitSipiTrap",
        "szOID_RSA_SHA256_with_AES128_and_base64url_v2",
        "a_test_name_that_says_what_is_true_of_utf8_in_32_bytes",
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
        "_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE4_RepC1Ev",
        "pip/utils.py,sha256=fKq9ZtLw2XvB7nRj8MdYc3HsPgA6eTu1oNi5xWzQ4rV,1665",
        "0xd583265f12ce1f8153f955076a9af49b",
        "https://docs.example.com/d/8fKq9ZtLw2XvB7nRj8MdYc3HsPgA6eTu1oNi5xWz/edit",
        "![x](data:image/png;base64,fKq9ZtLw2XvB7nRj8MdYc3HsPgA6eTu1oNi5xWzQ4rV)",
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk",
    ] {
        check_untouched(text);
    }
}

/// Pieces that begin, end or resemble secrets, to be joined at random.
const PIECES: &[&str] = &[
    "password",
    "token",
    "api_key",
    "Authorization",
    "Cookie",
    "sid",
    "--password ",
    "mysql ",
    " -p",
    "net use ",
    " /user:",
    "密码：",
    "，",
    ":",
    "=",
    ": ",
    " = ",
    "://",
    "@",
    "?sig",
    "\"",
    "'",
    "\\\"",
    "\\",
    "\\n",
    "\n",
    " ",
    "-",
    "_",
    ".",
    "/",
    "[",
    "]",
    "(",
    "{",
    "%3D",
    "…",
    "é",
    "«",
    "&",
    ";",
    "::",
    "[redacted:",
    "[redacted:token]",
    "Bearer ",
    "Basic ",
    "gh\u{70}_",
    "sk-\u{61}nt-",
    "SG.",
    "ey\u{4a}",
    "AK\u{49}A",
    "-----BEGIN RSA PRIVATE\u{20}KEY-----",
    "-----END ",
    "sha512-",
    "1:",
    "AAF",
    "5839201746",
    "Sommer#2024",
    "hunter!22",
    "login ",
    " | sudo -S",
    "echo ",
    "<password>",
    "</",
    ">",
    "key",
    "_KEY=",
    " is ",
    ", ",
    "-u bob:",
    "%3A",
    "%2F%2F",
    "%40",
    ".atlasv1.",
    "Q~",
    "_mmk",
    "shp\u{61}t_",
    "pat",
    "1b2c3d4e-5f60-7a8b-9c0d-1e2f3a4b5c6d",
    "hunter22",
    "xxxxxx",
    "Q7XNB2RT4WLM9ZKD",
    "4fKq9ZtLw2XvB7nRj8MdYc3HsPgA6eTu1oNi",
    "hbGciOiJIUzI1NiJ9",
    "4f8a1c9e2b7d6053f4a8c1e9b2d7605f",
];

fn tangle() -> impl Strategy<Value = String> {
    let piece = prop_oneof![9 => prop::sample::select(PIECES).prop_map(str::to_owned), 1 => any::<String>()];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

/// The parts of `text` around anything that looks like a replacement.
fn around_replacements(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("[redacted:") {
        parts.push(before);
        rest = after.trim_start_matches(|letter: char| letter.is_ascii_lowercase() || letter == '-');
        rest = rest.strip_prefix(']').unwrap_or(rest);
    }
    parts.push(rest);
    parts
}

#[test]
fn tangles_that_a_fuzzer_found_are_redacted_once_and_for_all() {
    for tangle in [
        "pwd:pwd :r22pa=\"h\0t&w%",
        "_KEY=``\\a",
        "-----BEGIN PRIVATE KEY-----\nDEK-Info: KEY: OEY----ord < \u{695}2hu\0rd =Eub\u{14}pwIN PRIrd =Eub\u{14}pwIN \
         PRIVATE KEY-----\nDEK-Info: KEY: KEY:pVATE KEY-----\nDEK-Info: KEY: KEY:pw@hbc --=a535\u{13}7absha512-////x\
         ?sig=a56XXXdefgh//////////x?smg=a53578abcdefe\0r\0",
    ] {
        let once = redact(tangle);
        assert_eq!(redact(&once.text).found, [], "{:?}", once.text);
    }
    let long = format!("net use /user:{} x", "a1.b".repeat(80));
    assert_eq!(redact(&long).text, long);
    let within = redact("password--password %2F%2F?sig\"Q7XNB2RT4WLM9ZKD").text;
    assert_eq!(within, "password--password %2F%2F?sig\"[redacted:password]");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn any_text_is_redacted_once_and_for_all(text in any::<String>()) {
        let once = redact(&text).text.into_owned();
        prop_assert_eq!(redact(&once).found, []);
    }

    #[test]
    fn tangled_secrets_are_redacted_once_and_for_all(text in tangle()) {
        let once = redact(&text);
        let again = redact(&once.text);
        prop_assert_eq!(&again.found, &[], "{:?}", once.text);
        prop_assert_eq!(once.found.is_empty(), once.text == text);
    }

    #[test]
    fn what_is_no_secret_stays_in_its_order(text in tangle()) {
        let redacted = redact(&text).text.into_owned();
        let mut rest = text.as_str();
        for part in around_replacements(&redacted) {
            let found = rest.find(part);
            prop_assert!(found.is_some(), "{part:?} is gone");
            rest = &rest[found.unwrap() + part.len()..];
        }
    }

    #[test]
    fn a_secret_goes_and_its_surroundings_stay(before in "[\\PC&&[^:=@\"'`]]{0,40}", after in "[\\PC&&[^:=@\"'`]]{0,40}") {
        prop_assume!(redact(&before).found.is_empty());
        let secret = concat!("gh", "p_4fKq9ZtLw2XvB7nRj8MdYc3HsPgA6eTu1oNi");
        let redacted = redact(&format!("{before} {secret} {after}")).text.into_owned();
        // A word before it, such as `pw`, may name another kind of secret.
        let kind = redacted.strip_prefix(&format!("{before} [redacted:"));
        let kind = kind.and_then(|rest| rest.strip_suffix(&format!("] {after}")));
        let is_kind = |kind: &str| kind.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-');
        prop_assert!(kind.is_some_and(is_kind), "{redacted:?}");
    }

    // Without the letters of the short names, such as `pw` and `key`: what follows those may be a password.
    #[test]
    fn plain_words_come_back_borrowed(text in "([a-jl-oq-su-zA-JL-OQ-SU-Zäß]{1,20}[ .,;!?\n]{1,2}){0,60}") {
        prop_assert!(matches!(redact(&text).text, Cow::Borrowed(_)));
    }
}

#[test]
fn a_long_value_ends_between_characters() {
    for n_letters in 0..4 {
        let text = format!("token = \"{}{}\"", "Zq7".repeat(n_letters), "\u{fffd}".repeat(200));
        let once = redact(&text);
        assert_eq!(redact(&once.text).found, []);
        let text = format!("token = \"{}7{}a1B2c3\"", "Zq".repeat(n_letters), "\u{fffd}é".repeat(120));
        let once = redact(&text);
        assert_eq!(redact(&once.text).found, []);
    }
    let text = std::iter::once("token = \"Zq7").chain(std::iter::repeat_n("\u{fffd}", 120));
    let text: String = text.chain(["xa1B2c3D4e5F6\""]).collect();
    assert_eq!(redact(&text).found, [Kind::Token]);
}
