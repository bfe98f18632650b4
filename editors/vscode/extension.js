// The extension is thin: it starts the language server of git-chronicle and shows what that answers. Words of a
// repository are only ever shown as text.
"use strict";

const { execFile } = require("node:child_process");
const { promisify } = require("node:util");
const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");
const { Panel } = require("./panel");
const { Gutter } = require("./gutter");

const CATEGORIES = [
    { label: "Gotcha", description: "a trap that the code does not show", value: "gotcha" },
    { label: "Dead end", description: "what was tried and failed", value: "dead_end" },
    { label: "Insight", description: "what one has to understand first", value: "insight" },
    { label: "Unfinished", description: "what is still to be done", value: "unfinished_thread" },
];

let client;

// The client of the running server; a restart makes another one.
const running = () => client;

async function start(gutter, panel) {
    const settings = vscode.workspace.getConfiguration("chronicle");
    // Only the user's own settings say which program runs.
    const path = settings.inspect("path").globalValue || "git-chronicle";
    try {
        // The client would report a missing program in words of its own, without the way to set the path.
        await promisify(execFile)(path, ["--version"]);
        client = clientOf(path, gutter, panel);
        await client.start();
    } catch (error) {
        client = undefined;
        const reason = error?.code === "ENOENT" ? "there is no such program" : (error?.message ?? error);
        // Whoever starts the server doesn't wait for an answer.
        offerPath(`Chronicle cannot start \`${path}\`: ${reason}`);
    }
}

async function offerPath(message) {
    if (await vscode.window.showErrorMessage(message, "Set the path")) {
        await vscode.commands.executeCommand("workbench.action.openSettings", "chronicle.path");
    }
}

function clientOf(path, gutter, panel) {
    const wishes = () => {
        const now = vscode.workspace.getConfiguration("chronicle");
        return Object.fromEntries(["diagnostics", "inlayHints", "codeLens"].map((name) => [name, now.get(name)]));
    };
    return new LanguageClient(
        "chronicle",
        "Chronicle",
        { command: path, args: ["lsp"] },
        {
            documentSelector: [{ scheme: "file" }],
            initializationOptions: wishes(),
            synchronize: { configurationSection: "chronicle" },
            middleware: {
                executeCommand: (command, args, next) => execute(command, args, next, panel),
                // The server has the editor ask again when HEAD or the notes move.
                provideInlayHints: (document, range, token, next) => {
                    gutter.refreshSoon(document);
                    return next(document, range, token);
                },
            },
        },
    );
}

// What the server answers is shown here, so it does not open a document by itself.
async function execute(command, args, next, panel) {
    if (command !== "chronicle.show" && command !== "chronicle.copyForAgent") {
        return next(command, args);
    }
    const done = await next(command, [{ ...args[0], quiet: true }]);
    if (!done) {
        return done;
    }
    if (command === "chronicle.copyForAgent") {
        await vscode.env.clipboard.writeText(done.text);
        vscode.window.setStatusBarMessage("Chronicle: copied for an agent", 3000);
    } else {
        await panel.showPage(done.title, done.text);
    }
    return done;
}

// Where the cursor is, in lines counted from 1.
function here() {
    const editor = vscode.window.activeTextEditor;
    if (!editor || editor.document.uri.scheme !== "file") {
        return undefined;
    }
    const { start, end } = editor.selection;
    return { uri: editor.document.uri.toString(), lines: [start.line + 1, end.line + 1] };
}

async function noteHere(given) {
    const place = given?.uri ? given : here();
    if (!place) {
        return;
    }
    const category = await vscode.window.showQuickPick(CATEGORIES, { title: "What kind of lesson is it?" });
    if (!category) {
        return;
    }
    const text = await vscode.window.showInputBox({
        title: `${category.label} on line ${place.lines[0]}`,
        prompt: "What should the next one who changes this know?",
    });
    if (text) {
        await vscode.commands.executeCommand("chronicle.note", {
            uri: place.uri, lines: place.lines, category: category.value, text,
        });
    }
}

async function flagLesson(given) {
    const reason = given && (await vscode.window.showInputBox({ title: "What is wrong with this lesson?" }));
    if (reason) {
        await vscode.commands.executeCommand("chronicle.flag", { uri: given.uri, id: given.id, reason });
    }
}

async function activate(context) {
    const gutter = new Gutter(running, context.extensionUri);
    const panel = new Panel(running);
    const at = (command) => () => {
        const place = here();
        return place && vscode.commands.executeCommand(command, { ...place, line: place.lines[0] });
    };
    const commands = {
        "chronicle.noteHere": noteHere,
        "chronicle.flagLesson": flagLesson,
        "chronicle.showHere": at("chronicle.show"),
        "chronicle.copyHere": at("chronicle.copyForAgent"),
        "chronicle.openPanel": () => vscode.commands.executeCommand("chronicle.panel.focus"),
        "chronicle.restart": async () => {
            await client?.stop().catch(() => undefined);
            await start(gutter, panel);
        },
    };
    for (const [name, run] of Object.entries(commands)) {
        context.subscriptions.push(vscode.commands.registerCommand(name, run));
    }
    context.subscriptions.push(
        gutter,
        panel,
        vscode.workspace.onDidChangeConfiguration((event) => {
            if (event.affectsConfiguration("chronicle.path")) {
                commands["chronicle.restart"]();
            }
        }),
    );
    await start(gutter, panel);
    gutter.refreshAll();
}

async function deactivate() {
    await client?.stop();
}

module.exports = { activate, deactivate };
