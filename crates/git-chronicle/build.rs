//! How the binary is linked.

#[expect(clippy::disallowed_methods, reason = "cargo tells the target in the environment")]
fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let is = |key: &str, value: &str| std::env::var(key).is_ok_and(|found| found == value);
    // A program that may lie anywhere in memory has its tens of thousands of pointers (of grammars, above all) written
    // anew at each start: two fifths of the time of a hook that finds nothing to do. Libraries, heap and stack still lie
    // anywhere.
    if is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu") {
        println!("cargo:rustc-link-arg-bins=-no-pie");
    }
}
