// Written by `git chronicle setup`; `git chronicle uninstall` removes it.
// Tells git-chronicle what happens in a session, and the model what git-chronicle says. It never throws.
import { spawn } from "node:child_process";

const program = "@PROGRAM@";
const edits = new Set(["edit", "write", "patch", "multiedit", "apply_patch"]);

const ask = (event, payload, patience) =>
  new Promise((resolve) => {
    try {
      const child = spawn(program, ["hook", "opencode", event], { stdio: ["pipe", "pipe", "ignore"] });
      let said = "";
      const done = () => {
        clearTimeout(timer);
        resolve(said);
      };
      const timer = setTimeout(() => {
        said = "";
        child.kill();
        done();
      }, patience);
      child.on("error", done);
      child.on("close", done);
      child.stdin.on("error", () => {});
      child.stdout.on("data", (chunk) => {
        said += chunk;
      });
      child.stdin.end(JSON.stringify({ hook_event_name: event, ...payload }));
    } catch {
      resolve("");
    }
  });

const context = (said) => {
  try {
    const answer = JSON.parse(said);
    return answer.additionalContext ?? answer.hookSpecificOutput?.additionalContext ?? "";
  } catch {
    return "";
  }
};

export const Chronicle = async ({ directory }) => {
  const briefed = new Map();
  const recalled = new Map();
  const tell = async (event, session_id, more = {}, patience = 5000) =>
    context(await ask(event, { session_id, cwd: directory, ...more }, patience));
  const brief = (session) => {
    if (!briefed.has(session)) briefed.set(session, tell("session-start", session, { source: "startup" }, 10000));
    return briefed.get(session);
  };
  const calmly = (work) => async (...given) => {
    try {
      await work(...given);
    } catch {
      // A session goes on without us.
    }
  };
  return {
    event: calmly(async ({ event }) => {
      const session = event.properties?.sessionID ?? event.properties?.info?.id;
      if (event.type === "session.idle") await tell("stop", session);
      if (event.type === "session.deleted") {
        await tell("session-end", session, { reason: "deleted" });
        for (const kept of [briefed, recalled]) kept.delete(session);
      }
    }),
    "chat.message": calmly(async ({ sessionID }, { parts }) => {
      const prompt = parts.filter((part) => part.type === "text").map((part) => part.text).join("\n");
      recalled.set(sessionID, await tell("user-prompt-submit", sessionID, { prompt }));
    }),
    "experimental.chat.system.transform": calmly(async ({ sessionID }, output) => {
      for (const text of [await brief(sessionID), recalled.get(sessionID)]) if (text) output.system.push(text);
    }),
    "tool.execute.after": calmly(async ({ tool, sessionID, callID, args }, output) => {
      if (!["bash", "read", "grep"].includes(tool) && !edits.has(tool)) return;
      const call = { tool_name: tool, tool_input: args, tool_use_id: callID };
      const text = await tell("post-tool-use", sessionID, call);
      if (text) output.output += `\n\n${text}`;
    }),
    "experimental.session.compacting": calmly(async ({ sessionID }) => {
      await tell("pre-compact", sessionID, { trigger: "auto" });
      briefed.delete(sessionID);
    }),
  };
};
