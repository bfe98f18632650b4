//! Files, lines, times and numbers that a question names.

/// A file in the question, with the line or the item that is asked about.
pub(super) fn file(question: &str) -> Option<(String, Option<String>)> {
    let trimmed = |word: &str| {
        word.trim_matches(|c: char| "?!,;\"'`“”()".contains(c)).trim_end_matches(['.', ':']).to_owned()
    };
    let words: Vec<String> = question.split_whitespace().map(trimmed).collect();
    let (at, path, line) = words.iter().enumerate().find_map(|(at, word)| {
        let (path, line) = match word.split_once(':') {
            Some((path, line)) if line.starts_with(|c: char| c.is_ascii_digit()) => {
                (path, Some(line.split(':').next()?.to_owned()))
            }
            _ => (word.as_str(), None),
        };
        is_file(path, line.is_some()).then(|| (at, path.to_owned(), line))
    })?;
    let number = |word: Option<&String>| {
        word.filter(|word| !word.is_empty() && word.chars().all(|c| c.is_ascii_digit())).cloned()
    };
    let named = words
        .iter()
        .position(|word| word.eq_ignore_ascii_case("line"))
        .and_then(|at| number(words.get(at + 1)));
    let item = || {
        // `why is acquire in src/pool.rs written that way`
        let before = at
            .checked_sub(2)
            .filter(|_| matches!(words.get(at - 1).map(String::as_str), Some("in" | "of")))?;
        let item = &words[before];
        let is_name = item.chars().all(|c| c.is_alphanumeric() || "_:.#".contains(c))
            && !["line", "this", "that", "it", "traps", "wrong", "code", "lessons"].contains(&item.as_str());
        (is_name && !item.is_empty()).then(|| item.clone())
    };
    let is_why =
        words.iter().any(|word| ["why", "reason", "explain", "who"].contains(&word.to_lowercase().as_str()));
    Some((path, line.or(named).or_else(|| is_why.then(item).flatten())))
}

/// Whether a word names a file: it has an ending, and a folder unless a line follows or the ending is well known.
fn is_file(word: &str, has_line: bool) -> bool {
    const ENDINGS: [&str; 26] = [
        "rs", "go", "py", "ts", "tsx", "js", "jsx", "mjs", "rb", "java", "kt", "swift", "c", "h", "cc",
        "cpp", "cs", "php", "sh", "sql", "toml", "yaml", "yml", "json", "md", "css",
    ];
    let Some((stem, ending)) = word.rsplit('/').next().and_then(|name| name.rsplit_once('.')) else {
        return false;
    };
    let is_ending = (1..=5).contains(&ending.len()) && ending.chars().all(|c| c.is_ascii_alphanumeric());
    let is_url = word.contains("://");
    !stem.is_empty() && is_ending && !is_url && (has_line || word.contains('/') || ENDINGS.contains(&ending))
}

/// Since when, in words that a time is read from.
pub(super) fn since(padded: &str) -> Option<String> {
    const SPANS: [(&str, &str); 12] = [
        (" today ", "today"),
        (" this morning ", "today"),
        (" yesterday ", "yesterday"),
        (" last week ", "7 days"),
        (" this week ", "7 days"),
        (" past week ", "7 days"),
        (" last month ", "31 days"),
        (" this month ", "31 days"),
        (" past month ", "31 days"),
        (" last few days ", "3 days"),
        (" last night ", "yesterday"),
        (" last 24 hours ", "1 day"),
    ];
    const DAYS: [&str; 7] =
        [" monday ", " tuesday ", " wednesday ", " thursday ", " friday ", " saturday ", " sunday "];
    let span = SPANS.iter().find(|(words, _)| padded.contains(words)).map(|(_, span)| (*span).to_owned());
    // At most a week ago; the session list says which day each was.
    let day = || DAYS.iter().any(|day| padded.contains(day)).then(|| "7 days".to_owned());
    let date = || {
        padded
            .split(' ')
            .find(|word| word.len() == 10 && word.as_bytes()[4] == b'-' && word.as_bytes()[7] == b'-')
            .map(str::to_owned)
    };
    span.or_else(date).or_else(day)
}

/// How many sessions are asked for.
pub(super) fn n_sessions(padded: &str) -> Option<usize> {
    const NUMBERS: [&str; 10] =
        ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];
    let words: Vec<&str> = padded.split_whitespace().collect();
    let at = words.iter().position(|word| word.starts_with("session"))?;
    let word = words.get(at.checked_sub(1)?)?;
    let spelled = NUMBERS.iter().position(|number| number == word).map(|at| at + 1);
    word.parse().ok().or(spelled).filter(|count| (1..=50).contains(count))
}
