//! Answers for people: the words first, then what they are about; colour, wrapped to the terminal.
//!
//! Colours are red, magenta and green alone, beside bold and dim: the others are hard to read on a light or on a dark
//! ground. Each kind of lesson has a symbol, too.

use std::{collections::HashMap, fmt::Write};

use chronicle_core::{
    Category, LineRange, plain,
    reading::{Reading, RegionItem, Standing, WisdomItem, mark_repeated_intents},
};

use super::{View, correct, markdown, words};

const BOLD: &str = "\x1b[1m";
const DIM: &str = "\x1b[2m";
const RED: &str = "\x1b[31m";
const GREEN: &str = "\x1b[32m";
const MAGENTA: &str = "\x1b[35m";
const RESET: &str = "\x1b[0m";

/// The narrowest terminal that text is wrapped for.
const LEAST_WIDTH: usize = 20;

/// The first telling line of some lines of a file as it is now, with its number.
pub type Code<'c> = &'c dyn Fn(&str, LineRange) -> Option<(u32, String)>;

/// The mark and the colour of a word that begins an item.
fn mark_of(word: &str) -> Option<(&'static str, &'static str)> {
    Some(match word {
        "gotcha" => ("▲", RED),
        "dead_end" => ("✗", MAGENTA),
        "insight" => ("●", GREEN),
        "unfinished_thread" => ("○", BOLD),
        _ => return None,
    })
}

/// What `doctor` says of a check.
fn style_of_health(word: &str) -> Option<&'static str> {
    Some(match word {
        "PROBLEM" => "\x1b[1;31m",
        "ok" | "fixed" => GREEN,
        "note" => BOLD,
        _ => return None,
    })
}

/// A reading: each lesson, the code that it is about, and at last where it comes from.
pub(super) fn reading(reading: &Reading, view: &View, code: Code<'_>) -> String {
    let mut page = Page { out: String::new(), paint: Paint { on: view.colour }, view, code, heading: None };
    let mut lessons: Vec<&WisdomItem> = reading.wisdom.iter().collect();
    let mut regions = reading.regions.clone();
    mark_repeated_intents(regions.iter_mut());
    for region in &regions {
        let (own, others) = lessons.into_iter().partition(|lesson| markdown::belongs(lesson, region));
        lessons = others;
        page.region(region, &own);
    }
    // The files in the order of their first lessons.
    let mut firsts: HashMap<Option<&str>, usize> = HashMap::new();
    for (number, lesson) in reading.wisdom.iter().enumerate() {
        firsts.entry(lesson.standing.file.as_deref()).or_insert(number);
    }
    lessons.sort_by_key(|lesson| firsts[&lesson.standing.file.as_deref()]);
    for lesson in lessons {
        page.head(&lesson.standing, None);
        page.lesson(lesson);
    }
    let mut around = String::new();
    markdown::around(&mut around, reading);
    if !around.is_empty() {
        markdown::gap(&mut page.out);
        page.out.push_str(&painted(&around, view));
    }
    page.out
}

/// What is written of a reading, from the top.
struct Page<'v> {
    out: String,
    paint: Paint,
    view: &'v View,
    code: Code<'v>,
    heading: Option<String>,
}

impl Page<'_> {
    fn region(&mut self, item: &RegionItem, lessons: &[&WisdomItem]) {
        self.head(&item.standing, item.ast_anchor.as_ref().map(|anchor| &*anchor.name));
        for lesson in lessons {
            self.lesson(lesson);
        }
        let quote = quote_of(&item.standing);
        let label = self.paint.with(BOLD, "why");
        let intent = markdown::intent(item);
        if !intent.trim().is_empty() {
            self.text(quote, &format!("  {label}  "), "       ", &words::indented(&intent, ""));
        }
        let mut rest = String::new();
        markdown::reasons(&mut rest, item, self.view);
        for line in rest.lines() {
            let line = self.paint.labels(line);
            self.text(quote, "       ", "         ", &line);
        }
        self.about(quote, &item.standing, None);
    }

    /// The file, and the item, where those before it were about others.
    fn head(&mut self, standing: &Standing, anchor: Option<&str>) {
        let file = standing.file.as_deref().map_or_else(|| "the commit".to_owned(), words::path);
        let item = anchor.map(|anchor| format!(" · {}", words::path(anchor))).unwrap_or_default();
        let heading = format!("{file}{item}");
        if self.heading.as_ref() != Some(&heading) {
            markdown::gap(&mut self.out);
            let painted = self.paint.with(BOLD, &heading);
            self.text(quote_of(standing), "", "  ", &painted);
            self.heading = Some(heading);
        }
    }

    fn lesson(&mut self, item: &WisdomItem) {
        let standing = &item.standing;
        let quote = quote_of(standing);
        let (mark, style) = mark_of(item.category.name()).unwrap_or(("•", BOLD));
        let name = self.paint.with(style, &format!("{mark} {}", spoken(item.category)));
        self.text(quote, &format!("  {name}  "), "    ", &words::indented(&item.content, ""));
        if let Some((file, lines)) = standing.file.as_deref().zip(standing.lines) {
            code_line(&mut self.out, quote, (self.code)(file, lines), self.view);
        }
        for dependency in &item.depends_on {
            let words = format!("relies on {}", markdown::dependency_words(dependency));
            self.text(quote, "    ", "      ", &words);
        }
        for related in &standing.related {
            let words = format!("related: {}", markdown::related_words(related));
            self.text(quote, "    ", "      ", &words);
        }
        let mut against = String::new();
        correct::list(&mut against, &standing.corrections, "", self.view);
        for line in against.lines() {
            self.text(quote, "    ", "      ", line);
        }
        self.about(quote, standing, item.anchor.as_ref().map(|anchor| &*anchor.name));
    }

    /// Where it is, how old, how sure, and whose: dim, and last.
    fn about(&mut self, quote: &str, standing: &Standing, anchor: Option<&str>) {
        let lines = match standing.lines {
            Some(lines) if lines.start == lines.end => Some(format!("line {}", lines.start)),
            _ => words::lines(standing),
        };
        let mut about = vec![words::placed(standing, lines)];
        about.extend(anchor.map(words::anchor));
        about.push(markdown::said_ago(&words::age(standing, self.view.now)));
        about.push(words::short(&standing.commit));
        about.push(format!("{:.2}", standing.confidence));
        about.extend(words::doubts(standing));
        about.extend(standing.tags.iter().map(|tag| format!("#{}", words::path(tag))));
        let about = self.paint.with(DIM, &about.join(" · "));
        self.text(quote, "    ", "    ", &about);
        if self.view.verbose {
            let mut details = String::new();
            markdown::details(&mut details, standing);
            for line in details.lines() {
                let line = self.paint.labels(line);
                self.text(quote, "    ", "      ", &line);
            }
        }
    }

    /// Text that begins with `first`, whose other lines begin with `later`.
    fn text(&mut self, quote: &str, first: &str, later: &str, text: &str) {
        let (first, later) = (format!("{quote}{first}"), format!("{quote}{later}"));
        wrapped(&mut self.out, self.view, &first, &later, text);
    }
}

/// Adds a line of code with its number, if there is one.
pub(super) fn code_line(out: &mut String, quote: &str, line: Option<(u32, String)>, view: &View) {
    let Some((number, line)) = line else { return };
    let room = view.width.max(LEAST_WIDTH).saturating_sub(quote.len() + 14);
    let line: String = plain(&line).replace('\t', "    ").chars().take(room).collect();
    let _ = writeln!(out, "{quote}    {number:5} │ {}", line.trim_end());
}

/// Each line of a stranger's words is quoted.
pub(super) fn quote_of(standing: &Standing) -> &'static str {
    if standing.tier == chronicle_core::correction::Tier::Unknown { "> " } else { "" }
}

/// The name of a kind of lesson as people say it.
fn spoken(category: Category) -> &'static str {
    match category {
        Category::Gotcha => "gotcha",
        Category::DeadEnd => "dead end",
        Category::Insight => "insight",
        Category::UnfinishedThread => "unfinished",
    }
}

/// Adds `text` to `out`, in lines as wide as the terminal.
fn wrapped(out: &mut String, view: &View, first: &str, later: &str, text: &str) {
    let mut first = first;
    for line in text.lines() {
        let options = textwrap::Options::new(view.width.max(LEAST_WIDTH))
            .initial_indent(first)
            .subsequent_indent(later)
            // Paths, ids and refs stay whole.
            .word_splitter(textwrap::WordSplitter::NoHyphenation)
            .word_separator(textwrap::WordSeparator::AsciiSpace)
            .break_words(false);
        for line in textwrap::wrap(line, options) {
            let _ = writeln!(out, "{}", line.trim_end());
        }
        first = later;
    }
}

/// What stands before code in markdown.
const CODE: &str = "    ";

/// The markdown with its marks turned into type: its structure is what people want to see, too.
///
/// The text is plain already; the only escapes in the result are those put in here.
pub(super) fn painted(text: &str, view: &View) -> String {
    let paint = Paint { on: view.colour };
    let mut out = String::new();
    for line in text.lines() {
        // Quotes stay quotes; what is quoted is painted like the rest.
        let (quote, line) = line.strip_prefix("> ").map_or(("", line), |line| ("> ", line));
        let (indent, rest) = line.split_at(line.len() - line.trim_start().len());
        if CODE.len() <= indent.len() && quote.is_empty() && rest.starts_with("git ") {
            // A command to copy.
            let _ = writeln!(out, "{line}");
            continue;
        }
        let (mark, styled) = match rest {
            heading if heading.starts_with('#') => {
                (String::new(), paint.with(BOLD, heading.trim_start_matches('#').trim_start()))
            }
            item if item.starts_with("- ") => paint.item(&item[2..]),
            other => (String::new(), paint.labels(other)),
        };
        if styled.is_empty() {
            out.push('\n');
            continue;
        }
        wrapped(&mut out, view, &format!("{quote}{indent}{mark}"), &format!("{quote}{indent}  "), &styled);
    }
    out
}

#[derive(Clone, Copy)]
struct Paint {
    on: bool,
}

impl Paint {
    fn with(self, style: &str, text: &str) -> String {
        if self.on { format!("{style}{text}{RESET}") } else { text.to_owned() }
    }

    /// A list item, with the mark before it: a lesson has its words first, and what they are about last.
    fn item(self, text: &str) -> (String, String) {
        let bullet = || "• ".to_owned();
        let is_word =
            |word: &str| word.chars().all(|letter| letter.is_ascii_alphanumeric() || "_-".contains(letter));
        if let Some((word, (about, said))) =
            text.split_once(" (").and_then(|(word, rest)| Some((word, rest.split_once("): ")?)))
            && is_word(word)
        {
            let (mark, style) = mark_of(word).unwrap_or(("•", BOLD));
            let about = self.with(DIM, &format!("({about})"));
            return (
                format!("{} ", self.with(style, mark)),
                format!("{}  {said} {about}", self.with(style, &word.replace('_', " "))),
            );
        }
        if let Some((word, rest)) = text.split_once(": ")
            && let Some(style) = style_of_health(word)
        {
            return (bullet(), format!("{}: {}", self.with(style, word), self.labels(rest)));
        }
        (bullet(), self.labels(text))
    }

    /// Text with `**Label:**` marks.
    fn labels(self, text: &str) -> String {
        let parts: Vec<&str> = text.split("**").collect();
        let mut out = String::new();
        for (number, part) in parts.iter().enumerate() {
            // Marks come in pairs; what stands between them is a label only if it reads like one.
            let is_between = number % 2 == 1 && number + 1 < parts.len();
            match (is_between && part.ends_with(':'), number % 2) {
                (true, _) => out.push_str(&self.with(BOLD, part)),
                (false, 1) if is_between => drop(write!(out, "**{part}**")),
                (false, 1) => drop(write!(out, "**{part}")),
                (false, _) => out.push_str(part),
            }
        }
        out
    }
}
