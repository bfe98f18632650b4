//! Models and their costs as text.

use std::fmt::Write;

use chronicle_llm::{Money, Prices};
use chronicle_workplace::{CostReport, LlmCheck, ModelNow};

use super::words;

pub(super) fn check(check: &LlmCheck) -> String {
    let mut out = String::new();
    for model in &check.models {
        let _ = writeln!(out, "- {}: {}", model.purpose, one(model));
    }
    let spent = Money::dollars(check.spent_today);
    let _ = match check.max_cost_per_day {
        Some(cap) => writeln!(out, "- limit: {} a day, {spent} of it spent today", Money::dollars(cap)),
        None => {
            writeln!(out, "- limit: none a day (chronicle.llm.maxCostPerDay sets one), {spent} spent today")
        }
    };
    if let Some(call) = &check.call {
        let cost = call
            .cost
            .map_or_else(|| "at an unknown price".to_owned(), |cost| Money::dollars(cost).to_string());
        let answer =
            if call.answer.is_empty() { "nothing".to_owned() } else { words::one_line(&call.answer) };
        let cut = if call.is_cut { ", cut at its limit" } else { "" };
        let _ = writeln!(
            out,
            "- call: answered `{answer}`{cut}; {} tokens read, {} written, {cost}",
            call.input_tokens, call.output_tokens
        );
    }
    out
}

fn one(model: &ModelNow) -> String {
    if let Some(reason) = &model.missing {
        return format!("none; {}", words::one_line(reason));
    }
    let shown = |text: &Option<String>| text.as_deref().map(words::path);
    let mut parts = vec![format!(
        "{} of {}",
        shown(&model.model).unwrap_or_default(),
        model.provider.unwrap_or("an unknown provider")
    )];
    parts.extend(shown(&model.base_url).map(|address| format!("at {address}")));
    parts.push(match (shown(&model.key_variable), model.base_url.is_some()) {
        (Some(variable), _) => format!("key from {variable}"),
        (None, true) => "without a key".to_owned(),
        (None, false) => "with its own login".to_owned(),
    });
    parts.push(match (model.price_input, model.price_output, model.price_from) {
        (_, _, Some("this machine")) => "free".to_owned(),
        (Some(input), Some(output), from) => {
            let of =
                if from == Some("list") { format!(", list of {}", Prices::as_of()) } else { String::new() };
            format!("${input} / ${output} for a million tokens read / written{of}")
        }
        _ => "price unknown".to_owned(),
    });
    parts.push(format!("room for {} tokens", model.context_tokens));
    parts.push(format!("{} s a call", model.timeout));
    parts.join(", ")
}

pub(super) fn cost(report: &CostReport) -> String {
    if report.rows.is_empty() {
        return String::new();
    }
    let mut out = String::from(
        "| day | model | for | calls | read | written | from cache | into cache | cost |\n|---|---|---|--:|--:|--:|--:|--:|--:|\n",
    );
    for row in &report.rows {
        let cost = row.cost.map_or_else(|| "unknown".to_owned(), |cost| Money::dollars(cost).to_string());
        let open =
            if row.unsettled == 0 { String::new() } else { format!(" ({} not settled)", row.unsettled) };
        let _ = writeln!(
            out,
            "| {} | {} | {} | {}{open} | {} | {} | {} | {} | {cost} |",
            words::path(&row.day),
            words::path(&row.model).replace('|', "?"),
            row.purpose,
            row.calls,
            row.input_tokens,
            row.output_tokens,
            row.cache_read_tokens,
            row.cache_written_tokens,
        );
    }
    let _ = writeln!(out, "\nTogether since {}: {}", words::path(&report.since), Money::dollars(report.cost));
    out
}
