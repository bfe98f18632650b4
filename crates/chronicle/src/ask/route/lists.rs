//! Which questions ask for a list or a number, and of what.

use std::ops::Range;

use chronicle_memory::listing::Listed;

use super::{pattern::Pattern, words::Word};

/// The patterns, in the order in which they are tried; `$` is what the sessions are to be about.
const LISTS: [(Listed, &[&str]); 5] = [
    (
        Listed::PullRequests,
        &[
            "prs|pull requests? * for|about|regarding|concerning $",
            "@did @i open|opened|make|made|create|created|file|filed a|the|any pr|pull request? for|about|on $",
            "how? many|which|what|all|the|my|our|any|every prs",
            "how? many|which|what|all|the|my|our|any|every pull requests",
            "^ prs|pull requests? from|in|since|of",
        ],
    ),
    (
        Listed::Commits,
        &[
            "how? many|which|what|all|the|my commits * for|about|from|of|with $",
            "how? many|which|what|all|my commits",
        ],
    ),
    (
        Listed::Files,
        &[
            "how? many|which|what files * touch~|chang~|edit~|modif~ for|in|during|while|by $",
            "how? many|which|what files * for $",
            "how? many|which|what files * touch~|chang~|edit~|modif~",
        ],
    ),
    (
        Listed::Branches,
        &["how? many|which|what|all|my branches * for|about $", "how? many|which|what|all|my branches"],
    ),
    (
        Listed::Sessions,
        &[
            "how many sessions|conversations|chats were|was|are? about|on|for|with|touched|touching|touch|mention~|cover~|used|using|concern~|involv~ $",
            "how many sessions|conversations|chats",
            "how often|frequently @did @i work|worked|working on|with $",
            "how many times @did @i work|worked on|with $",
            "how much time @did @i? spend|spent|put on|in|into $",
            "^ all|every|the|my|which|what of? the|my? sessions|conversations|chats were|are|that? about|on|mention~ $",
            "^ which|what sessions @did @i have|had|do|did",
        ],
    ),
];

/// What is to be listed, and the words that narrow it.
pub(super) fn listed(words: &[Word]) -> Option<(Listed, Option<Range<usize>>)> {
    LISTS.iter().find_map(|(listed, patterns)| {
        let found = patterns.iter().find_map(|pattern| Pattern(pattern).found(words))?;
        Some((*listed, found))
    })
}
