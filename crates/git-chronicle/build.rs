//! How the binary is linked.

use std::{
    env, fs, io,
    path::{Path, PathBuf},
};

#[expect(clippy::disallowed_methods, reason = "cargo tells the target in the environment")]
fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let has = |key: &str, value: &str| {
        env::var(key).is_ok_and(|found| found.split(',').any(|found| found == value))
    };
    let is_static = has("CARGO_CFG_TARGET_FEATURE", "crt-static");
    if !has("CARGO_CFG_TARGET_OS", "linux") || !has("CARGO_CFG_TARGET_ENV", "gnu") || is_static {
        return;
    }
    // A program that may lie anywhere in memory has its tens of thousands of pointers (of grammars, above all) written
    // anew at each start: two fifths of the time of a hook that finds nothing to do. Heap and stack still lie anywhere.
    println!("cargo:rustc-link-arg-bins=-no-pie");
    // Unwinding from the compiler's archive: its shared library would be loaded by every run, which takes a tenth of
    // a millisecond.
    println!("cargo:rustc-link-lib=gcc_eh");
    let is_native = env::var("HOST").ok() == env::var("TARGET").ok();
    // LanceDB asks the system's C library for the addresses of storages, and that takes modules of its own.
    let asks_for_addresses = env::var_os("CARGO_FEATURE_LANCE").is_some();
    let directory = PathBuf::from(env::var_os("OUT_DIR").expect("cargo gives a build script its directory"));
    if is_native && !asks_for_addresses && stand_in(&directory).is_ok() {
        println!("cargo:rustc-link-arg-bins=-static");
        println!("cargo:rustc-link-arg-bins=-L{}", directory.display());
    }
}

/// Makes linker scripts in `directory` that put the archives of the C library in the place of its shared ones: to load
/// those takes a quarter of a millisecond, a fifth of a read.
///
/// The target feature `crt-static` would say the same, and cannot: without `--target` it holds for macros, which have
/// to be shared libraries.
fn stand_in(directory: &Path) -> io::Result<()> {
    let [c, m, eh] = ["libc.a", "libm.a", "libgcc_eh.a"].map(archive);
    let (c, m, eh) = (c?, m?, eh?);
    fs::write(directory.join("libc.so"), format!("GROUP({c} {eh})\n"))?;
    fs::write(directory.join("libm.so"), format!("INPUT({m})\n"))?;
    fs::write(directory.join("libgcc_s.so"), format!("INPUT({eh})\n"))
}

/// Where the linker finds the archive `name`.
#[expect(clippy::disallowed_methods, reason = "only the compiler knows where its libraries are")]
fn archive(name: &str) -> io::Result<String> {
    let linker = env::var_os("RUSTC_LINKER").unwrap_or_else(|| "cc".into());
    let output = std::process::Command::new(linker).arg(format!("-print-file-name={name}")).output()?;
    let path = String::from_utf8(output.stdout).map_err(io::Error::other)?.trim().to_owned();
    // What it does not find it gives back as it is.
    if Path::new(&path).is_absolute() { Ok(path) } else { Err(io::ErrorKind::NotFound.into()) }
}
