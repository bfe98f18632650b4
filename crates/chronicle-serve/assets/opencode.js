// Written by `git chronicle setup`; `git chronicle uninstall` removes it.
// Reports the events of a session to git-chronicle, and its answers to the model. It never throws.
import { spawn } from "node:child_process";

const program = "@PROGRAM@";
// What runs unasked where your own rules would ask; nothing unless `git chronicle setup --permissions` allowed it.
const permitted = "@PERMITTED@";
const asked = "@ASKED@";
const skills = "@SKILLS@";
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

// Whether a pattern of OpenCode's rules means `text`.
const means = (pattern, text) => {
  let form = pattern.replace(/[.+^${}()|[\]\\]/g, "\\$&").replace(/\*/g, ".*").replace(/\?/g, ".");
  if (form.endsWith(" .*")) form = `${form.slice(0, -3)}( .*)?`;
  return new RegExp(`^${form}$`, "s").test(text);
};

// Adds rules after the user's, of which the last that matches decides; never over one that forbids.
const permit = (config) => {
  let rules = config.permission;
  if (permitted.length === 0 || rules === undefined) return;
  if (typeof rules === "string") rules = { "*": rules };
  const decided = (key, text) => {
    let action = "allow";
    for (const [name, given] of Object.entries(rules)) {
      if (!means(name, key)) continue;
      const patterns = typeof given === "string" ? { "*": given } : given;
      for (const [pattern, said] of Object.entries(patterns)) if (means(pattern, text)) action = said;
    }
    return action;
  };
  const add = (key, own) => {
    const given = rules[key];
    delete rules[key];
    rules[key] = { ...(typeof given === "string" ? { "*": given } : given), ...own };
  };
  if (decided("bash", "git chronicle read x") === "ask") {
    const allowed = permitted.map((command) => [`git chronicle ${command} *`, "allow"]);
    const still = [...asked, ">"].map((part) => [`git chronicle *${/^-\w$/.test(part) ? " " : ""}${part}*`, "ask"]);
    add("bash", Object.fromEntries([...allowed, ...still]));
  }
  if (decided("chronicle_chronicle_read", "*") === "ask") add("chronicle_chronicle_*", { "*": "allow" });
  if (decided("skill", skills[0]) === "ask") add("skill", Object.fromEntries(skills.map((name) => [name, "allow"])));
  config.permission = rules;
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
    config: calmly(async (config) => permit(config)),
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
