#!/usr/bin/env node
// Starts the program of this platform. Where npm may run `link.js`, the program itself takes the place of this file.
"use strict";

const { spawnSync } = require("child_process");
const { program } = require("../platform.js");

let done;
try {
  done = spawnSync(program(), process.argv.slice(2), { stdio: "inherit" });
  if (done.error) throw done.error;
} catch (error) {
  process.stderr.write(`error: git-chronicle cannot be started: ${error.message}\n`);
  process.exit(1);
}
if (done.signal) process.kill(process.pid, done.signal);
process.exit(done.status);
