//! How far an answer can be trusted, 0 to 1, and why (DESIGN section 4, step 6).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Age, Anchor, Annotation, ContextLevel, LineRange, Origin, Source,
    code::{
        locate::State,
        mentions::{agree, segments},
        outline::Item,
    },
    format::correction::Tier,
};

/// Days after which recency has fallen to one half.
pub const HALF_LIFE_DAYS: f64 = 180.0;

/// One factor of a confidence: what was found, and what it is worth.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Factor {
    /// What was found, in words.
    pub value: String,
    /// What it is worth, 0 to 1.
    pub score: f64,
}

/// The factors of a confidence.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Factors {
    /// Age against HEAD; weighs 0.4.
    pub recency: Factor,
    /// Testimony or inference; weighs 0.3.
    pub context_level: Factor,
    /// How well the code it speaks of is still there; weighs 0.2.
    pub anchor_match: Factor,
    /// Whether it was carried over; weighs 0.1.
    pub provenance: Factor,
    /// How far its author is trusted: the sum of the others is multiplied by it. What is left out of a note
    /// counts in its favour (it was not carried, its lines are whole), so an unknown author gets half.
    pub trust: Factor,
}

/// How an item is tied to the present code.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum Tie {
    /// Its recorded lines, of which this share survived.
    Lines(State, f64),
    /// Some of the ranges that its commit changed; which one is not known.
    Near,
    /// The file as a whole.
    File,
    /// Lines in scope that its commit wrote.
    Commit,
    /// The item that it is about; the lines in it are gone.
    Item,
    /// The item that it names: its recorded lines are others, and nothing shows which of the two is meant.
    ByName,
    /// Lines outside of the item that it names.
    Outside,
    /// What it speaks of is no more.
    Gone,
    /// Code with the name it had, and with the signature or without; its lines are there.
    Anchored {
        /// Whether the signature is as it was, or was never recorded.
        same_signature: bool,
    },
    /// Lines of code that had a name then and has another now; this share survived.
    Renamed(f64),
    /// Lines that may be those of another commit: the note names one commit and sits on another.
    Doubtful,
}

/// With less than this share of its lines left, code under another name is other code.
const LEAST_KEPT_BODY: f64 = 0.5;

impl Tie {
    /// The tie of a claim that is on `lines` of the code that `anchor` names, given the outline of the present file.
    ///
    /// What has lost its lines, or never had any, stays as it is: a name alone does not bring it back.
    #[must_use]
    pub fn with_anchor(self, lines: Option<LineRange>, anchor: &Anchor, items: &[Item]) -> Self {
        let (Self::Lines(state, share), Some(lines)) = (self, lines) else { return self };
        if state == State::Gone {
            return self;
        }
        let wanted = segments(&anchor.name);
        let named = || items.iter().filter(|item| agree(&segments(&item.qualified), &wanted));
        if named().next().is_none() {
            return Self::Renamed(share);
        }
        let mut around = named().filter(|item| item.lines.holds(lines)).peekable();
        if around.peek().is_none() {
            return Self::Outside;
        }
        let same_signature =
            anchor.signature.as_ref().is_none_or(|signature| around.any(|item| item.signature == *signature));
        Self::Anchored { same_signature }
    }

    fn factor(self) -> Factor {
        let value = match self {
            Self::Lines(State::Intact, _) => "lines intact".to_owned(),
            Self::Lines(State::Changed, share) => format!("{:.0}% of the lines survive", 100.0 * share),
            Self::Lines(State::Gone, _) | Self::Gone => "gone".to_owned(),
            Self::Anchored { same_signature: true } => "exact anchor".to_owned(),
            Self::Anchored { same_signature: false } => "signature changed".to_owned(),
            Self::Renamed(share) if LEAST_KEPT_BODY <= share => {
                format!("renamed, {:.0}% of the lines survive", 100.0 * share)
            }
            Self::Renamed(_) | Self::Outside => "overlap only".to_owned(),
            Self::Item => "about this item".to_owned(),
            Self::ByName => "by its anchor, which the recorded lines are not in".to_owned(),
            Self::Near => "near".to_owned(),
            Self::File => "file".to_owned(),
            Self::Commit => "commit".to_owned(),
            Self::Doubtful => "lines of another commit".to_owned(),
        };
        Factor { value, score: self.score() }
    }

    fn score(self) -> f64 {
        round(match self {
            Self::Lines(State::Intact, _) | Self::Anchored { same_signature: true } => 1.0,
            Self::Lines(State::Changed, share) => 0.3 + 0.7 * share,
            Self::Lines(State::Gone, _) | Self::Gone => 0.3,
            Self::Anchored { same_signature: false } => 0.7,
            Self::Renamed(share) if LEAST_KEPT_BODY <= share => 0.4 + 0.3 * share,
            Self::Renamed(_)
            | Self::Outside
            | Self::Item
            | Self::ByName
            | Self::Near
            | Self::File
            | Self::Commit
            | Self::Doubtful => 0.4,
        })
    }
}

/// The factors of one item of a document of this source and context level.
///
/// `age` is that of the document when HEAD was committed; `origin` is the item's own
/// and goes before the document's context level.
#[must_use]
pub fn factors(
    source: Source,
    level: ContextLevel,
    origin: Option<Origin>,
    age: Age,
    half_life_days: f64,
    (tie, tier): (Tie, Tier),
) -> Factors {
    let context = match origin {
        Some(Origin::Author) => "author".to_owned(),
        Some(Origin::Inferred) => "inferred".to_owned(),
        None => level.to_string(),
    };
    Factors {
        recency: Factor { value: format!("{age} old"), score: recency(age, half_life_days) },
        context_level: Factor { value: context, score: testimony(origin, level) },
        anchor_match: tie.factor(),
        provenance: Factor { value: source.to_string(), score: provenance(source) },
        trust: Factor { value: tier.to_string(), score: trust(tier) },
    }
}

/// The [`confidence`] in what [`factors`] would tell of, without the words.
#[must_use]
pub fn of(
    source: Source,
    level: ContextLevel,
    origin: Option<Origin>,
    age: Age,
    half_life_days: f64,
    (tie, tier): (Tie, Tier),
) -> f64 {
    let parts = [recency(age, half_life_days), testimony(origin, level), tie.score(), provenance(source)];
    weighted(parts, trust(tier))
}

fn trust(tier: Tier) -> f64 {
    match tier {
        Tier::Own | Tier::Team => 1.0,
        Tier::Unknown => 0.5,
    }
}

fn recency(age: Age, half_life_days: f64) -> f64 {
    round(f64::exp2(-age.days() / half_life_days.max(f64::MIN_POSITIVE)))
}

fn testimony(origin: Option<Origin>, level: ContextLevel) -> f64 {
    match (origin, level) {
        (Some(Origin::Author), _) | (None, ContextLevel::Enhanced) => 1.0,
        (Some(Origin::Inferred), _) | (None, ContextLevel::Inferred) => 0.5,
    }
}

fn provenance(source: Source) -> f64 {
    match source {
        Source::Amend => 0.8,
        Source::Squash => 0.7,
        _ => 1.0,
    }
}

/// The document's context level; without one, what its source suggests.
#[must_use]
pub fn context_level(document: &Annotation) -> ContextLevel {
    document.context_level.unwrap_or(match document.provenance.source {
        Source::Live | Source::Squash | Source::Amend => ContextLevel::Enhanced,
        Source::Batch | Source::Backfill | Source::MigratedV1 | Source::MigratedV2 => ContextLevel::Inferred,
    })
}

/// The weighted sum of the factors, by how far the author is trusted, to three places.
#[must_use]
pub fn confidence(factors: &Factors) -> f64 {
    let Factors { recency, context_level, anchor_match, provenance, trust } = factors;
    weighted([recency.score, context_level.score, anchor_match.score, provenance.score], trust.score)
}

fn weighted([recency, testimony, tie, provenance]: [f64; 4], trust: f64) -> f64 {
    round((0.4 * recency + 0.3 * testimony + 0.2 * tie + 0.1 * provenance) * trust)
}

/// The confidence that is left to a claim that was corrected.
#[must_use]
pub fn doubted(confidence: f64) -> f64 {
    round(confidence / 2.0)
}

fn round(score: f64) -> f64 {
    (score.clamp(0.0, 1.0) * 1000.0).round() / 1000.0
}

#[cfg(test)]
mod tests {
    use jiff::SignedDuration;
    use proptest::prelude::*;

    use super::*;
    use crate::{Provenance, code::outline::ItemKind};

    fn score(source: Source, origin: Option<Origin>, days: i64, tie: Tie) -> f64 {
        score_of(source, origin, days, (tie, Tier::Own))
    }

    fn score_of(source: Source, origin: Option<Origin>, days: i64, tie: (Tie, Tier)) -> f64 {
        let document = Annotation::new("c", "2026-01-01T00:00:00Z", "why", Provenance::new(source));
        let (level, age) = (context_level(&document), Age(SignedDuration::from_hours(24 * days)));
        let score = of(source, level, origin, age, HALF_LIFE_DAYS, tie);
        assert!((score - confidence(&factors(source, level, origin, age, HALF_LIFE_DAYS, tie))).abs() < 1e-9);
        score
    }

    const INTACT: Tie = Tie::Lines(State::Intact, 1.0);

    #[test]
    fn the_weights_are_those_of_the_design() {
        assert!((score(Source::Live, None, 0, INTACT) - 1.0).abs() < 1e-9);
        assert!((score(Source::Live, None, 180, INTACT) - 0.8).abs() < 1e-9);
        assert!((score(Source::Live, None, 360, INTACT) - 0.7).abs() < 1e-9);
        assert!((score(Source::Batch, None, 0, INTACT) - 0.85).abs() < 1e-9);
        assert!((score(Source::Batch, Some(Origin::Author), 0, INTACT) - 1.0).abs() < 1e-9);
        assert!((score(Source::Squash, None, 0, INTACT) - 0.97).abs() < 1e-9);
        assert!((score(Source::Amend, None, 0, INTACT) - 0.98).abs() < 1e-9);
        assert!((score(Source::Live, None, 0, Tie::Gone) - 0.86).abs() < 1e-9);
    }

    #[test]
    fn whoever_is_unknown_gets_half() {
        let of = |tier| score_of(Source::Live, None, 0, (INTACT, tier));
        assert_eq!([Tier::Own, Tier::Team, Tier::Unknown].map(of), [1.0, 1.0, 0.5]);
    }

    #[test]
    fn an_anchor_is_exact_only_where_the_lines_are_in_the_item() {
        let item = |name: &str, start, end| Item {
            kind: ItemKind::Function,
            name: name.to_owned(),
            qualified: name.to_owned(),
            signature: format!("fn {name}()"),
            lines: LineRange { start, end },
            name_line: start,
        };
        let items = [item("acquire", 3, 9), item("release", 11, 20)];
        let check = |name: &str, signature: &str, (start, end), expected| {
            let anchor = Anchor {
                kind: None,
                name: name.to_owned(),
                signature: Some(signature.to_owned()),
                extra: serde_json::Map::new(),
            };
            let tie = INTACT.with_anchor(Some(LineRange { start, end }), &anchor, &items);
            assert_eq!(tie, expected, "{name} {start}-{end}");
        };
        check("acquire", "fn acquire()", (3, 9), Tie::Anchored { same_signature: true });
        check("acquire", "fn acquire(n: u8)", (4, 4), Tie::Anchored { same_signature: false });
        check("acquire", "fn acquire()", (12, 13), Tie::Outside);
        check("acquire", "fn acquire()", (8, 10), Tie::Outside);
        check("take", "fn take()", (8, 9), Tie::Renamed(1.0));
    }

    proptest! {
        #[test]
        fn a_score_is_a_share_and_falls_with_age(days in 0i64..10_000, later in 0i64..10_000, share in 0.0f64..=1.0) {
            let tie = Tie::Lines(State::Changed, share);
            let young = score(Source::Live, None, days, tie);
            prop_assert!((0.0..=1.0).contains(&young));
            prop_assert!(score(Source::Live, None, days + later, tie) <= young);
            prop_assert!(score(Source::Batch, None, days, tie) <= young);
            prop_assert!(young <= score(Source::Live, None, days, INTACT));
        }
    }
}
