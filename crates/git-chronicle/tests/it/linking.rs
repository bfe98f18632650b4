//! How the binary is linked: it parses foreign bytes, so the guards of the compiler and the linker have to be there.

use std::fs;

/// Types of program headers and files, from the ELF specification and its GNU extensions.
const SHARED_OBJECT: usize = 3;
const GNU_RELRO: usize = 0x6474_e552;

#[cfg(all(target_os = "linux", target_env = "gnu", target_pointer_width = "64", target_endian = "little"))]
#[test]
fn the_binary_can_be_loaded_anywhere_and_its_c_code_has_stack_guards() {
    let program = fs::read(crate::outcome::program()).expect("the binary is there");
    let number = |at: usize, n: usize| -> usize {
        program[at..at + n].iter().rev().fold(0, |all, byte| all << 8 | usize::from(*byte))
    };
    assert_eq!(number(16, 2), SHARED_OBJECT, "not position-independent");

    let (headers, size, count) = (number(32, 8), number(54, 2), number(56, 2));
    let types: Vec<usize> = (0..count).map(|index| number(headers + index * size, 4)).collect();
    assert!(types.contains(&GNU_RELRO), "relocations stay writable: {types:x?}");

    let has = |name: &[u8]| program.windows(name.len()).any(|window| window == name);
    assert!(has(b"\0__stack_chk_fail\0"), "C code without stack protector");
    assert!(!has(b"\0no_such_symbol_of_ours\0"));
}
