//! Made words, lines and numbers: the same on every machine and with every version of everything.

pub(crate) const WORDS: [&str; 32] = [
    "acquire", "backoff", "buffer", "cache", "channel", "cursor", "deadline", "decode", "encode", "flush",
    "frame", "guard", "header", "index", "journal", "lease", "limit", "merge", "offset", "page", "parse",
    "pool", "queue", "retry", "route", "schema", "session", "shard", "snapshot", "stream", "token", "writer",
];

/// SplitMix64: the same history on every machine and with every version of everything.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let n = u64::try_from(n).expect("usize has at most 64 bits");
        usize::try_from((z ^ (z >> 31)) % n).expect("less than a usize")
    }

    pub(crate) fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }

    pub(crate) fn sentence(&mut self, n_words: usize) -> String {
        let words: Vec<&str> = (0..n_words).map(|_| self.pick(&WORDS)).collect();
        words.join(" ")
    }

    /// A line of made code; one in eight is a brace or empty, as such lines make diffs hard.
    pub(crate) fn code(&mut self) -> String {
        match self.below(16) {
            0 => String::new(),
            1 => "    }".to_owned(),
            _ => self.statement(),
        }
    }

    pub(crate) fn statement(&mut self) -> String {
        let indent = "    ".repeat(1 + self.below(3));
        let (left, right, number) = (self.pick(&WORDS), self.pick(&WORDS), self.below(100_000));
        format!("{indent}let {left} = {right}.{}({number});", self.pick(&WORDS))
    }

    pub(crate) fn ulid(&mut self) -> String {
        let digits = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
        let tail = (0..22).map(|_| char::from(self.pick(digits)));
        "01JG".chars().chain(tail).collect()
    }
}

/// RFC 3339 in UTC; the calendar by Howard Hinnant's `civil_from_days`.
pub(crate) fn timestamp_text(seconds: usize) -> String {
    let (days, second) = (seconds / 86_400 + 719_468, seconds % 86_400);
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    let year = year_of_era + era * 400 + usize::from(month <= 2);
    let (hour, minute) = (second / 3_600, second / 60 % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{:02}Z", second % 60)
}
