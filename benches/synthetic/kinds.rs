//! The forms of secrets, and drawing one.

use super::random::Random;

/// A kind of secret.
pub(crate) struct Kind {
    pub(crate) kind: &'static str,
    /// The variable that it is kept in.
    pub(crate) name: &'static str,
    /// `{40:hex}` stands for 40 drawn digits.
    form: &'static str,
    /// Whether its form tells what it is; else only its name does.
    pub(crate) is_known_alone: bool,
}

const fn known(kind: &'static str, name: &'static str, form: &'static str) -> Kind {
    Kind { kind, name, form, is_known_alone: true }
}

const fn named(kind: &'static str, name: &'static str, form: &'static str) -> Kind {
    Kind { kind, name, form, is_known_alone: false }
}

/// In alphabetical order; 90 characters and more are drawn where a form says so.
pub(crate) const KINDS: &[Kind] = &[
    known("Adafruit IO", "ADAFRUIT_IO_KEY", "aio_{28:alnum}"),
    known("age", "AGE_KEY", "AGE-SECRET-KEY-1{58:UPPER}"),
    known("Airtable", "AIRTABLE_TOKEN", "pat{14:lower}.{64:hex}"),
    known("Alibaba Cloud", "ALIBABA_ACCESS_KEY_ID", "LTAI{20:lower}"),
    known("Anthropic", "ANTHROPIC_API_KEY", "sk-ant-api03-{93:url}AA"),
    known("Artifactory", "ARTIFACTORY_API_KEY", "AKCp{69:alnum}"),
    known("AWS access key", "AWS_ACCESS_KEY_ID", "AKIA{16:UPPER}"),
    named("AWS secret key", "AWS_SECRET_ACCESS_KEY", "{40:base64}"),
    named("AWS session token", "AWS_SESSION_TOKEN", "{180:base64}"),
    known("Azure storage", "AZURE_STORAGE_CONNECTION", "AccountName=store1;AccountKey={86:base64}=="),
    named("Azure OpenAI", "AZURE_OPENAI_API_KEY", "{32:hex}"),
    known("Buildkite", "BUILDKITE_API_TOKEN", "bkua_{40:lower}"),
    known("ClickUp", "CLICKUP_TOKEN", "pk_{8:digit}_{32:UPPER}"),
    named("CircleCI", "CIRCLECI_TOKEN", "{40:hex}"),
    named("Cloudflare", "CLOUDFLARE_API_TOKEN", "{40:url}"),
    known("Contentful", "CONTENTFUL_TOKEN", "CFPAT-{43:url}"),
    known("crates.io", "CARGO_REGISTRY_TOKEN", "cio{32:alnum}"),
    known("Databricks", "DATABRICKS_TOKEN", "dapi{32:hex}"),
    named("Datadog", "DATADOG_API_KEY", "{32:hex}"),
    known("DigitalOcean", "DIGITALOCEAN_TOKEN", "dop_v1_{64:hex}"),
    known("Discord webhook", "DISCORD_WEBHOOK_URL", "https://discord.com/api/webhooks/{18:digit}/{68:url}"),
    known("Docker Hub", "DOCKER_TOKEN", "dckr_pat_{27:url}"),
    known("Doppler", "DOPPLER_TOKEN", "dp.pt.{43:alnum}"),
    known("Dropbox", "DROPBOX_ACCESS_TOKEN", "sl.{135:url}"),
    known("Dynatrace", "DYNATRACE_TOKEN", "dt0c01.{24:UPPER}.{64:UPPER}"),
    known("EasyPost", "EASYPOST_API_KEY", "EZAK{54:alnum}"),
    known("ElevenLabs", "ELEVENLABS_API_KEY", "sk_{48:hex}"),
    named("Fastly", "FASTLY_API_TOKEN", "{32:url}"),
    known("Figma", "FIGMA_TOKEN", "figd_{40:url}"),
    known("Frame.io", "FRAMEIO_TOKEN", "fio-u-{64:url}"),
    known("GitHub", "GITHUB_TOKEN", "ghp_{36:alnum}"),
    known("GitHub app", "GH_APP_TOKEN", "ghs_{36:alnum}"),
    known("GitHub, fine-grained", "GITHUB_PAT", "github_pat_{22:alnum}_{59:alnum}"),
    known("GitLab", "GITLAB_TOKEN", "glpat-{20:url}"),
    known("GitLab runner", "RUNNER_TOKEN", "GR1348941{20:url}"),
    known("Google API key", "GOOGLE_API_KEY", "AIza{35:url}"),
    known("Google client secret", "GOOGLE_CLIENT_SECRET", "GOCSPX-{28:url}"),
    known("Google access token", "GOOGLE_ACCESS_TOKEN", "ya29.{140:url}"),
    known("Grafana", "GRAFANA_TOKEN", "glsa_{32:alnum}_{8:hex}"),
    known("Groq", "GROQ_API_KEY", "gsk_{52:alnum}"),
    named("Heroku", "HEROKU_API_KEY", "{8:hex}-{4:hex}-{4:hex}-{4:hex}-{12:hex}"),
    known("HubSpot", "HUBSPOT_TOKEN", "pat-na1-{8:hex}-{4:hex}-{4:hex}-{4:hex}-{12:hex}"),
    known("Hugging Face", "HF_TOKEN", "hf_{34:letter}"),
    known("JSON web token", "SESSION_JWT", "eyJ{33:url}.eyJ{150:url}.{43:url}"),
    known("Linear", "LINEAR_API_KEY", "lin_api_{40:lower}"),
    named("Mailchimp", "MAILCHIMP_API_KEY", "{32:hex}-us12"),
    known("Mailgun", "MAILGUN_API_KEY", "key-{32:lower}"),
    known("MaxMind", "MAXMIND_LICENSE_KEY", "{6:alnum}_{29:alnum}_mmk"),
    known("MongoDB", "MONGODB_URI", "mongodb+srv://app:{16:alnum}@cluster0.example.net/app"),
    known("New Relic", "NEW_RELIC_API_KEY", "NRAK-{27:UPPER}"),
    known("Notion", "NOTION_TOKEN", "secret_{43:alnum}"),
    known("npm", "NPM_TOKEN", "npm_{36:alnum}"),
    known("NuGet", "NUGET_API_KEY", "oy2{43:lower}"),
    known("NVIDIA", "NVIDIA_API_KEY", "nvapi-{64:url}"),
    known("OpenAI", "OPENAI_API_KEY", "sk-{48:alnum}"),
    known("OpenAI project", "OPENAI_API_KEY", "sk-proj-{74:url}T3BlbkFJ{74:url}"),
    named("password", "DB_PASSWORD", "{14:password}"),
    known("PlanetScale", "PLANETSCALE_TOKEN", "pscale_tkn_{43:url}"),
    known("PostgreSQL", "DATABASE_URL", "postgres://app:{20:alnum}@db.internal:5432/app"),
    known("Postman", "POSTMAN_API_KEY", "PMAK-{24:hex}-{34:hex}"),
    known("Pulumi", "PULUMI_ACCESS_TOKEN", "pul-{40:hex}"),
    known("PyPI", "PYPI_TOKEN", "pypi-AgEIcHlwaS5vcmc{120:url}"),
    named("RapidAPI", "RAPIDAPI_KEY", "{50:alnum}"),
    known("Readme", "README_API_KEY", "rdme_{70:lower}"),
    known("Replicate", "REPLICATE_API_TOKEN", "r8_{37:alnum}"),
    known("RubyGems", "RUBYGEMS_API_KEY", "rubygems_{48:hex}"),
    known("SendGrid", "SENDGRID_API_KEY", "SG.{22:url}.{43:url}"),
    known("Sendinblue", "SENDINBLUE_API_KEY", "xkeysib-{64:hex}-{16:lower}"),
    named("Sentry", "SENTRY_AUTH_TOKEN", "{64:hex}"),
    known("Shopify", "SHOPIFY_ACCESS_TOKEN", "shpat_{32:hex}"),
    known("Slack bot", "SLACK_BOT_TOKEN", "xoxb-{12:digit}-{13:digit}-{24:alnum}"),
    known("Slack app", "SLACK_APP_TOKEN", "xapp-1-A{10:UPPER}-{13:digit}-{64:hex}"),
    known(
        "Slack webhook",
        "SLACK_WEBHOOK_URL",
        "https://hooks.slack.com/services/T{9:UPPER}/B{9:UPPER}/{24:alnum}",
    ),
    known("Sonar", "SONAR_TOKEN", "squ_{40:hex}"),
    known("Sourcegraph", "SRC_ACCESS_TOKEN", "sgp_{40:hex}"),
    known("Square", "SQUARE_ACCESS_TOKEN", "sq0atp-{22:url}"),
    known("Stripe", "STRIPE_SECRET_KEY", "sk_live_{24:alnum}"),
    known("Stripe restricted", "STRIPE_KEY", "rk_live_{99:alnum}"),
    known("Supabase", "SUPABASE_ACCESS_TOKEN", "sbp_{40:hex}"),
    known("Tailscale", "TS_AUTHKEY", "tskey-auth-{16:alnum}-{32:alnum}"),
    known("Telegram", "TELEGRAM_BOT_TOKEN", "{10:digit}:AA{33:url}"),
    known("Terraform Cloud", "TFE_TOKEN", "{14:alnum}.atlasv1.{67:alnum}"),
    known("Twilio", "TWILIO_API_KEY", "SK{32:hex}"),
    named("Twilio, account", "TWILIO_AUTH_TOKEN", "{32:hex}"),
    known("Typeform", "TYPEFORM_TOKEN", "tfp_{59:url}"),
    named("Vercel", "VERCEL_TOKEN", "{24:alnum}"),
    known("xAI", "XAI_API_KEY", "xai-{80:alnum}"),
];

/// What is drawn at random and opens nothing, or is no value at all.
pub(crate) const HARMLESS: &[(&str, &str, &str)] = &[
    ("commit", "COMMIT_ID", "{40:hex}"),
    ("short commit", "HEAD_COMMIT", "{7:hex}"),
    ("SHA-256", "CHECKSUM", "{64:hex}"),
    ("UUID", "REQUEST_ID", "{8:hex}-{4:hex}-4{3:hex}-a{3:hex}-{12:hex}"),
    ("integrity", "INTEGRITY", "sha512-{86:base64}=="),
    ("call of a tool", "TOOL_USE_ID", "toolu_01{22:alnum}"),
    ("message", "MESSAGE_ID", "msg_01{22:alnum}"),
    ("path", "CONFIG_PATH", "/home/bob/src/{8:lower}/target/debug/deps/core-{16:hex}"),
    ("address", "BASE_URL", "https://example.com/builds/{24:hex}/log"),
    ("version", "VERSION", "v1.{2:digit}.0-rc.{1:digit}"),
    ("number", "MAX_TOKENS", "{6:digit}"),
    ("placeholder", "API_KEY", "your-api-key-here"),
    ("reference", "AUTH_TOKEN", "${AUTH_TOKEN}"),
    ("stars", "PASSWORD", "********"),
];

/// What was drawn: all of it, and the parts that are secret, one in a line.
pub(crate) struct Drawn {
    pub(crate) whole: String,
    pub(crate) drawn: String,
}

impl Kind {
    pub(crate) fn draw(&self, random: &mut Random) -> Drawn {
        draw(self.form, random)
    }
}

/// Draws what `form` says.
pub(crate) fn draw(form: &str, random: &mut Random) -> Drawn {
    let mut drawn = Drawn { whole: String::new(), drawn: String::new() };
    let mut rest = form;
    while let Some((before, after)) = rest.split_once('{').filter(|(before, _)| !before.ends_with('$')) {
        let (length, after) = after.split_once(':').expect("a form says how many");
        let (letters, after) = after.split_once('}').expect("a form closes its braces");
        let length: usize = length.parse().expect("a form says how many");
        let part = part(length, letters, random);
        drawn.whole.push_str(before);
        drawn.whole.push_str(&part);
        if 12 <= length {
            drawn.drawn.push_str(&part);
            drawn.drawn.push('\n');
        }
        rest = after;
    }
    drawn.whole.push_str(rest);
    if drawn.drawn.is_empty() {
        drawn.drawn.clone_from(&drawn.whole);
    }
    drawn.drawn.truncate(drawn.drawn.trim_end().len());
    drawn
}

fn part(length: usize, letters: &str, random: &mut Random) -> String {
    let alphabet: &[u8] = match letters {
        "digit" => b"0123456789",
        "hex" => b"0123456789abcdef",
        "lower" => b"abcdefghijklmnopqrstuvwxyz0123456789",
        "UPPER" => b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
        "letter" => b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
        "alnum" => b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
        "url" => b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_",
        "base64" => b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
        "password" => b"ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789!#%*-_+",
        _ => panic!("no form has {letters}"),
    };
    let mut part: String = (0..length).map(|_| char::from(random.pick(alphabet))).collect();
    // What ends in a dash or begins with a sign is cut by people before it is used.
    if alphabet.contains(&b'-') || alphabet.contains(&b'+') {
        part.replace_range(..1, "k");
        part.replace_range(length - 1.., "9");
    }
    part
}

/// A private key in PEM, and its lines.
pub(crate) fn private_key(label: &str, random: &mut Random) -> (String, String) {
    let mut lines: Vec<String> = (0..24).map(|_| part(64, "base64", random)).collect();
    lines.push(format!("{}==", part(38, "base64", random)));
    let body = lines.join("\n");
    // In two parts, or scanners would take this line for a key.
    let (begin, key) = ("-----BEGIN ", "PRIVATE KEY-----");
    (format!("{begin}{label}{key}\n{body}\n-----END {label}{key}\n"), body)
}
