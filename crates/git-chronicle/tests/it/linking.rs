//! What the system loads before the first line of ours runs: every library costs each hook a part of its time.

use std::path::Path;

use testkit::command;

#[test]
fn no_library_is_loaded_but_the_systems_own_and_that_only_where_it_cannot_be_brought() {
    let output = command(crate::outcome::program(), Path::new("."))
        .arg("--version")
        .env("LD_TRACE_LOADED_OBJECTS", "1")
        .output()
        .expect("the binary is there");
    let loaded = String::from_utf8_lossy(&output.stdout).into_owned();
    // Where nothing is loaded there is no loader to ask, and the program runs.
    if loaded.starts_with("git-chronicle ") {
        return;
    }
    assert!(loaded.contains("libc.so"), "the loader did not say what it loads: {loaded}");
    let others = ["libm.so", "libgcc_s.so"].into_iter().filter(|name| loaded.contains(name));
    assert_eq!(others.collect::<Vec<_>>(), Vec::<&str>::new(), "{loaded}");
    assert_eq!(loaded.lines().count(), 3, "{loaded}");
}
