//! How much a word in a turn tells. `docs/search.md` says how these numbers were found.

use crate::index::{IndexedTurn, voice::Voice};

/// How fast one more of the same word ceases to matter, in turns.
const SATURATION: f32 = 1.0;

/// The length, in words, up to which a turn is no longer than what people say, and how much each such length beyond it
/// counts against it: long text has every word.
const USUAL_SPEECH: f32 = 30.0;
const LONGER: f32 = 0.2;

/// What a voice is worth.
#[derive(Debug, Clone, Copy)]
pub(super) struct Worth {
    /// What its own words count.
    pub own: f32,
    /// What it lends of them to the turns around it.
    lends: f32,
    /// How much the length of a turn counts against it.
    length: f32,
}

/// What each voice is worth.
pub(super) const fn worth(voice: Voice) -> Worth {
    match voice {
        Voice::Human => Worth { own: 1.0, lends: 0.25, length: 0.4 },
        Voice::Agent => Worth { own: 1.0, lends: 0.5, length: 0.2 },
        Voice::Person => Worth { own: 1.0, lends: 1.0, length: 0.25 },
        Voice::Command => Worth { own: 1.0, lends: 1.0, length: 0.2 },
        Voice::Edit => Worth { own: 0.5, lends: 1.0, length: 0.2 },
        Voice::Tool => Worth { own: 0.3, lends: 0.0, length: 0.2 },
        Voice::Other => Worth { own: 1.0, lends: 1.0, length: 0.2 },
    }
}

/// The least and the most that length counts against a turn, whoever speaks.
const LENGTHS: [f32; 2] = [0.2, 0.4];

/// How many times more the words of a human count where the question is about who asks it (`did I say …`).
const FIRST_PERSON: f32 = 1.4;

/// How fast the words of a human count more, and those of an agent less, as the agent's turns get longer than the
/// human's: whoever says much says less with each word.
const BREVITY: f32 = 0.1;

/// How many times more or less, at most.
const MOST_BREVITY: f32 = 1.6;

/// What a word counts that only asks (`mention`, `recommend`), in parts of another.
pub(super) const ASKING_WORD: f32 = 0.15;

/// What a turn gets for having much of the question, each word once.
const COVERAGE: f32 = 0.1;

/// The same for sessions.
const SESSION_SATURATION: f32 = 1.2;
const SESSION_LENGTH: f32 = 0.4;

/// What the turn right before adds, of its own score, and the one before that.
pub(super) const BEFORE: [f32; 2] = [0.4, 0.4];

/// What the turn right after adds.
pub(super) const AFTER: f32 = 0.5;

/// What the turn right before adds on top where it asks: an answer seldom repeats the question.
pub(super) const ANSWER: f32 = 0.4;

// Otherwise a turn could get more from its neighbour than by having the word itself, which `bound` relies on.
const _: () = assert!(BEFORE[0] + ANSWER <= 1.0);

/// What a turn that asks loses, of what all words of the question together tell: it tells nothing itself.
pub(super) const ASKING: f32 = 0.03;

/// What a turn gets, of what all words together tell, whose vector is nearer than those of others by as much as they
/// usually differ.
pub(super) const VECTOR: f32 = 0.05;

/// How many times as far as usual a vector has to be nearer than the others, for a turn without a word of the question.
pub(super) const STANDS_OUT: f32 = 2.0;

/// Cosines that differ less than this are all the same.
pub(super) const LEAST_USUAL: f32 = 1e-3;

/// The cosine from which on a word stands for another.
const LEAST_NEAR: f32 = 0.3;

/// The cosine from which on a word is looked for at all: one that is farther away stands for less than a fifth, and its
/// list takes as long to read.
pub(super) const LEAST_SOUGHT: f32 = 0.4;

/// How fast it does so more as the cosine rises.
const NEARNESS: f32 = 1.3;

/// How far the same word in several of these turns counts once only, as in the best of them.
const ONCE: f32 = 0.75;

/// What the session as a whole adds.
pub(super) const SESSION: f32 = 0.8;

/// How much there is to look in.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Statistics {
    pub n_turns: f32,
    pub n_sessions: f32,
    pub n_terms: f32,
}

impl Statistics {
    /// What a term tells that stands in so many turns.
    pub(super) fn weight_in_turns(&self, n_having: f32) -> f32 {
        rarity(self.n_turns, n_having)
    }

    /// What a term tells that stands in so many sessions.
    pub(super) fn weight_in_sessions(&self, n_having: f32) -> f32 {
        rarity(self.n_sessions, n_having)
    }

    /// How much of its weight a term gives to a turn in which it stands `n_times`.
    pub(super) fn in_turn(&self, n_times: f32, turn: &IndexedTurn) -> f32 {
        self.of_length(n_times, turn.n_terms as f32, worth(turn.voice).length)
    }

    fn of_length(&self, n_times: f32, n_terms: f32, by_length: f32) -> f32 {
        let usual = self.n_terms / self.n_turns.max(1.0);
        let longer = LONGER * (n_terms / USUAL_SPEECH - 1.0).max(0.0);
        let length = 1.0 - by_length + by_length * n_terms / usual.max(1.0) + longer;
        n_times * (SATURATION + 1.0) / (n_times + SATURATION * length)
    }

    /// The same for a session.
    pub(super) fn in_session(&self, n_times: f32, n_terms: f32) -> f32 {
        let usual = self.n_terms / self.n_sessions.max(1.0);
        share(n_times, n_terms / usual.max(1.0), SESSION_SATURATION, SESSION_LENGTH)
    }

    /// More than a term gives to no turn of a session that has it so often, in so many of its turns.
    pub(super) fn most_in_turn(&self, n_times: u32, n_turns: u32) -> f32 {
        // All but one of the turns have it once at least.
        let n_times = (n_times - n_turns.min(n_times) + 1) as f32;
        let least = LENGTHS.map(|by_length| self.of_length(n_times, n_times, by_length));
        MOST_OWN * least[0].max(least[1])
    }
}

/// How many times what one turn has of a word no turn gets of it, where so many turns have it.
pub(super) fn most_around(n_turns: u32) -> f32 {
    let mut around = [1.0, BEFORE[0], AFTER, BEFORE[1]];
    around.sort_by(|left, right| right.total_cmp(left));
    around.iter_mut().skip(n_turns as usize).for_each(|share| *share = 0.0);
    blended(around) + if 1 < n_turns { ANSWER } else { 0.0 }
}

/// How far a word stands for one of the question that is so near, of these weights.
pub(super) fn likeness(cosine: f32, weight: f32, of_question: f32) -> f32 {
    // A frequent word does not become a rare one by standing for it.
    let rarity = if weight < of_question { weight / of_question } else { 1.0 };
    (NEARNESS * (cosine - LEAST_NEAR) / (1.0 - LEAST_NEAR)).clamp(0.0, 1.0) * rarity
}

/// What a term gives to a turn that has these shares of it, by itself and by its neighbours.
pub(super) fn blended(shares: [f32; 4]) -> f32 {
    let sum: f32 = shares.iter().sum();
    let best = shares.into_iter().fold(0.0, f32::max);
    (1.0 - ONCE) * sum + ONCE * best
}

fn rarity(n_all: f32, n_having: f32) -> f32 {
    f32::ln(1.0 + (n_all - n_having + 0.5).max(0.0) / (n_having + 0.5))
}

fn share(n_times: f32, length: f32, saturation: f32, by_length: f32) -> f32 {
    n_times * (saturation + 1.0) / (n_times + saturation * (1.0 - by_length + by_length * length))
}

/// What turns of each voice are worth in one session, to one question.
pub(super) struct Voices {
    brevity: f32,
    first_person: f32,
}

impl Voices {
    pub(super) fn of(turns: &[IndexedTurn], is_first_person: bool) -> Self {
        let usual = |voice: Voice| {
            let lengths: Vec<f32> =
                turns.iter().filter(|turn| turn.voice == voice).map(|turn| turn.n_terms as f32).collect();
            (!lengths.is_empty()).then(|| (lengths.iter().sum::<f32>() / lengths.len() as f32).max(1.0))
        };
        let brevity = match (usual(Voice::Human), usual(Voice::Agent)) {
            (Some(human), Some(agent)) => {
                (agent / human).powf(BREVITY).clamp(MOST_BREVITY.recip(), MOST_BREVITY)
            }
            _ => 1.0,
        };
        Self { brevity, first_person: if is_first_person { FIRST_PERSON } else { 1.0 } }
    }

    /// What a turn's own words count.
    pub(super) fn own(&self, voice: Voice) -> f32 {
        worth(voice).own
            * match voice {
                Voice::Human => self.brevity * self.first_person,
                Voice::Agent => self.brevity.recip(),
                _ => 1.0,
            }
    }
}

/// What a turn lends of its words to those around it.
pub(super) fn lent(voice: Voice) -> f32 {
    worth(voice).lends
}

/// What a turn gets for words of the question that weigh `covered` of `all`.
pub(super) fn coverage(covered: f32, all: f32) -> f32 {
    COVERAGE * covered * covered / all.max(f32::MIN_POSITIVE)
}

/// More than that no word gives to a turn for its coverage, in parts of its weight.
pub(super) const MOST_COVERAGE: f32 = COVERAGE;

/// How many times more than its share a turn gets of its own words, at most.
const MOST_OWN: f32 = MOST_BREVITY * FIRST_PERSON;
