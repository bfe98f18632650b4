// The panel: the lessons of the line at the cursor, and the commit and session behind it. All words are set as text.
"use strict";

const crypto = require("node:crypto");
const vscode = require("vscode");

const REST = 200;

class Panel {
    constructor(running) {
        this.running = running;
        this.listeners = [
            vscode.window.registerWebviewViewProvider("chronicle.panel", this),
            vscode.window.onDidChangeTextEditorSelection(() => this.refreshSoon()),
            vscode.window.onDidChangeActiveTextEditor(() => this.refreshSoon()),
        ];
    }

    resolveWebviewView(view) {
        this.view = view;
        view.webview.options = { enableScripts: true, localResourceRoots: [] };
        view.webview.html = page();
        view.webview.onDidReceiveMessage((message) => this.act(message));
        view.onDidChangeVisibility(() => this.refreshSoon());
        view.onDidDispose(() => (this.view = undefined));
        this.refreshSoon();
    }

    refreshSoon() {
        clearTimeout(this.timer);
        this.timer = setTimeout(() => this.refresh().catch(() => undefined), REST);
    }

    async refresh() {
        const editor = vscode.window.activeTextEditor;
        const client = this.running();
        if (!this.view?.visible || !client?.isRunning() || editor?.document.uri.scheme !== "file") {
            return;
        }
        this.place = { uri: editor.document.uri.toString(), line: editor.selection.active.line + 1 };
        const place = this.place;
        const about = await client.sendRequest("workspace/executeCommand", {
            command: "chronicle.about", arguments: [place],
        });
        // The cursor may be elsewhere by now.
        if (about && place === this.place) {
            this.view?.webview.postMessage({ ...about, line: place.line });
        }
    }

    // The page may only ask for what the server offers anyway.
    act(message) {
        const uri = this.place?.uri;
        const value = String(message?.value ?? "");
        if (!uri) {
            return;
        }
        switch (message?.act) {
            case "commit":
                return vscode.commands.executeCommand("chronicle.show", { uri, commit: value });
            case "session":
                return vscode.commands.executeCommand("chronicle.show", { uri, session: value });
            case "flag":
                return vscode.commands.executeCommand("chronicle.flagLesson", { uri, id: value });
            case "note":
                return vscode.commands.executeCommand("chronicle.noteHere");
            default:
                return undefined;
        }
    }

    // A longer answer as a document of its own.
    async showPage(title, text) {
        const document = await vscode.workspace.openTextDocument({ content: `${title}\n\n${text}`, language: "plaintext" });
        await vscode.window.showTextDocument(document, { preview: true, viewColumn: vscode.ViewColumn.Beside });
    }

    dispose() {
        clearTimeout(this.timer);
        this.listeners.forEach((one) => one.dispose());
    }
}

function page() {
    const nonce = crypto.randomBytes(16).toString("hex");
    return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'nonce-${nonce}'; script-src 'nonce-${nonce}'">
<style nonce="${nonce}">
body { padding: 0 8px 8px; line-height: 1.4; }
h4 { margin: 12px 0 4px; overflow-wrap: anywhere; }
p { margin: 0 0 4px; white-space: pre-wrap; overflow-wrap: anywhere; }
button { margin: 2px 6px 2px 0; border: 1px solid var(--vscode-button-border, transparent); padding: 2px 8px;
    color: var(--vscode-button-secondaryForeground); background: var(--vscode-button-secondaryBackground); cursor: pointer; }
.quiet { opacity: 0.8; }
hr { border: none; border-top: 1px solid var(--vscode-widget-border, #8884); }
</style>
</head>
<body>
<div id="root" class="quiet">Put the cursor on a line to see why it is as it is.</div>
<script nonce="${nonce}">
const host = acquireVsCodeApi();
const root = document.getElementById("root");
function add(tag, text, parent) {
    const element = document.createElement(tag);
    element.textContent = text;
    (parent || root).append(element);
    return element;
}
function button(text, act, value) {
    add("button", text).addEventListener("click", () => host.postMessage({ act, value }));
}
addEventListener("message", ({ data }) => {
    root.replaceChildren();
    root.className = "";
    for (const lesson of data.lessons) {
        add("h4", lesson.head);
        add("p", lesson.text);
        button("Flag\\u2026", "flag", lesson.id);
        button("Commit " + lesson.commit.slice(0, 7), "commit", lesson.commit);
    }
    if (data.lessons.length === 0) add("p", "Nothing is noted on line " + data.line + ".").className = "quiet";
    if (data.written.length > 0) add("hr", "");
    for (const line of data.written) add("p", line);
    for (const commit of data.commits) button("Commit " + commit.slice(0, 7), "commit", commit);
    for (const session of data.sessions) button("Session " + session.slice(0, 8), "session", session);
    add("hr", "");
    button("Note a lesson here\\u2026", "note", "");
});
</script>
</body>
</html>`;
}

module.exports = { Panel };
