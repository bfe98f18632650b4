//! Whose words give way where there is no room for all: a stranger's first, then the team's, the user's own last.

use std::collections::HashMap;

use crate::format::correction::{CorrectionItem, Tier};

/// How much of what strangers say in one note an answer shows in each of its lists.
pub const MOST_OF_STRANGERS: usize = 20;

/// How many remarks of strangers are shown with one claim.
const MOST_REMARKS: usize = 3;

/// The longest text of a stranger's remark that is shown with a claim, in bytes.
const LONGEST_REMARK: usize = 300;

/// Which of a list's items stay where only `most` do, each given by how far its author is trusted: the first ones of
/// the user's own, then of the team's, then of strangers'.
#[must_use]
pub fn kept(tiers: &[Tier], most: usize) -> Vec<bool> {
    let mut room = most;
    let mut left = [Tier::Own, Tier::Team, Tier::Unknown].map(|tier| {
        let n_kept = tiers.iter().filter(|other| **other == tier).count().min(room);
        room -= n_kept;
        (tier, n_kept)
    });
    let mut stays = |tier: &Tier| {
        let of_tier = left.iter_mut().find(|(other, n_left)| other == tier && 0 < *n_left);
        of_tier.map(|(_, n_left)| *n_left -= 1).is_some()
    };
    tiers.iter().map(&mut stays).collect()
}

/// Cuts `list` to `most` items, as [`kept`] chooses; their order stays.
pub fn cut<T>(list: &mut Vec<T>, most: usize, tier: impl Fn(&T) -> Tier) {
    if list.len() <= most {
        return;
    }
    let tiers: Vec<Tier> = list.iter().map(tier).collect();
    let mut stays = kept(&tiers, most).into_iter();
    list.retain(|_| stays.next().unwrap_or_default());
}

/// Leaves out what strangers say beyond [`MOST_OF_STRANGERS`] in one note. `said` gives the commit that an item is
/// stored on, and how far its author is trusted. Returns how much was left out.
pub fn cap<T>(list: &mut Vec<T>, said: impl Fn(&T) -> (String, Tier)) -> usize {
    let n_before = list.len();
    if n_before <= MOST_OF_STRANGERS {
        return 0;
    }
    let mut n_shown: HashMap<String, usize> = HashMap::new();
    list.retain(|item| {
        let (commit, tier) = said(item);
        if tier != Tier::Unknown {
            return true;
        }
        let n_shown = n_shown.entry(commit).or_default();
        *n_shown += 1;
        *n_shown <= MOST_OF_STRANGERS
    });
    n_before - list.len()
}

/// Leaves out strangers' remarks on a claim beyond the newest few of those that count and of those that don't, and
/// cuts the texts of the others: they are no part of the claim, and must not be longer than it.
pub fn cap_remarks(remarks: &mut Vec<CorrectionItem>) {
    if remarks.iter().all(|remark| remark.trust != Tier::Unknown) {
        return;
    }
    let mut n_shown = [0; 2];
    // The newest are last.
    remarks.reverse();
    remarks.retain(|remark| {
        let n_shown = &mut n_shown[usize::from(remark.is_remark)];
        *n_shown += usize::from(remark.trust == Tier::Unknown);
        remark.trust != Tier::Unknown || *n_shown <= MOST_REMARKS
    });
    remarks.reverse();
    for remark in remarks.iter_mut().filter(|remark| remark.trust == Tier::Unknown) {
        let CorrectionItem { field, target_value, replacement, reason, .. } = remark;
        let texts = [field, target_value, replacement].into_iter().flatten();
        for text in texts.chain([reason]).filter(|text| LONGEST_REMARK < text.len()) {
            text.truncate(text.floor_char_boundary(LONGEST_REMARK));
            text.push('…');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::correction::CorrectionKind;

    #[test]
    fn strangers_give_way_first_and_the_order_stays() {
        use Tier::{Own, Team, Unknown};
        let all = [("a", Unknown), ("b", Team), ("c", Own), ("d", Unknown), ("e", Own), ("f", Team)];
        let cut_to = |most: usize| {
            let mut list = all.to_vec();
            cut(&mut list, most, |(_, tier)| *tier);
            list.into_iter().map(|(name, _)| name).collect::<String>()
        };
        let expected = ["", "c", "ce", "bce", "bcef", "abcef", "abcdef", "abcdef"];
        assert_eq!([0, 1, 2, 3, 4, 5, 6, 7].map(cut_to), expected);
    }

    #[test]
    fn one_note_of_a_stranger_has_only_so_much_room() {
        let mut list: Vec<(String, Tier)> = Vec::new();
        for (commit, tier) in [("one", Tier::Unknown), ("other", Tier::Unknown), ("mine", Tier::Own)] {
            list.extend(std::iter::repeat_n((commit.to_owned(), tier), MOST_OF_STRANGERS + 5));
        }
        assert_eq!(cap(&mut list, |(commit, tier)| (commit.clone(), *tier)), 10);
        let n_of = |name: &str| list.iter().filter(|(commit, _)| commit == name).count();
        assert_eq!(
            (n_of("one"), n_of("other"), n_of("mine")),
            (MOST_OF_STRANGERS, MOST_OF_STRANGERS, MOST_OF_STRANGERS + 5)
        );
    }

    #[test]
    fn the_remarks_of_strangers_are_few_and_short() {
        let remark = |number: usize, trust| CorrectionItem {
            id: None,
            kind: CorrectionKind::Flag,
            meant: None,
            field: None,
            target_value: None,
            replacement: None,
            reason: format!("{number}{}", "ü".repeat(400)),
            author: None,
            timestamp: String::new(),
            trust,
            origin: None,
            is_remark: true,
        };
        let mut remarks: Vec<_> = (0..6).map(|number| remark(number, Tier::Unknown)).collect();
        remarks.insert(1, remark(9, Tier::Team));
        cap_remarks(&mut remarks);
        let told: Vec<(&str, bool)> =
            remarks.iter().map(|remark| (&remark.reason[..1], remark.reason.len() < 310)).collect();
        assert_eq!(told, [("9", false), ("3", true), ("4", true), ("5", true)]);
    }
}
