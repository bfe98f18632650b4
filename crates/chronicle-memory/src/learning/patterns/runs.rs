//! Runs of steps that come back more often than by chance.

use std::collections::{BTreeMap, BTreeSet};

use chronicle_core::counted;
use chronicle_sessions::{Act, Step};

use super::{Experience, FEWEST_SESSIONS, MOST_OF_KIND, Pattern, pattern, rounded, surety};

/// The longest run of steps that is looked for, and the shortest.
const LONGEST: usize = 5;
const SHORTEST: usize = 3;

/// And in one of so many sessions that did anything.
const ONE_OF: usize = 10;

/// Stands between the steps of a run.
pub(crate) const THEN: &str = " → ";

/// How many times as often as by chance.
const LEAST_LIFT: f64 = 2.0;

/// How often a run of steps was seen, and where first in each session.
#[derive(Default)]
struct Run {
    times: usize,
    /// The session, the line, and the number of the first step.
    seen: Vec<(usize, u64, usize)>,
}

/// Runs of steps that come back.
pub(super) fn runs(experience: &[Experience]) -> Vec<Pattern> {
    let working: Vec<(usize, &[Step])> = experience
        .iter()
        .enumerate()
        .map(|(number, session)| (number, session.signs.steps.as_slice()))
        .filter(|(_, steps)| SHORTEST <= steps.len())
        .collect();
    let n_steps: usize = working.iter().map(|(_, steps)| steps.len()).sum();
    let mut acts: BTreeMap<Act, usize> = BTreeMap::new();
    let mut counted: BTreeMap<Vec<Act>, Run> = BTreeMap::new();
    for (session, steps) in &working {
        for step in *steps {
            *acts.entry(step.act).or_default() += 1;
        }
        for length in SHORTEST..=LONGEST {
            for (start, window) in steps.windows(length).enumerate() {
                if kind(window).is_none() {
                    continue;
                }
                let run = counted.entry(window.iter().map(|step| step.act).collect()).or_default();
                run.times += 1;
                if run.seen.last().is_none_or(|(last, ..)| last != session) {
                    run.seen.push((*session, window[0].line, start));
                }
            }
        }
    }
    let fewest = FEWEST_SESSIONS.max(working.len().div_ceil(ONE_OF));
    let lift = |run: &[Act], times: usize| {
        let chance: f64 = run.iter().map(|act| acts[act] as f64 / n_steps as f64).product();
        times as f64 / (chance * n_steps as f64)
    };
    let mut found: Vec<(Vec<Act>, Run, f64)> = counted
        .into_iter()
        .filter(|(_, run)| fewest <= run.seen.len())
        .map(|(acts, run)| {
            let lift = lift(&acts, run.times);
            (acts, run, lift)
        })
        .filter(|(.., lift)| LEAST_LIFT <= *lift)
        .collect();
    // Long runs of many sessions tell most.
    found.sort_by(|left, right| {
        let rank = |(acts, run, lift): &(Vec<Act>, Run, f64)| {
            run.seen.len() as f64 * (acts.len() - 1) as f64 * f64::ln(*lift).min(3.0)
        };
        rank(right).total_cmp(&rank(left)).then_with(|| left.0.cmp(&right.0))
    });
    let mut told: Vec<Vec<Act>> = Vec::new();
    let mut n_of_kind: BTreeMap<&str, usize> = BTreeMap::new();
    let mut patterns = Vec::new();
    for (acts, run, lift) in found {
        let kind = kind_of(&acts).expect("others are not counted");
        let is_part = |one: &[Act], other: &[Act]| {
            one.windows(other.len().min(one.len()).max(1)).any(|part| part == other)
        };
        if told.iter().any(|known| is_part(known, &acts) || is_part(&acts, known) || is_turned(known, &acts))
        {
            continue;
        }
        let n_told = n_of_kind.entry(kind).or_default();
        if *n_told == MOST_OF_KIND {
            continue;
        }
        *n_told += 1;
        let seen: Vec<(usize, u64)> = run.seen.iter().map(|(session, line, _)| (*session, *line)).collect();
        let words = acts.iter().map(|act| act.told()).collect::<Vec<_>>().join(THEN);
        let mut pattern = pattern(kind, words, &seen, experience, surety(seen.len(), lift));
        pattern.times = run.times;
        pattern.lift = Some(rounded(lift.min(100.0)));
        pattern.of_sessions = working.len();
        pattern.outcome = outcome(&acts, &run, experience);
        patterns.push(pattern);
        told.push(acts);
    }
    patterns
}

/// Whether both are the same circle of steps, begun elsewhere.
fn is_turned(one: &[Act], other: &[Act]) -> bool {
    let circle = |acts: &[Act]| acts.first() == acts.last();
    let set = |acts: &[Act]| acts.iter().copied().collect::<BTreeSet<_>>();
    let twice = [one, one].concat();
    let is_rotated = one.len() == other.len() && twice.windows(other.len()).any(|part| part == other);
    is_rotated || circle(one) && circle(other) && set(one) == set(other)
}

fn kind(window: &[Step]) -> Option<&'static str> {
    let mut acts = [Act::Ask; LONGEST];
    for (act, step) in acts.iter_mut().zip(window) {
        *act = step.act;
    }
    kind_of(&acts[..window.len()])
}

/// What kind of pattern a run of steps can be, if any.
fn kind_of(acts: &[Act]) -> Option<&'static str> {
    const TELLING: [Act; 10] = [
        Act::Plan,
        Act::EditTest,
        Act::TestPasses,
        Act::LintPasses,
        Act::BuildPasses,
        Act::Format,
        Act::Commit,
        Act::Push,
        Act::PullRequest,
        Act::LookUp,
    ];
    // Going to and fro between two steps is no run.
    let mut different = acts.to_vec();
    different.sort_unstable();
    different.dedup();
    if different.len() + 1 < acts.len() || acts.contains(&Act::Stop) {
        return None;
    }
    let n_failures = acts.iter().filter(|act| act.is_failure()).count();
    if acts[0].is_failure() && n_failures == 1 && different.len() == acts.len() {
        return Some("debugging");
    }
    let n_telling = acts.iter().filter(|act| TELLING.contains(act)).count();
    (n_failures == 0 && 0 < n_telling && !acts[1..].contains(&Act::Ask)).then_some("workflow")
}

/// What came after its first step, the first time in each session.
fn outcome(acts: &[Act], run: &Run, experience: &[Experience]) -> Option<String> {
    let wanted: (&[Act], &str) = match acts[0] {
        Act::TestFails => (&[Act::TestPasses], "tests passed"),
        Act::BuildFails => (&[Act::BuildPasses, Act::TestPasses], "it built"),
        Act::LintFails => (&[Act::LintPasses], "the lint passed"),
        _ => (&[Act::Commit], "a commit followed"),
    };
    if acts.contains(&Act::Commit) && wanted.0.contains(&Act::Commit) {
        return None;
    }
    let reached = |(session, _, start): &&(usize, u64, usize)| {
        experience[*session].signs.steps.iter().skip(*start).any(|step| wanted.0.contains(&step.act))
    };
    let n_reached = run.seen.iter().filter(reached).count();
    // That hardly ever anything followed is no outcome of a run that is not for that.
    if wanted.0.contains(&Act::Commit) && 2 * n_reached < run.seen.len() {
        return None;
    }
    Some(format!("{} in {n_reached} of {}", wanted.1, counted(run.seen.len(), "session")))
}
