//! What files next to a transcript say of its session: the folder it worked in, and whether a human began it.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use chronicle_git::files;
use chronicle_sessions::{Begun, ClineTask, unix_path};
use serde_json::Value;

/// Larger files are read by nobody.
const LARGEST: u64 = 4 << 20;

/// The folder of a session: the one it told, else the one that its agent keeps a list of, else that of the transcript.
pub(super) fn told_folder(folder: &str, transcript: &Path) -> String {
    if !folder.is_empty() {
        return folder.trim_end_matches('/').to_owned();
    }
    let parent = transcript.parent().unwrap_or(transcript);
    let slug_folder = parent.parent().filter(|_| parent.file_name().is_some_and(|name| name == "chats"));
    let listed = slug_folder.and_then(gemini_folder).or_else(|| kimi_folder(transcript));
    let listed = listed.map(|folder| unix_path(&folder).into_owned());
    listed.or_else(|| cursor_folder(transcript)).unwrap_or_else(|| parent.to_string_lossy().into_owned())
}

/// Kimi Code keeps the folder of a session in a file of its own.
fn kimi_folder(transcript: &Path) -> Option<String> {
    let is_wire = transcript.file_name().is_some_and(|name| name == "wire.jsonl");
    let session = transcript.parent()?.parent()?.parent().filter(|_| is_wire)?;
    read(&session.join("state.json"))?
        .get("workDir")?
        .as_str()
        .filter(|folder| !folder.is_empty())
        .map(str::to_owned)
}

/// Gemini CLI names the folder of a project's sessions by a word that it keeps in a list.
fn gemini_folder(slug_folder: &Path) -> Option<String> {
    let slug = slug_folder.file_name()?.to_str()?;
    let list = slug_folder.parent()?.parent()?.join("projects.json");
    let list = read(&list)?;
    let projects = list.get("projects").unwrap_or(&list).as_object()?;
    projects.iter().find(|(_, word)| word.as_str() == Some(slug)).map(|(folder, _)| folder.clone())
}

/// Cursor names the folder of a project's transcripts by its path, with dashes for everything that is no letter or
/// digit. The folder on disk with that name is it; where none is, the folder of transcripts stands for it.
fn cursor_folder(transcript: &Path) -> Option<String> {
    let above = transcript.ancestors().find(|above| above.ends_with("agent-transcripts"))?;
    let project = above.parent()?;
    let slug = project.file_name()?.to_str()?;
    let found = folder_of_slug(Path::new("/"), slug);
    Some(found.unwrap_or_else(|| project.to_owned()).to_string_lossy().into_owned())
}

/// The folder that a text of Claude Code's memory is about: it is in `projects/SLUG/memory`.
pub(crate) fn folder_of_memory(text: &Path) -> Option<PathBuf> {
    let memory = text.parent().filter(|folder| folder.ends_with("memory"))?;
    let slug = memory.parent()?.file_name()?.to_str()?;
    folder_of_slug(Path::new("/"), slug.strip_prefix('-')?)
}

/// The folder below `folder` whose path is written as `slug`; of several, the one that is a repository. A repository may
/// bring folders whose path is written like that of another project: where no rule tells them apart, it is none.
fn folder_of_slug(folder: &Path, slug: &str) -> Option<PathBuf> {
    let (mut n_looked_at, mut found) = (0, Vec::new());
    folders_of_slug(folder, slug, &mut n_looked_at, &mut found);
    if MOST_LOOKED_AT < n_looked_at {
        // There may be others.
        return None;
    }
    // A link to a folder is that folder.
    let mut known = Vec::new();
    found.retain(|folder| {
        let real = folder.canonicalize().unwrap_or_else(|_| folder.clone());
        let is_new = !known.contains(&real);
        known.push(real);
        is_new
    });
    let repositories: Vec<&PathBuf> = found.iter().filter(|folder| folder.join(".git").exists()).collect();
    match (&found[..], &repositories[..]) {
        ([only], _) => Some(only.clone()),
        (_, [only]) => Some((*only).clone()),
        _ => None,
    }
}

/// How many folders are looked at for one.
const MOST_LOOKED_AT: usize = 20_000;

fn folders_of_slug(folder: &Path, slug: &str, n_looked_at: &mut usize, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        *n_looked_at += 1;
        if MOST_LOOKED_AT < *n_looked_at {
            return;
        }
        let name = entry.file_name();
        let written: String = name
            .to_string_lossy()
            .chars()
            .map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '-' })
            .collect();
        let Some(rest) = slug.strip_prefix(written.trim_start_matches('-')).filter(|_| entry.path().is_dir())
        else {
            continue;
        };
        if rest.is_empty() {
            found.push(entry.path());
        } else if let Some(rest) = rest.strip_prefix('-') {
            folders_of_slug(&entry.path(), rest.trim_start_matches('-'), n_looked_at, found);
        }
    }
}

/// Who began the session of a file, where its rows don't say it: Kimi's is known by its place, Droid's by the tags in its
/// settings, and a task of Cline and its forks by its entry in the list of tasks, or by the task that it comes from.
pub(super) fn begun(transcript: &Path) -> Begun {
    let is_named = |path: &Path, name: &str| path.file_name().is_some_and(|found| found == name);
    let Some(parent) = transcript.parent() else { return Begun::ByHuman };
    let by_agent = |is_so: bool| if is_so { Begun::ByAgent } else { Begun::ByHuman };
    if is_named(transcript, "wire.jsonl") {
        return by_agent(parent.parent().is_some_and(|above| is_named(above, "subagents")));
    }
    if is_named(transcript, MESSAGES) {
        let entry = read(&parent.join("history_item.json")).unwrap_or_default();
        let is_subtask =
            !matches!(entry["parentTaskId"].as_str(), Some("")) && !entry["parentTaskId"].is_null();
        return if is_subtask { Begun::ByAgent } else { task_begun(transcript).unwrap_or_default() };
    }
    let settings = transcript.with_extension("settings.json");
    let settings = settings.is_file().then(|| read(&settings)).flatten().unwrap_or_default();
    let is_worker =
        |tag: &Value| tag["name"] == "decompSessionType" && tag["metadata"]["value"] != "orchestrator";
    by_agent(settings["tags"].as_array().is_some_and(|tags| tags.iter().any(is_worker)))
}

/// The messages of a task of Cline and its forks, in a folder of its own.
const MESSAGES: &str = "ui_messages.json";

/// How many tasks are looked at for the one that another comes from.
const MOST_TASKS: usize = 32;

/// How long after its last message a task may hand its words over.
const HANDED_WITHIN: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// How much of a file shows when its task began.
const HEAD: u64 = 16 << 10;

/// Who began the task of these messages, by what is next to it: the tasks that had begun by then, the latest first.
fn task_begun(transcript: &Path) -> Option<Begun> {
    let task = ClineTask::read(files::open(transcript).ok()?).ok()?;
    let began = task.began?;
    let since = UNIX_EPOCH.checked_add(Duration::from_millis(began))?.checked_sub(HANDED_WITHIN)?;
    let folders = std::fs::read_dir(transcript.parent()?.parent()?).ok()?;
    let mut before: Vec<(u64, PathBuf)> = folders
        .flatten()
        .map(|folder| folder.path().join(MESSAGES))
        .filter(|path| path != transcript)
        .filter_map(|path| {
            let is_recent = path.metadata().and_then(|found| found.modified()).is_ok_and(|at| since <= at);
            let head = || ClineTask::read(files::open(&path).ok()?.take(HEAD)).ok();
            // What begins with a long message may have begun at any time.
            let other = is_recent.then(head).flatten()?.began.unwrap_or_default();
            (other < began).then_some((other, path))
        })
        .collect();
    before.sort_by(|one, other| other.cmp(one));
    let others = before.iter().take(MOST_TASKS);
    let others: Vec<ClineTask> =
        others.filter_map(|(_, path)| ClineTask::read(files::open(path).ok()?).ok()).collect();
    Some(task.begun(&others))
}

fn read(path: &Path) -> Option<Value> {
    serde_json::from_slice(&files::read(path, LARGEST).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_began_a_session_is_known_by_what_is_next_to_it() {
        let check = |transcript: &str, next_to_it: Option<(&str, &str)>, expected: Begun| {
            let folder = tempfile::tempdir().expect("a folder");
            let path = folder.path().join(transcript);
            let parent = path.parent().expect("it is in a folder");
            std::fs::create_dir_all(parent).expect("it is made");
            if let Some((name, text)) = next_to_it {
                std::fs::write(parent.join(name), text).expect("it is written");
            }
            assert_eq!(begun(&path), expected, "{transcript} {next_to_it:?}");
        };
        let (human, agent) = (Begun::ByHuman, Begun::ByAgent);
        check("s/subagents/a/wire.jsonl", None, agent);
        check("s/wire.jsonl", None, human);
        check("t/ui_messages.json", Some(("history_item.json", r#"{"parentTaskId":"t0"}"#)), agent);
        check("t/ui_messages.json", Some(("history_item.json", r#"{"parentTaskId":null}"#)), human);
        let tags = |value: &str| {
            format!(r#"{{"tags":[{{"name":"decompSessionType","metadata":{{"value":"{value}"}}}}]}}"#)
        };
        check("5e55.jsonl", Some(("5e55.settings.json", &tags("worker"))), agent);
        check("5e55.jsonl", Some(("5e55.settings.json", &tags("orchestrator"))), human);
        check("5e55.jsonl", Some(("5e55.settings.json", "no JSON")), human);
        check("5e55.jsonl", None, human);
    }

    #[test]
    fn a_task_of_cline_is_known_by_the_one_that_it_comes_from() {
        let folder = tempfile::tempdir().expect("a folder");
        let task = |name: &str, at: u64, said: &str, more: &str| {
            let path = folder.path().join(name).join(MESSAGES);
            std::fs::create_dir_all(path.parent().expect("it is in a folder")).expect("it is made");
            let text = format!(r#"[{{"ts":{at},"type":"say","say":"task","text":"{said}"}}{more}]"#);
            std::fs::write(&path, text).expect("it is written");
            path
        };
        let handed = r#",{"ts":1772366500000,"type":"ask","ask":"new_task","text":"Go on with the pool."}"#;
        task("1", 1_772_366_400_000, "Fix it", handed);
        let child = task("2", 1_772_366_600_000, "Go on with the pool.", "");
        assert_eq!(begun(&child), Begun::WithHandedWords);
        // Who types the same words before is the first one.
        let earlier = task("3", 1_772_366_300_000, "Go on with the pool.", "");
        assert_eq!(begun(&earlier), Begun::ByHuman);
        assert_eq!(begun(&task("4", 1_772_366_600_000, "Go on", "")), Begun::ByHuman);
    }
}
