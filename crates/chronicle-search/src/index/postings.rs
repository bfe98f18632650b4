//! Where a term stands: a list of groups, one for each session, as bytes.
//!
//! A group is the session (what is added to the one before), twice the number of
//! turns, plus one where the term stands more than once in one of them, and the
//! turns, counted from the beginning of the session. Several turns have before them
//! how often the term stands in the session and how many bytes follow: a
//! session that cannot matter is passed over.

/// The turns of one session in which a term stands.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Group<'a> {
    /// The session.
    pub session: u64,
    /// How many turns have the term.
    pub n_turns: u32,
    /// How often the session has the term.
    pub n_times: u32,
    /// Everything after the session.
    raw: &'a [u8],
    /// The turns.
    body: &'a [u8],
    /// Whether numbers of times stand beside the turns.
    has_times: bool,
}

/// One turn in which a term stands, and how often.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    /// The turn, counted from the beginning of its session.
    pub turn: u32,
    /// How often.
    pub n_times: u32,
}

/// Reads the groups of a list. What is damaged ends the list.
#[derive(Debug, Clone)]
pub(crate) struct Groups<'a> {
    bytes: &'a [u8],
    session: u64,
}

impl<'a> Groups<'a> {
    pub(crate) fn of(bytes: &'a [u8]) -> Self {
        Self { bytes, session: 0 }
    }
}

impl Groups<'_> {
    /// How many bytes were not read yet.
    pub(crate) fn left(&self) -> usize {
        self.bytes.len()
    }
}

impl<'a> Iterator for Groups<'a> {
    type Item = Group<'a>;

    #[inline]
    fn next(&mut self) -> Option<Group<'a>> {
        self.session = self.session.checked_add(number(&mut self.bytes)?)?;
        Group::read(self.session, &mut self.bytes)
    }
}

impl<'a> Group<'a> {
    /// Takes the group of `session` off the beginning.
    #[inline]
    pub(crate) fn read(session: u64, bytes: &mut &'a [u8]) -> Option<Self> {
        let raw = *bytes;
        let mut rest = raw;
        let head = small(&mut rest)?;
        let (n_turns, has_times) = (head >> 1, head & 1 == 1);
        let (n_times, body, after) = if n_turns == 1 {
            let mut body = rest;
            let _turn = number(&mut body)?;
            let n_times = if has_times { small(&mut body)? } else { 1 };
            (n_times, &rest[..rest.len() - body.len()], body)
        } else {
            let n_times = if has_times { small(&mut rest)? } else { n_turns };
            let length = usize::try_from(number(&mut rest)?).ok()?;
            let (body, after) = rest.split_at_checked(length)?;
            (n_times, body, after)
        };
        *bytes = after;
        Some(Self { session, n_turns, n_times, raw: &raw[..raw.len() - after.len()], body, has_times })
    }

    /// How many bytes it has, without the session.
    pub(crate) fn length(&self) -> usize {
        self.raw.len()
    }

    /// The turns.
    pub(crate) fn places(&self) -> impl Iterator<Item = Place> + use<'a> {
        let (mut body, has_times) = (self.body, self.has_times);
        let mut turn = 0;
        std::iter::from_fn(move || {
            turn = small(&mut body)?.checked_add(turn)?;
            let n_times = if has_times { small(&mut body)? } else { 1 };
            Some(Place { turn, n_times })
        })
    }
}

/// Writes the groups of a list, by rising sessions.
#[derive(Debug, Default)]
pub(crate) struct ListWriter {
    pub bytes: Vec<u8>,
    session: u64,
    body: Vec<u8>,
}

impl ListWriter {
    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        self.session = 0;
    }

    /// Adds the group of `session` with these places, by rising turns.
    pub(crate) fn add(&mut self, session: u64, places: &[Place]) {
        put(&mut self.bytes, session - self.session);
        self.session = session;
        let n_times: u64 = places.iter().map(|place| u64::from(place.n_times)).sum();
        let has_times = n_times != places.len() as u64;
        put(&mut self.bytes, (places.len() as u64) << 1 | u64::from(has_times));
        self.body.clear();
        let mut turn = 0;
        for place in places {
            put(&mut self.body, u64::from(place.turn - turn));
            turn = place.turn;
            if has_times {
                put(&mut self.body, u64::from(place.n_times));
            }
        }
        if 1 < places.len() {
            if has_times {
                put(&mut self.bytes, n_times);
            }
            put(&mut self.bytes, self.body.len() as u64);
        }
        self.bytes.extend_from_slice(&self.body);
    }

    /// Adds a group as it is elsewhere.
    pub(crate) fn copy(&mut self, group: &Group<'_>) {
        put(&mut self.bytes, group.session - self.session);
        self.session = group.session;
        self.bytes.extend_from_slice(group.raw);
    }
}

/// How many turns and terms there are of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Extent {
    /// The session.
    pub session: u64,
    /// Its turns.
    pub n_turns: u64,
    /// Its terms, each as often as it stands there.
    pub n_terms: u64,
}

/// The list that stands in the place of term 0: the extents of sessions.
pub(crate) fn extents(mut bytes: &[u8]) -> impl Iterator<Item = Extent> {
    let mut session = 0;
    std::iter::from_fn(move || {
        session = number(&mut bytes)?.checked_add(session)?;
        Some(Extent { session, n_turns: number(&mut bytes)?, n_terms: number(&mut bytes)? })
    })
}

/// The same, written.
pub(crate) fn put_extents(extents: &[Extent]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut session = 0;
    for extent in extents {
        put(&mut bytes, extent.session - session);
        session = extent.session;
        put(&mut bytes, extent.n_turns);
        put(&mut bytes, extent.n_terms);
    }
    bytes
}

/// Adds a number, seven bits in a byte.
#[expect(clippy::cast_possible_truncation, reason = "the bits beyond were taken off")]
pub(crate) fn put(bytes: &mut Vec<u8>, mut number: u64) {
    while 0x7f < number {
        bytes.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Takes a number off the beginning.
#[inline]
pub(crate) fn number(bytes: &mut &[u8]) -> Option<u64> {
    let (first, rest) = bytes.split_first()?;
    if *first < 0x80 {
        *bytes = rest;
        return Some(u64::from(*first));
    }
    let mut number = u64::from(first & 0x7f);
    for (place, byte) in rest.iter().enumerate().take(9) {
        number |= u64::from(byte & 0x7f) << (7 * (place + 1));
        if *byte < 0x80 {
            *bytes = &rest[place + 1..];
            return Some(number);
        }
    }
    None
}

#[inline]
fn small(bytes: &mut &[u8]) -> Option<u32> {
    u32::try_from(number(bytes)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(list: &[(u32, u32)]) -> Vec<Place> {
        list.iter().map(|(turn, n_times)| Place { turn: *turn, n_times: *n_times }).collect()
    }

    #[test]
    fn a_list_is_read_as_it_was_written() {
        let groups = [
            (3, places(&[(0, 1)])),
            (4, places(&[(700, 3)])),
            (900, places(&[(1, 1), (2, 1), (300, 1)])),
            (901, places(&[(0, 2), (5, 1)])),
        ];
        let mut writer = ListWriter::default();
        for (session, places) in &groups {
            writer.add(*session, places);
        }
        let mut copied = ListWriter::default();
        for (group, (session, places)) in Groups::of(&writer.bytes).zip(&groups) {
            assert_eq!(group.session, *session);
            assert_eq!(group.n_turns as usize, places.len());
            assert_eq!(group.n_times, places.iter().map(|place| place.n_times).sum::<u32>());
            assert_eq!(group.places().collect::<Vec<_>>(), *places);
            copied.copy(&group);
        }
        assert_eq!(copied.bytes, writer.bytes);
    }

    #[test]
    fn a_damaged_list_ends() {
        let mut writer = ListWriter::default();
        writer.add(9, &places(&[(1, 1), (2, 9)]));
        for length in 0..writer.bytes.len() {
            assert_eq!(Groups::of(&writer.bytes[..length]).count(), 0);
        }
        assert!(Groups::of(&[0xff; 40]).next().is_none());
    }
}
