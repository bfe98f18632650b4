use super::*;

fn at(day: i64) -> Option<Timestamp> {
    Timestamp::from_second(1_772_366_400 + day * 86_400).ok()
}

fn evidence(session: &str) -> Evidence {
    Evidence { session: Some(session.into()), source: "turn".into(), words: "words".into() }
}

fn opened(session: &str, day: i64, priority: Priority) -> ThreadEvent {
    let opening = Opening {
        project: "pool".into(),
        branch: None,
        kind: ThreadKind::Todo,
        origin: Origin::Todo,
        summary: "Test the pool".into(),
        context: String::new(),
        priority,
        evidence: vec![evidence(session)],
    };
    event(session, day, Change::Opened(opening))
}

fn event(session: &str, day: i64, change: Change) -> ThreadEvent {
    ThreadEvent { thread: ThreadId("t".into()), session: Some(session.into()), at: at(day), change }
}

fn resolution(day: i64) -> Resolution {
    Resolution { how: How::Completed, note: None, at: at(day), evidence: vec![evidence("b")] }
}

fn replay(events: &[ThreadEvent]) -> Thread {
    Thread::replay(events).expect("it was opened")
}

#[test]
fn a_thread_lives_from_opening_to_resolution() {
    let mut events = vec![opened("a", 0, Priority::Low)];
    assert_eq!(replay(&events).status, Status::Pending);
    events.push(event("a", 0, Change::Begun));
    assert_eq!(replay(&events).status, Status::InProgress);
    events.push(event("b", 1, Change::Resolved(resolution(1))));
    let resolved = replay(&events);
    assert_eq!((resolved.status, resolved.resolution.unwrap().how), (Status::Resolved, How::Completed));
    events.push(event("c", 2, Change::Reopened));
    let reopened = replay(&events);
    assert_eq!((reopened.status, reopened.resolution), (Status::Pending, None));
    events.push(event("c", 3, Change::Dropped(resolution(3))));
    assert_eq!(replay(&events).status, Status::Abandoned);
}

#[test]
fn nothing_happens_before_a_thread_came_up() {
    assert_eq!(Thread::replay(&[event("a", 0, Change::Begun)]), None);
}

#[test]
fn the_same_events_again_change_nothing() {
    let events = [
        opened("a", 0, Priority::Low),
        opened("b", 1, Priority::Low),
        event("b", 1, Change::Resolved(resolution(1))),
    ];
    let once = replay(&events);
    let again: Vec<ThreadEvent> = events.iter().chain(&events).chain(&events).cloned().collect();
    assert_eq!(replay(&again), once);
    assert_eq!(once.n_mentions, 2);
}

#[test]
fn what_comes_up_after_it_was_closed_is_open_again() {
    let closed = [opened("a", 0, Priority::Low), event("b", 5, Change::Resolved(resolution(5)))];
    let later = [&closed[..], &[opened("c", 9, Priority::Low)]].concat();
    assert_eq!(replay(&later).status, Status::Pending);
    let earlier = [&closed[..], &[opened("c", 2, Priority::Low)]].concat();
    assert_eq!(replay(&earlier).status, Status::Resolved);
}

#[test]
fn a_proposal_closes_nothing() {
    let events = [opened("a", 0, Priority::Low), event("b", 1, Change::Proposed(resolution(1)))];
    let thread = replay(&events);
    assert!(thread.is_open() && thread.proposal.is_some() && thread.resolution.is_none());
}

#[test]
fn mentions_make_it_urgent_unless_somebody_set_the_priority() {
    let mut events =
        vec![opened("a", 0, Priority::Low), opened("b", 1, Priority::Low), opened("c", 2, Priority::Low)];
    assert_eq!(replay(&events).priority, Priority::High);
    events.insert(1, event("hand", 0, Change::Prioritised(Priority::Low)));
    assert_eq!(replay(&events).priority, Priority::Low);
}

#[test]
fn what_nobody_mentions_for_a_month_is_archived() {
    let thread = replay(&[opened("a", 0, Priority::Low)]);
    assert!(!thread.is_archived(at(30).unwrap()));
    assert!(thread.is_archived(at(31).unwrap()));
    assert!(!thread.is_archived(at(-5).unwrap()), "a clock that was set back");
    let timeless = Thread { last_mentioned: None, ..thread };
    assert!(!timeless.is_archived(at(99).unwrap()));
}

#[test]
fn urgent_threads_come_first_and_blocked_ones_last() {
    let of = |priority, id: &str, blocked: bool| {
        let mut thread = replay(&[opened("a", 0, priority)]);
        thread.id = ThreadId(id.into());
        if blocked {
            thread.apply(&event("a", 0, Change::BlockedBy(ThreadId("other".into()))));
        }
        thread
    };
    let mut threads =
        [of(Priority::Low, "1", false), of(Priority::High, "2", true), of(Priority::High, "3", false)];
    threads.sort_by_key(|thread| thread.rank(!thread.blocked_by.is_empty()));
    assert_eq!(threads.clone().map(|thread| thread.id.0), ["3", "2", "1"]);
    assert!(threads.iter().all(|thread| thread.place(true) < PLACES));
    threads.sort_by_key(|thread| thread.rank(false));
    assert_eq!(threads.map(|thread| thread.id.0), ["2", "3", "1"], "what it waited for is done");
}

#[test]
fn a_thread_neither_waits_for_itself_nor_links_to_itself() {
    let itself = || ThreadId("t".into());
    let thread = replay(&[
        opened("a", 0, Priority::Low),
        event("a", 0, Change::BlockedBy(itself())),
        event("a", 0, Change::Linked(itself())),
    ]);
    assert!(thread.blocked_by.is_empty() && thread.links.is_empty());
}

#[test]
fn ids_and_likeness_go_by_the_words_that_matter() {
    let id = |summary| ThreadId::derived("pool", summary);
    assert_eq!(id("Add tests for the `Pool`"), id("add test for pool"));
    assert_ne!(id("Add tests for the pool"), id("Add docs for the pool"));
    assert_ne!(id("Add tests"), ThreadId::derived("other", "Add tests"));
    assert!(is_alike("Add unit tests for pool acquire", "Adding unit tests for the pool's acquire"));
    assert!(is_alike("Writing the queries to files", "Write a query to the file"));
    assert!(!is_alike("Finish task 3 of the plan", "Finish task 4 of the plan"));
    assert!(!is_alike("Update the README", "Run all tests"));
}

#[test]
fn rules_give_the_priority() {
    assert_eq!(priority(ThreadKind::Incomplete, "fix the build", true, false), Priority::High);
    assert_eq!(priority(ThreadKind::Todo, "Critical: rotate the key", false, false), Priority::High);
    assert_eq!(priority(ThreadKind::Question, "which one?", false, false), Priority::Medium);
    assert_eq!(priority(ThreadKind::Incomplete, "step 2", false, true), Priority::Medium);
    assert_eq!(priority(ThreadKind::Deferred, "rename it", false, false), Priority::Low);
}

#[test]
fn a_thread_survives_json() {
    let events = [opened("a", 0, Priority::Low), event("b", 1, Change::Resolved(resolution(1)))];
    let text = serde_json::to_string(&events).unwrap();
    assert!(text.contains("\"how\":\"completed\""), "{text}");
    assert_eq!(serde_json::from_str::<Vec<ThreadEvent>>(&text).unwrap(), events);
    let thread = replay(&events);
    let text = serde_json::to_string(&thread).unwrap();
    assert!(text.contains("\"status\":\"resolved\""), "{text}");
    assert_eq!(serde_json::from_str::<Thread>(&text).unwrap(), thread);
}

/// Something that a session, or a hand, does to a thread on one of a few days; none has no time.
fn any_event() -> impl proptest::strategy::Strategy<Value = ThreadEvent> {
    use proptest::prelude::*;
    let change = (0..9u8, 0..12i64).prop_map(|(kind, day)| match kind {
        0..=2 => opened(["a", "b", "c"][usize::from(kind)], day, Priority::Low).change,
        3 => Change::Begun,
        4 => Change::PutBack,
        5 => Change::Resolved(resolution(day)),
        6 => Change::Dropped(resolution(day)),
        7 => Change::Reopened,
        _ => Change::Proposed(resolution(day)),
    });
    let session = proptest::sample::select(vec![None, Some("a"), Some("b"), Some("c")]);
    (change, session, proptest::option::weighted(0.8, 0..6i64)).prop_map(|(change, session, day)| {
        let day = day.and_then(at);
        ThreadEvent { thread: ThreadId("t".into()), session: session.map(str::to_owned), at: day, change }
    })
}

proptest::proptest! {
    #[test]
    fn the_order_in_which_events_are_read_does_not_matter(
        events in proptest::collection::vec(any_event(), 0..12),
        seed in proptest::prelude::any::<u64>(),
    ) {
        let sorted = |mut events: Vec<ThreadEvent>| {
            sort_events(&mut events);
            Thread::replay(&events)
        };
        let mut shuffled = events.clone();
        shuffled.sort_by_key(|event| Sha256::digest(format!("{seed} {event:?}")).to_vec());
        let twice: Vec<ThreadEvent> = shuffled.iter().chain(&events).cloned().collect();
        let once = sorted(events);
        proptest::prop_assert_eq!(&sorted(shuffled), &once);
        if let Some(thread) = once {
            proptest::prop_assert_eq!(thread.is_open(), thread.resolution.is_none());
            let again = sorted(twice).expect("it was opened");
            proptest::prop_assert_eq!((again.status, again.n_mentions), (thread.status, thread.n_mentions));
        }
    }
}
