//! The plots of a page.

use chronicle::Category;
use maud::{Markup, html};

use crate::{
    Material,
    plots::{Plot, Row, Tile, over_time, treemap},
    words,
};

/// Rows of plots whose rows have names.
const MOST_NAMES: usize = 12;

/// All plots that have something to show.
pub(super) fn section(material: &Material) -> Markup {
    html! {
        section id="numbers" aria-labelledby="numbers-title" {
            h2 id="numbers-title" { "Numbers" }
            div class="plots" {
                (by_time(material))
                (by_kind(material))
                (by_agent(material))
                (shown_and_used(material))
                (coverage(material))
            }
        }
    }
}

fn by_time(material: &Material) -> Markup {
    let lessons = material.lessons.iter().map(|placed| placed.lesson.standing.at).collect();
    let mut series = vec![lessons];
    let mut names = vec!["lessons"];
    if let Some(memory) = &material.memory {
        let ended = memory.all.iter().filter_map(|session| words::moment(session.ended.as_deref()));
        series.push(ended.collect());
        names.push("sessions");
    }
    let (rows, unit) = over_time(&series, material.now);
    let plot = Plot { title: "Over time", rows_are: unit, series: &names, rows: &rows };
    shown_if(!rows.is_empty(), || plot.upright())
}

fn by_kind(material: &Material) -> Markup {
    let count = |category: Category| {
        let n = material.lessons.iter().filter(|placed| placed.lesson.category == category).count();
        Row { name: words::kind(category).to_owned(), counts: vec![n as u64] }
    };
    let rows: Vec<Row> = [Category::Gotcha, Category::DeadEnd, Category::Insight, Category::UnfinishedThread]
        .map(count)
        .into();
    let plot = Plot { title: "Lessons by kind", rows_are: "kind", series: &["lessons"], rows: &rows };
    shown_if(!material.lessons.is_empty(), || plot.flat())
}

fn by_agent(material: &Material) -> Markup {
    let Some(memory) = &material.memory else { return html! {} };
    let rows = counted_by(memory.all.iter().map(|session| words::line(&session.agent, 40)));
    let plot = Plot { title: "Sessions by agent", rows_are: "agent", series: &["sessions"], rows: &rows };
    shown_if(!rows.is_empty(), || plot.flat())
}

/// What agents were shown by week, and how much of it was used.
fn shown_and_used(material: &Material) -> Markup {
    let Some(memory) = &material.memory else { return html! {} };
    let weeks: Vec<_> = memory.by_week.weeks.iter().take(52).rev().collect();
    let tokens: Vec<Row> = weeks
        .iter()
        .map(|week| Row {
            name: week.week.clone(),
            // The share that was used, of what is known.
            counts: vec![week.tokens as u64, share(week.tokens, week.used, week.known)],
        })
        .collect();
    let items: Vec<Row> = weeks
        .iter()
        .map(|week| Row { name: week.week.clone(), counts: vec![week.shown as u64, week.used as u64] })
        .collect();
    html! {
        (shown_if(!weeks.is_empty(), || Plot { title: "Tokens shown to agents", rows_are: "week", series: &["shown", "used, by the share of items"], rows: &tokens }.upright()))
        (shown_if(!weeks.is_empty(), || Plot { title: "Items shown to agents", rows_are: "week", series: &["shown", "used"], rows: &items }.upright()))
    }
}

/// The part of `tokens` that `used` is of `known`.
fn share(tokens: usize, used: usize, known: usize) -> u64 {
    (tokens as u64 * used as u64).checked_div(known as u64).unwrap_or_default()
}

fn coverage(material: &Material) -> Markup {
    let Some(status) = &material.coverage else { return html! {} };
    let tiles: Vec<Tile> = status
        .by_directory
        .iter()
        .map(|covered| Tile {
            name: if covered.name.is_empty() {
                "(root)".to_owned()
            } else {
                words::path(&covered.name).into_owned()
            },
            size: covered.commits,
            n_annotated: covered.annotated,
        })
        .collect();
    let title = match status.is_cut {
        true => format!("Annotated commits by folder, of the newest {}", status.coverage.commits),
        false => "Annotated commits by folder".to_owned(),
    };
    shown_if(tiles.iter().any(|tile| 0 < tile.size), || treemap(&title, &tiles))
}

/// How often each of `names` comes, the most frequent first.
fn counted_by(names: impl Iterator<Item = String>) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    for name in names {
        match rows.iter_mut().find(|row| row.name == name) {
            Some(row) => row.counts[0] += 1,
            None => rows.push(Row { name, counts: vec![1] }),
        }
    }
    rows.sort_by(|left, right| right.counts.cmp(&left.counts).then_with(|| left.name.cmp(&right.name)));
    rows.truncate(MOST_NAMES);
    rows
}

fn shown_if(is_shown: bool, plot: impl FnOnce() -> Markup) -> Markup {
    if is_shown {
        plot()
    } else {
        html! {}
    }
}
