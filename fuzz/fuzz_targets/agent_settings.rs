//! Settings files of agents, as users left them: setting up changes them in its own lines only, and taking out gives
//! the same bytes back.

#![no_main]

use std::{fs, path::Path};

use chronicle::Chronicle;
use chronicle_fuzz::{environment, now, on_ground, user_folder};
use chronicle_serve::{
    hooks::Host,
    setup::{Ground, Scope, Wanted},
};
use chronicle_workplace::Workplace;
use libfuzzer_sys::fuzz_target;

const FILES: [(Host, &str); 4] = [
    (Host::Claude, ".claude/settings.json"),
    (Host::Gemini, ".gemini/settings.json"),
    (Host::Codex, ".codex/config.toml"),
    (Host::Cursor, ".cursor/mcp.json"),
];

// The first byte is the agent.
fuzz_target!(|input: &[u8]| {
    let Some((first, settings)) = input.split_first() else { return };
    let (agent, file) = FILES[usize::from(*first) % FILES.len()];
    let path = user_folder().join(file);
    fs::create_dir_all(path.parent().expect("it is in a folder")).expect("it can be made");
    fs::write(&path, settings).expect("it can be written");
    on_ground(|repo| {
        let chronicle = Chronicle::new(Workplace::new(repo, now(), false).with_environment(environment));
        let ground =
            Ground::new(&chronicle, environment, Path::new("/bin/git-chronicle")).expect("there is a home");
        ground.set_up(&[agent], Scope::User, Wanted::default(), false).expect("files can be written");
        let with_ours = fs::read(&path).expect("it is there");
        ground.set_up(&[agent], Scope::User, Wanted::default(), false).expect("files can be written");
        let again = fs::read(&path).expect("it is there");
        assert_eq!(String::from_utf8_lossy(&again), String::from_utf8_lossy(&with_ours), "once is enough");
        ground.take_out(&[agent], Scope::User, false).expect("files can be written");
        let left = fs::read(&path).expect("it is there");
        assert_eq!(String::from_utf8_lossy(&left), String::from_utf8_lossy(settings));
    });
});
