//! How the binary is linked.

#[expect(clippy::disallowed_methods, reason = "cargo tells the target in the environment")]
fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let has = |key: &str, value: &str| {
        std::env::var(key).is_ok_and(|found| found.split(',').any(|found| found == value))
    };
    // A program that may lie anywhere in memory has its tens of thousands of pointers (of grammars, above all) written
    // anew at each start: two fifths of the time of a hook that finds nothing to do. Libraries, heap and stack still lie
    // anywhere.
    let is_static = has("CARGO_CFG_TARGET_FEATURE", "crt-static");
    if has("CARGO_CFG_TARGET_OS", "linux") && has("CARGO_CFG_TARGET_ENV", "gnu") && !is_static {
        println!("cargo:rustc-link-arg-bins=-no-pie");
        // Unwinding from the compiler's archive: its shared library would be loaded by every run, which takes a tenth of
        // a millisecond.
        println!("cargo:rustc-link-lib=gcc_eh");
    }
}
