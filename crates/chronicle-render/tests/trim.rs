//! Trimming keeps its promises for any reading, budget and format.

use std::collections::BTreeSet;

use chronicle_core::{
    AntiPattern, Category, Constraint, ContextLevel, Convention, DependsOn, EntryId, LineRange, Origin,
    Source,
    correction::Tier,
    reading::{
        CrossCuttingItem, Dependency, GoneBecause, KnowledgeItem, Match, Query, Reading, RegionItem,
        RelatedItem, Standing, State, WisdomItem,
    },
    score::{Factor, Factors},
    trim::{self, BYTES_PER_TOKEN, BudgetTooSmall},
};
use chronicle_render::{self as render, DEFAULT_WIDTH, Format, View};
use jiff::{Timestamp, ToSpan};
use proptest::{
    bool::weighted, collection::vec, option, prelude::*, sample::select, strategy::ValueTree,
    test_runner::TestRunner,
};
use serde_json::{Map, Value, json};

/// When the readings are read.
fn now() -> Timestamp {
    "2026-03-01T12:00:00Z".parse().expect("a time")
}

/// Commits are known by number; a higher one is older.
fn written(commit: u8) -> Timestamp {
    now() - (i64::from(commit) * 24).hours()
}

fn commit_id(commit: u8) -> String {
    format!("{commit:02x}").repeat(20)
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        2 => "[a-z]{1,9}( [a-z]{1,9}){0,12}[.!?]?",
        1 => "([a-z]{1,9} ){1,20}[a-z]{2}\\. ([A-Z][a-z]{1,9} ){1,40}",
        1 => "\\PC{0,30}",
        1 => select(vec!["Größe → ok. Dann.", "\u{1b}[31m\u{202e}\0", "one\ntwo\n\n- three", "", "**a:** b"]).prop_map(str::to_owned),
    ]
}

fn factor() -> impl Strategy<Value = Factor> {
    (select(vec!["enhanced", "12 days old", "file"]), 0.0f64..1.0)
        .prop_map(|(value, score)| Factor { value: value.to_owned(), score })
}

fn lines() -> impl Strategy<Value = LineRange> {
    (1u32..5000, 0u32..80).prop_map(|(start, more)| LineRange { start, end: start + more })
}

fn related() -> impl Strategy<Value = RelatedItem> {
    (0..20u8, option::of(text()), text(), option::of(text())).prop_map(
        |(commit, anchor, relationship, intent)| RelatedItem {
            commit: commit_id(commit),
            anchor,
            relationship,
            confidence: Some(0.5),
            intent,
        },
    )
}

fn file() -> impl Strategy<Value = String> {
    select(vec!["src/pool.rs", "a b.rs", "größe/x.rs"]).prop_map(str::to_owned)
}

/// A standing without an id, which the item's place in the reading gives.
fn standing() -> impl Strategy<Value = Standing> {
    let who = (0..9u8, option::of(text()), select(vec![Source::Live, Source::Squash]), 0.0f64..1.0);
    let place = (option::of(file()), option::of(lines()), option::of(lines()), vec(lines(), 0..3));
    let fate = (select(vec![State::Intact, State::Changed, State::Gone]), weighted(0.2), weighted(0.2));
    let rest = (vec(text(), 0..4), option::of(text()), vec(related(), 0..3), weighted(0.1));
    (who, [factor(), factor(), factor(), factor(), factor()], place, fate, rest).prop_map(
        |(who, factors, place, (state, is_superseded, expired), (tags, task, related, has_extra))| {
            let (commit, author, source, confidence) = who;
            let (file, lines, lines_recorded, near) = place;
            let [recency, context_level, anchor_match, provenance, trust] = factors;
            let tier = if expired { Tier::Unknown } else { Tier::Own };
            Standing {
                id: EntryId(String::new()),
                commit: commit_id(commit),
                timestamp: written(commit).to_string(),
                at: written(commit),
                author,
                tier,
                origin: expired.then(|| "up".to_owned()),
                source,
                context_level: ContextLevel::Enhanced,
                confidence,
                confidence_factors: Factors { recency, context_level, anchor_match, provenance, trust },
                commits_since: Some(u32::from(commit)),
                file_recorded: file.clone().filter(|_| expired),
                file,
                lines,
                lines_recorded,
                near,
                state,
                gone_because: (state == State::Gone).then_some(GoneBecause::Rewritten),
                gone_since: (state == State::Gone).then(|| commit_id(0)),
                moved_to: None,
                item_lines: None,
                lines_disagree: false,
                matched: Match::Lines,
                superseded_by: is_superseded.then(|| EntryId("01J".to_owned())),
                expired,
                expires: None,
                elsewhere: None,
                tags,
                task,
                related,
                corrections: Vec::new(),
                extra: if has_extra {
                    Map::from_iter([("stability".to_owned(), json!("permanent"))])
                } else {
                    Map::new()
                },
            }
        },
    )
}

fn region() -> impl Strategy<Value = RegionItem> {
    let constraint = (text(), select(vec![None, Some(Origin::Author), Some(Origin::Inferred)]))
        .prop_map(|(text, origin)| Constraint { text, origin });
    (
        standing(),
        text(),
        option::of(text()),
        vec(constraint, 0..4),
        option::of(text()),
        vec(depends_on(), 0..2),
    )
        .prop_map(|(standing, intent, reasoning, constraints, risk_notes, semantic_dependencies)| {
            RegionItem {
                standing,
                ast_anchor: None,
                intent,
                intent_shown_at: None,
                reasoning,
                constraints,
                risk_notes,
                semantic_dependencies,
            }
        })
}

fn depends_on() -> impl Strategy<Value = DependsOn> {
    (file(), option::of(text()), text()).prop_map(|(file, anchor, nature)| DependsOn {
        file,
        anchor,
        nature,
        sketch: None,
        extra: Map::new(),
    })
}

fn lesson() -> impl Strategy<Value = WisdomItem> {
    (standing(), select(&Category::ALL[..]), text(), vec(depends_on(), 0..2)).prop_map(
        |(standing, category, content, depends_on)| WisdomItem {
            standing,
            category,
            content,
            anchor: None,
            depends_on,
        },
    )
}

fn dependency() -> impl Strategy<Value = Dependency> {
    (0..12u8, option::of(file()), text()).prop_map(|(commit, from_file, nature)| Dependency {
        from_file_recorded: None,
        from_is_deleted: false,
        from_file,
        from_anchor: Some("Reconnect::attempt".to_owned()),
        on_anchor: None,
        nature,
        commit: commit_id(commit),
        at: written(commit),
        confidence: 0.5,
        author: None,
        tier: Tier::Own,
        origin: None,
    })
}

fn concern() -> impl Strategy<Value = CrossCuttingItem> {
    (0..12u8, text(), vec(file(), 0..3), vec(text(), 0..2)).prop_map(
        |(commit, description, regions, tags)| CrossCuttingItem {
            description,
            regions,
            tags,
            commit: commit_id(commit),
            author: None,
            tier: Tier::Own,
            origin: None,
            at: written(commit),
            extra: Map::new(),
        },
    )
}

fn knowledge() -> impl Strategy<Value = KnowledgeItem> {
    prop_oneof![
        text().prop_map(|rule| {
            KnowledgeItem::Convention(Convention {
                id: "conv-1".to_owned(),
                scope: "*".to_owned(),
                rule,
                extra: Map::new(),
            })
        }),
        (text(), text()).prop_map(|(pattern, instead)| {
            KnowledgeItem::AntiPattern(AntiPattern {
                id: "ap-1".to_owned(),
                pattern,
                instead,
                extra: Map::new(),
            })
        }),
    ]
}

fn reading() -> impl Strategy<Value = Reading> {
    let around = (vec(dependency(), 0..4), vec(concern(), 0..4), vec(knowledge(), 0..3), vec(text(), 0..3));
    (vec(region(), 0..7), vec(lesson(), 0..9), around).prop_map(|(regions, wisdom, around)| {
        let (dependencies_on_this, cross_cutting, knowledge, warnings) = around;
        let query = Query { file: Some("src/pool.rs".to_owned()), depth: 1, ..Query::default() };
        let mut reading = Reading {
            regions,
            wisdom,
            dependencies_on_this,
            cross_cutting,
            knowledge,
            warnings,
            ..Reading::empty(query)
        };
        let standings = reading.regions.iter_mut().map(|item| &mut item.standing);
        let standings = standings.chain(reading.wisdom.iter_mut().map(|item| &mut item.standing));
        standings.enumerate().for_each(|(number, standing)| standing.id = EntryId(format!("id-{number:02}")));
        reading.stats.regions_returned = u32::try_from(reading.n_items()).expect("few");
        reading
    })
}

/// How an answer is asked for.
#[derive(Debug, Clone, Copy)]
struct Asked {
    format: Format,
    verbose: bool,
}

impl Asked {
    fn any() -> impl Strategy<Value = Self> {
        (select(vec![Format::Markdown, Format::Json, Format::Pretty]), any::<bool>())
            .prop_map(|(format, verbose)| Self { format, verbose })
    }

    fn render(self, reading: &Reading) -> String {
        let view = View { now: now(), colour: false, width: DEFAULT_WIDTH, verbose: self.verbose };
        render::reading(reading, self.format, &view)
    }

    fn tokens(self, reading: &Reading) -> usize {
        self.render(reading).len().div_ceil(BYTES_PER_TOKEN)
    }

    fn fit(self, reading: &Reading, max_tokens: usize) -> Result<Reading, BudgetTooSmall> {
        trim::fit(reading.clone(), max_tokens, |reading| self.render(reading).len())
    }
}

/// The reading without what trimming says about itself.
fn without_report(reading: &Reading) -> Reading {
    Reading { trimmed: None, stats: chronicle_core::reading::Stats::default(), ..reading.clone() }
}

fn ids(reading: &Reading) -> BTreeSet<EntryId> {
    reading.standings().map(|standing| standing.id.clone()).collect()
}

fn commits(reading: &Reading) -> BTreeSet<String> {
    reading.standings().map(|standing| standing.commit.clone()).collect()
}

/// Whether `cut` leaves the right things out of `whole`, and says so.
fn check_cut(whole: &Reading, cut: &Reading) -> Result<(), TestCaseError> {
    prop_assert_eq!(cut.trimmed.is_some(), without_report(cut) != without_report(whole));
    let Some(trimmed) = &cut.trimmed else { return Ok(()) };

    for item in &cut.regions {
        let before = whole.regions.iter().find(|before| before.standing.id == item.standing.id);
        let before = before.expect("nothing is made up");
        prop_assert_eq!((&item.intent, &item.constraints), (&before.intent, &before.constraints));
        let is_start = |after: &Option<String>, before: &Option<String>| {
            after.as_ref().is_none_or(|after| before.as_ref().is_some_and(|before| before.starts_with(after)))
        };
        prop_assert!(
            is_start(&item.reasoning, &before.reasoning) && is_start(&item.risk_notes, &before.risk_notes)
        );
    }
    for item in &cut.wisdom {
        let before = whole.wisdom.iter().find(|before| before.standing.id == item.standing.id);
        let before = before.expect("nothing is made up");
        prop_assert_eq!((&item.content, item.category), (&before.content, before.category));
    }

    let kept = ids(cut);
    // What is over goes first, then what is trusted less, then the newest.
    let rank = |standing: &Standing| (standing.is_over(), std::cmp::Reverse(standing.tier), standing.at);
    let dropped: Vec<_> = whole.standings().filter(|standing| !kept.contains(&standing.id)).collect();
    for (dropped, kept) in dropped.iter().flat_map(|dropped| cut.standings().map(move |kept| (dropped, kept)))
    {
        prop_assert!(rank(kept) <= rank(dropped), "{} went before {}", dropped.id, kept.id);
    }
    let gone: BTreeSet<_> = commits(whole).difference(&commits(cut)).cloned().collect();
    prop_assert!(!cut.dependencies_on_this.iter().any(|item| gone.contains(&item.commit)));
    prop_assert!(!cut.cross_cutting.iter().any(|item| gone.contains(&item.commit)));
    prop_assert!(cut.n_items() != 0 || whole.n_items() == 0 || !cut.warnings.is_empty());

    prop_assert_eq!(trimmed.original_regions as usize, whole.n_items());
    prop_assert_eq!(trimmed.returned_regions as usize, cut.n_items());
    prop_assert_eq!(cut.stats.regions_returned as usize, cut.n_items());
    let mut newest_first: Vec<_> = dropped.clone();
    newest_first.sort_by_key(|standing| std::cmp::Reverse(standing.at));
    let mut named = newest_first.iter().map(|standing| &standing.commit).collect::<Vec<_>>();
    named.dedup();
    prop_assert!(named.iter().zip(&trimmed.dropped_commits).all(|(commit, named)| *commit == named));
    prop_assert!(trimmed.dropped_commits.len() <= named.len());
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_answer_fits_its_budget_or_says_which_one_it_needs(
        reading in reading(),
        asked in Asked::any(),
        share in 0.0f64..1.1,
    ) {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss, reason = "small")]
        let budget = (asked.tokens(&reading) as f64 * share * share) as usize;
        match asked.fit(&reading, budget) {
            Ok(cut) => {
                let tokens = asked.tokens(&cut);
                prop_assert!(tokens <= budget, "{tokens} of {budget}");
                if let Some(trimmed) = &cut.trimmed {
                    prop_assert!(tokens <= trimmed.estimated_tokens && trimmed.estimated_tokens <= budget);
                }
                check_cut(&reading, &cut)?;
                if asked.format == Format::Json {
                    let parsed: Value = serde_json::from_str(&asked.render(&cut)).unwrap();
                    prop_assert_eq!(parsed["regions"].as_array().map(Vec::len), Some(cut.regions.len()));
                }
            }
            Err(error) => {
                prop_assert_eq!(error.max_tokens, budget);
                prop_assert!(budget < error.minimum);
                let least = asked.fit(&reading, error.minimum);
                prop_assert!(least.is_ok(), "{least:?}");
                prop_assert!(asked.fit(&reading, error.minimum - 1).is_err());
                check_cut(&reading, &least.unwrap())?;
            }
        }
    }

    #[test]
    fn a_larger_budget_never_shows_less(reading in reading(), asked in Asked::any(), shares in (0.0f64..1.0, 0.0f64..1.0)) {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss, reason = "small")]
        let budget = |share: f64| (asked.tokens(&reading) as f64 * share) as usize;
        let (small, large) = (shares.0.min(shares.1), shares.0.max(shares.1));
        let (small, large) = (asked.fit(&reading, budget(small)), asked.fit(&reading, budget(large)));
        if let Ok(small) = small {
            prop_assert!(large.is_ok());
            prop_assert!(ids(&small).is_subset(&ids(&large.unwrap())));
        }
    }
}

#[test]
fn the_least_budget_of_an_answer_without_items_is_what_that_answer_costs() {
    let nothing =
        Reading::empty(Query { file: Some("src/pool.rs".to_owned()), depth: 1, ..Query::default() });
    let asked = Asked { format: Format::Json, verbose: false };
    let error = asked.fit(&nothing, 0).expect_err("not even braces");
    assert_eq!(error.minimum, asked.tokens(&nothing));
    assert_eq!(asked.fit(&nothing, error.minimum), Ok(nothing));
}

#[test]
fn the_list_of_what_is_left_out_does_not_cost_the_items() {
    let mut reading = Reading::empty(Query::default());
    let mut runner = TestRunner::deterministic();
    let any = lesson().new_tree(&mut runner).unwrap().current();
    for number in 0u16..1000 {
        let at = now() - i64::from(number).hours();
        let standing = Standing {
            id: EntryId(format!("id-{number}")),
            commit: format!("{number:040x}"),
            at,
            superseded_by: None,
            expired: false,
            related: Vec::new(),
            ..any.standing.clone()
        };
        reading.wisdom.push(WisdomItem { standing, content: "short".to_owned(), ..any.clone() });
    }
    for format in [Format::Json, Format::Markdown, Format::Pretty] {
        let asked = Asked { format, verbose: false };
        let cut = asked.fit(&reading, 1000).unwrap();
        assert!(0 < cut.n_items(), "{format:?}");
        assert!(asked.tokens(&cut) <= 1000);
    }
}
