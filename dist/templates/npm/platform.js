// Where the program of this platform is: in a package of its own, of which npm installs the one that fits.
"use strict";

const path = require("path");

// Systems without glibc, such as Alpine.
function isMusl() {
  return process.platform === "linux" && !process.report.getReport().header.glibcVersionRuntime;
}

function program() {
  const name = `chronicle-notes-${process.platform}-${process.arch}${isMusl() ? "-musl" : ""}`;
  const file = process.platform === "win32" ? "git-chronicle.exe" : "git-chronicle";
  try {
    return path.join(path.dirname(require.resolve(`${name}/package.json`)), "bin", file);
  } catch {
    throw new Error(
      `the package ${name} is missing: install again without --omit=optional, ` +
        "or there is no build for this platform",
    );
  }
}

module.exports = { program };
