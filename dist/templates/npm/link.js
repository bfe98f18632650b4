// Puts the program itself in the place of `start.js`: hooks of agents call it often, and Node takes longer to start
// than most answers take. Whatever fails here leaves the start as it is, which works, too.
"use strict";

const fs = require("fs");
const path = require("path");

// Other managers, and npm on Windows, have written a script by now that runs the file with Node.
const isNpm = (process.env.npm_config_user_agent || "").startsWith("npm/");
if (isNpm && process.platform !== "win32") {
  const start = path.join(__dirname, "bin", "git-chronicle");
  const fresh = `${start}.new`;
  try {
    const { program } = require("./platform.js");
    try {
      fs.linkSync(program(), fresh);
    } catch {
      fs.copyFileSync(program(), fresh);
    }
    fs.chmodSync(fresh, 0o755);
    fs.renameSync(fresh, start);
  } catch (error) {
    fs.rmSync(fresh, { force: true });
    console.warn(`chronicle-notes: ${error.message}`);
  }
}
