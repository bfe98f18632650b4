//! Configuration of a repository, its tracked file and git's own: it is understood or passed over, and a repository
//! decides nothing that only the user may.

#![no_main]

use std::{cell::RefCell, ffi::OsString, fs, path::Path};

use chronicle_fuzz::{assert_shown, now, on_ground, pieces};
use chronicle_workplace::{Rule, SETTINGS, Workplace};
use libfuzzer_sys::fuzz_target;

thread_local! {
    static PARAMETERS: RefCell<Option<String>> = const { RefCell::new(None) };
}

fuzz_target!(|input: &[u8]| {
    let [tracked, config, parameters] = pieces(input);
    let parameters =
        std::str::from_utf8(parameters).ok().filter(|text| !text.is_empty() && !text.contains('\0'));
    on_ground(|repo| check(repo, tracked, config, parameters));
});

fn check(repo: &Path, tracked: &[u8], config: &[u8], parameters: Option<&str>) {
    let (tracked_file, config_file) = (repo.join(".chronicle.toml"), repo.join(".git/config"));
    let before = fs::read(&config_file).expect("git wrote it");
    fs::write(&tracked_file, tracked).expect("it can be written");
    fs::write(&config_file, [&before[..], b"\n", config].concat()).expect("it can be written");
    PARAMETERS.set(parameters.map(str::to_owned));
    let settings = Workplace::new(repo, now(), false).with_environment(environment).settings();
    fs::write(&config_file, before).expect("it can be written");
    let Ok(settings) = settings else { return };

    assert_eq!(settings.settings.len(), SETTINGS.len());
    for now in &settings.settings {
        let setting = SETTINGS.iter().find(|setting| setting.name == now.name).expect("it is listed");
        let is_of_project = matches!(now.origin.kind, "team" | "local" | "worktree");
        if !is_of_project {
            continue;
        }
        let number = |text: &str| text.parse::<f64>().expect("it is a number");
        match setting.rule {
            // These are no switch: `sync` keeps the remotes of a repository in its configuration.
            Rule::User => assert_eq!((now.name, now.origin.kind), ("sync.remotes", "local")),
            Rule::Capped if parameters.is_none() && !setting.default.is_empty() => {
                assert!(number(&now.value) <= number(setting.default), "{now:?}");
            }
            Rule::Free | Rule::Lower | Rule::Capped | Rule::Off => {}
        }
    }
    settings.warnings.iter().for_each(|warning| assert_shown(warning));
    for ignored in &settings.ignored {
        assert_shown(&ignored.value);
        assert!(!ignored.value.contains('\n'));
    }
}

fn environment(name: &str) -> Option<OsString> {
    match name {
        "GIT_CONFIG_PARAMETERS" => PARAMETERS.with_borrow(|parameters| parameters.clone().map(Into::into)),
        name => chronicle_fuzz::environment(name),
    }
}
