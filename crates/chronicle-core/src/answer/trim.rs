//! Fits a reading into a token budget.
//!
//! What strangers say goes first, then what is over, then what the team wrote, then the newest commits: the oldest hold
//! the founding reasons, and the newer ones can be asked for again by commit. An item that stays
//! keeps its intent, constraints and wisdom whole; only the last one loses lesser
//! fields. The caller says how large a rendering is, so every format keeps its promise.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use snafu::Snafu;

use crate::{
    answer::reading::{CrossCuttingItem, Dependency, Reading, Standing, Trimmed},
    format::correction::Tier,
};

/// Coarse on purpose: a budget is a request for brevity, and no tokenizer is right for every model.
pub const BYTES_PER_TOKEN: usize = 4;

/// A budget that not even an answer without items fits into.
#[derive(Debug, Clone, PartialEq, Eq, Snafu)]
#[snafu(display("--max-tokens {max_tokens} is too small for any answer; the least is {minimum}"))]
pub struct BudgetTooSmall {
    /// What was asked for.
    pub max_tokens: usize,
    /// The smallest budget that works for this question.
    pub minimum: usize,
}

/// Cuts `reading` until `bytes` of it, as tokens, are at most `max_tokens`.
///
/// # Errors
/// When the answer without any item is too large already.
pub fn fit(
    reading: Reading,
    max_tokens: usize,
    bytes: impl Fn(&Reading) -> usize,
) -> Result<Reading, BudgetTooSmall> {
    let tokens = |reading: &Reading| bytes(reading).div_ceil(BYTES_PER_TOKEN);
    if tokens(&reading) <= max_tokens {
        return Ok(reading);
    }
    let steps = steps(&reading);
    let cut = |n_steps: usize| {
        let mut cut = reading.clone();
        apply(&steps[..n_steps], &mut cut);
        report(cut, &reading, max_tokens)
    };
    let finish = |n_steps: usize| conclude(cut(n_steps), max_tokens, &tokens);
    // The list of dropped commits can go, so an answer fits if it does without them: one measurement for each try.
    let can_fit = |n_steps: usize| {
        let mut cut = cut(n_steps);
        cut.trimmed.iter_mut().for_each(|trimmed| trimmed.dropped_commits.clear());
        tokens(&cut) <= max_tokens
    };
    // Sizes fall with nearly every step; where one rises by what it reports, the search may pass over a fit.
    let (mut too_large, mut fits) = (0, steps.len());
    while too_large + 1 < fits {
        let middle = too_large.midpoint(fits);
        if can_fit(middle) { fits = middle } else { too_large = middle }
    }
    if let Ok(cut) = finish(fits) {
        return Ok(cut);
    }
    // The report on what is missing can cost more than a short last item, or than an answer without any.
    let mut minimum = tokens(&reading);
    for n_steps in steps.len().saturating_sub(FIELDS.len() + 2)..=steps.len() {
        match finish(n_steps) {
            Ok(cut) => return Ok(cut),
            Err(error) => minimum = minimum.min(error.minimum),
        }
    }
    Err(BudgetTooSmall { max_tokens, minimum })
}

/// The intent of the item that is trusted most, and a word that it is no more than that: for budgets that no item fits
/// into. It is over the budget, since an answer that holds nothing would say that nothing is known.
#[must_use]
pub fn skeleton(reading: &Reading, max_tokens: usize) -> Reading {
    let steps = steps(reading);
    let is_item = |step: &Step| matches!(step, Step::Region(_) | Step::Wisdom(_));
    let last = steps.iter().rposition(is_item).unwrap_or(steps.len());
    let mut cut = reading.clone();
    apply(&steps[..last], &mut cut);
    for item in &mut cut.regions {
        item.constraints.clear();
        item.semantic_dependencies.clear();
    }
    cut.wisdom.iter_mut().for_each(|item| item.depends_on.clear());
    cut.dependencies_on_this.clear();
    cut.cross_cutting.clear();
    let mut cut = report(cut, reading, max_tokens);
    cut.trimmed.iter_mut().for_each(|trimmed| trimmed.dropped_commits.clear());
    let n_left_out = reading.n_items().saturating_sub(cut.n_items());
    cut.warnings = vec![format!(
        "--max-tokens {max_tokens} is too small for any item, so this is the intent of one; items left out: {n_left_out}"
    )];
    cut
}

/// One thing to leave out.
#[derive(Debug, Clone)]
enum Step {
    /// What those who are trusted so far remark on what others say who are trusted more.
    Remarks(Tier),
    /// Warnings beyond the first few, and all but their beginnings: notes decide how many there are, and how long.
    Warnings,
    /// What is known of the repository as a whole, of those who are trusted so far.
    Knowledge(Tier),
    Region(String),
    Wisdom(String),
    /// What one note declares to rely on the code, of those who are trusted so far.
    Dependencies(String, Tier),
    CrossCutting(String, Tier),
    Field(Field),
    Last,
}

/// What the last item loses, in this order, before it goes itself.
#[derive(Debug, Clone, Copy)]
enum Field {
    Related,
    ReasoningTail,
    Reasoning,
    RiskTail,
    Risk,
    Tags,
}

const FIELDS: [Field; 6] =
    [Field::Related, Field::ReasoningTail, Field::Reasoning, Field::RiskTail, Field::Risk, Field::Tags];

/// Warnings that stay where room is short, and how much of each, in bytes.
const MOST_WARNINGS: usize = 3;
const LONGEST_WARNING: usize = 200;

/// What decides when something is left out: whether a stranger says it, whether it still counts, whose it is, when it was
/// written, how far it is trusted.
type Turn = (bool, bool, Tier, jiff::Timestamp, f64);

fn turn(is_over: bool, tier: Tier, at: jiff::Timestamp, confidence: f64) -> Turn {
    (Tier::Unknown < tier, !is_over, tier, at, confidence)
}

/// Everything that can be left out, in order.
fn steps(reading: &Reading) -> Vec<Step> {
    let mut items: Vec<(Turn, Step)> = Vec::new();
    let unit = |standing: &Standing, step: Step| {
        (turn(standing.is_over(), standing.tier, standing.at, standing.confidence), step)
    };
    items.extend(
        reading.regions.iter().map(|item| unit(&item.standing, Step::Region(item.standing.id.0.clone()))),
    );
    items.extend(
        reading.wisdom.iter().map(|item| unit(&item.standing, Step::Wisdom(item.standing.id.0.clone()))),
    );
    // What belongs to a shown commit goes with it, unless it is trusted less; the rest takes its turn by age.
    let mut shown: BTreeMap<&str, Tier> = BTreeMap::new();
    for standing in reading.standings() {
        let tier = shown.entry(standing.commit.as_str()).or_insert(standing.tier);
        *tier = standing.tier.max(*tier);
    }
    let goes_alone = |commit: &str, tier: Tier| shown.get(commit).is_none_or(|best| tier < *best);
    let mut seen = BTreeSet::new();
    for dependency in &reading.dependencies_on_this {
        let Dependency { commit, tier, at, confidence, .. } = dependency;
        if goes_alone(commit, *tier) && seen.insert(("dependency", commit, *tier)) {
            items.push((turn(false, *tier, *at, *confidence), Step::Dependencies(commit.clone(), *tier)));
        }
    }
    for concern in &reading.cross_cutting {
        let CrossCuttingItem { commit, tier, at, .. } = concern;
        if goes_alone(commit, *tier) && seen.insert(("concern", commit, *tier)) {
            items.push((turn(false, *tier, *at, 1.0), Step::CrossCutting(commit.clone(), *tier)));
        }
    }
    // What is known of the repository as a whole is not of this place, so of each tier it goes first.
    for tier in [Tier::Unknown, Tier::Team, Tier::Own] {
        if reading.knowledge.iter().any(|item| item.tier() == tier) {
            items.push((turn(false, tier, jiff::Timestamp::MAX, 0.0), Step::Knowledge(tier)));
        }
        let is_remarked = |standing: &Standing| {
            tier < standing.tier && standing.corrections.iter().any(|remark| remark.trust == tier)
        };
        if reading.standings().any(is_remarked) {
            items.push((turn(false, tier, jiff::Timestamp::MAX, 0.0), Step::Remarks(tier)));
        }
    }
    let is_long = |warning: &String| LONGEST_WARNING < warning.len();
    if MOST_WARNINGS < reading.warnings.len() || reading.warnings.iter().any(is_long) {
        items.push((turn(false, Tier::Unknown, jiff::Timestamp::MIN, 1.0), Step::Warnings));
    }
    // No one's words take the room of the user's. Of one commit, the least trusted goes first.
    items.sort_by(
        |((is_known, current, tier, at, trust), _),
         ((other_is_known, other_current, other_tier, other_at, other_trust), _)| {
            let by_whom = (is_known, current, tier).cmp(&(other_is_known, other_current, other_tier));
            by_whom.then(other_at.cmp(at)).then(trust.total_cmp(other_trust))
        },
    );
    let mut steps: Vec<Step> = items.into_iter().map(|(_, step)| step).collect();
    // The fields go before the item they belong to, which is the last one.
    if let Some(at) = steps.iter().rposition(|step| matches!(step, Step::Region(_) | Step::Wisdom(_))) {
        let last = steps.remove(at);
        steps.extend(FIELDS.map(Step::Field));
        steps.push(last);
    }
    steps.push(Step::Last);
    steps
}

/// Takes `steps`; none of them depends on another, so items go all at once.
fn apply(steps: &[Step], reading: &mut Reading) {
    let (mut regions, mut wisdom) = (HashSet::new(), HashSet::new());
    let (mut dependencies, mut cross_cutting) = (HashSet::new(), HashSet::new());
    for step in steps {
        match step {
            Step::Remarks(tier) => {
                for standing in reading.standings_mut().filter(|standing| *tier < standing.tier) {
                    standing.corrections.retain(|remark| remark.trust != *tier);
                }
            }
            Step::Warnings => {
                reading.warnings.truncate(MOST_WARNINGS);
                for warning in &mut reading.warnings {
                    warning.truncate(warning.floor_char_boundary(LONGEST_WARNING));
                }
            }
            Step::Knowledge(tier) => reading.knowledge.retain(|item| item.tier() != *tier),
            Step::Region(id) => _ = regions.insert(id.as_str()),
            Step::Wisdom(id) => _ = wisdom.insert(id.as_str()),
            Step::Dependencies(commit, tier) => _ = dependencies.insert((commit.as_str(), *tier)),
            Step::CrossCutting(commit, tier) => _ = cross_cutting.insert((commit.as_str(), *tier)),
            Step::Field(field) => field.cut(reading),
            Step::Last => {
                reading.dependencies_on_this.clear();
                reading.cross_cutting.clear();
                reading.warnings.clear();
            }
        }
    }
    reading.regions.retain(|item| !regions.contains(item.standing.id.0.as_str()));
    reading.wisdom.retain(|item| !wisdom.contains(item.standing.id.0.as_str()));
    reading.dependencies_on_this.retain(|item| !dependencies.contains(&(item.commit.as_str(), item.tier)));
    reading.cross_cutting.retain(|item| !cross_cutting.contains(&(item.commit.as_str(), item.tier)));
}

impl Field {
    fn cut(self, reading: &mut Reading) {
        for item in &mut reading.regions {
            match self {
                Self::Related => item.standing.related.clear(),
                Self::ReasoningTail => item.reasoning = item.reasoning.as_deref().map(first_sentence),
                Self::Reasoning => item.reasoning = None,
                Self::RiskTail => item.risk_notes = item.risk_notes.as_deref().map(first_sentence),
                Self::Risk => item.risk_notes = None,
                Self::Tags => item.standing.tags.clear(),
            }
        }
        for item in &mut reading.wisdom {
            match self {
                Self::Related => item.standing.related.clear(),
                Self::Tags => item.standing.tags.clear(),
                _ => {}
            }
        }
    }
}

/// The text up to its first full stop, question mark or exclamation mark that ends a word.
fn first_sentence(text: &str) -> String {
    let end = text
        .char_indices()
        .zip(text.chars().skip(1).map(Some).chain([None]))
        .find(|((_, mark), next)| matches!(mark, '.' | '?' | '!') && next.is_none_or(char::is_whitespace))
        .map_or(text.len(), |((at, mark), _)| at + mark.len_utf8());
    text[..end].to_owned()
}

fn count(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

/// The commits of which something is not in `cut`, newest first.
fn dropped_commits(cut: &Reading, original: &Reading) -> Vec<String> {
    let kept: HashSet<&str> = cut.standings().map(|standing| standing.id.0.as_str()).collect();
    let is_dropped = |standing: &&Standing| !kept.contains(standing.id.0.as_str());
    let dropped = original.standings().filter(is_dropped).map(|standing| (standing.at, &standing.commit));
    let mut dropped: Vec<(jiff::Timestamp, &String)> =
        dropped.chain(original.beyond_limit.iter().map(|item| (item.at, &item.commit))).collect();
    dropped.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
    let mut seen = HashSet::new();
    let commits = dropped.into_iter().map(|(_, commit)| commit);
    commits.filter(|commit| seen.insert(commit.as_str())).cloned().collect()
}

/// `cut` with all commits of which something of `original` was left out, by a budget or a limit.
#[must_use]
pub fn with_all_dropped(mut cut: Reading, original: &Reading, estimated_tokens: usize) -> Reading {
    let dropped = dropped_commits(&cut, original);
    match &mut cut.trimmed {
        Some(trimmed) => trimmed.dropped_commits = dropped,
        None if dropped.is_empty() => {}
        None => {
            cut.trimmed = Some(Trimmed {
                original_regions: count(original.n_items() + original.beyond_limit.len()),
                returned_regions: count(cut.n_items()),
                dropped_commits: dropped,
                strategy: Trimmed::BY_LIMIT.to_owned(),
                estimated_tokens,
            });
        }
    }
    cut
}

/// Drops what belonged to dropped commits, and says what is missing.
fn report(mut cut: Reading, original: &Reading, max_tokens: usize) -> Reading {
    let after: HashSet<String> = cut.standings().map(|standing| standing.commit.clone()).collect();
    let before: HashSet<&str> = original.standings().map(|standing| standing.commit.as_str()).collect();
    let is_dropped = |commit: &str| before.contains(commit) && !after.contains(commit);
    cut.dependencies_on_this.retain(|item| !is_dropped(&item.commit));
    cut.cross_cutting.retain(|item| !is_dropped(&item.commit));

    let dropped = dropped_commits(&cut, original);
    cut.stats.regions_returned = count(cut.n_items());
    if cut.n_items() == 0 && 0 < original.n_items() {
        cut.warnings.insert(
            0,
            "no item fits into --max-tokens; ask for fewer lines, or `show` a dropped commit".to_owned(),
        );
    }
    cut.trimmed = Some(Trimmed {
        original_regions: count(original.n_items() + original.beyond_limit.len()),
        returned_regions: count(cut.n_items()),
        dropped_commits: dropped,
        strategy: Trimmed::BY_BUDGET.to_owned(),
        estimated_tokens: max_tokens,
    });
    cut
}

/// `cut` with as many of the dropped commits as there is room for; an error when it is still too large.
fn conclude(
    mut cut: Reading,
    max_tokens: usize,
    tokens: &impl Fn(&Reading) -> usize,
) -> Result<Reading, BudgetTooSmall> {
    // The list of dropped commits is a service; it must not cost an item.
    while max_tokens < tokens(&cut) {
        let Some(Trimmed { dropped_commits, .. }) = &mut cut.trimmed else { break };
        let half = dropped_commits.len() / 2;
        if dropped_commits.is_empty() {
            break;
        }
        dropped_commits.truncate(half);
    }
    let estimated = tokens(&cut);
    if max_tokens < estimated {
        return Err(BudgetTooSmall { max_tokens, minimum: minimum(cut, tokens) });
    }
    if let Some(trimmed) = &mut cut.trimmed {
        trimmed.estimated_tokens = estimated;
    }
    Ok(cut)
}

/// The smallest budget that the emptied answer fits into; the budget is written into it, so its digits count.
fn minimum(mut skeleton: Reading, tokens: &impl Fn(&Reading) -> usize) -> usize {
    loop {
        let needed = tokens(&skeleton);
        let Some(trimmed) = &mut skeleton.trimmed else { return needed };
        if needed <= trimmed.estimated_tokens {
            return trimmed.estimated_tokens;
        }
        trimmed.estimated_tokens = needed;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_sentence_ends_where_a_reader_would_end_it() {
        assert_eq!(first_sentence("Uses v1.2 here. And more."), "Uses v1.2 here.");
        assert_eq!(first_sentence("no end"), "no end");
        assert_eq!(first_sentence("Übel! Ja."), "Übel!");
        assert_eq!(first_sentence(""), "");
    }
}
