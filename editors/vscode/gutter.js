// Icons in the gutter: one for the weightiest lesson of a line.
"use strict";

const vscode = require("vscode");

// The first of these on a line decides its icon.
const ORDER = ["gotcha", "dead_end", "unfinished_thread", "insight"];
const REST = 300;

class Gutter {
    constructor(running, folder) {
        this.running = running;
        this.waiting = new Map();
        this.types = new Map(
            ORDER.map((name) => {
                const icon = vscode.Uri.joinPath(folder, "media", `${name}.svg`);
                return [name, vscode.window.createTextEditorDecorationType({ gutterIconPath: icon, gutterIconSize: "70%" })];
            }),
        );
        this.listeners = [
            vscode.window.onDidChangeVisibleTextEditors(() => this.refreshAll()),
            vscode.workspace.onDidChangeTextDocument((event) => this.refreshSoon(event.document)),
            vscode.workspace.onDidSaveTextDocument((document) => this.refreshSoon(document)),
            vscode.workspace.onDidChangeConfiguration((event) => {
                if (event.affectsConfiguration("chronicle")) {
                    this.refreshAll();
                }
            }),
        ];
    }

    refreshAll() {
        vscode.window.visibleTextEditors.forEach((editor) => this.refreshSoon(editor.document));
    }

    // Once the text has rested.
    refreshSoon(document) {
        const uri = document.uri.toString();
        clearTimeout(this.waiting.get(uri));
        this.waiting.set(uri, setTimeout(() => {
            this.waiting.delete(uri);
            this.refresh(document).catch(() => undefined);
        }, REST));
    }

    async refresh(document) {
        const client = this.running();
        if (document.uri.scheme !== "file" || !client?.isRunning()) {
            return;
        }
        const isWanted = vscode.workspace.getConfiguration("chronicle").get("gutter");
        const lessons = isWanted
            ? await client.sendRequest("workspace/executeCommand", {
                command: "chronicle.lessons", arguments: [{ uri: document.uri.toString() }],
            })
            : [];
        const byLine = new Map();
        for (const lesson of lessons) {
            const known = byLine.get(lesson.line);
            if (!known || ORDER.indexOf(lesson.category) < ORDER.indexOf(known)) {
                byLine.set(lesson.line, lesson.category);
            }
        }
        for (const editor of vscode.window.visibleTextEditors.filter((editor) => editor.document === document)) {
            for (const [name, type] of this.types) {
                const lines = [...byLine].filter(([, category]) => category === name).map(([line]) => line - 1);
                editor.setDecorations(type, lines.map((line) => new vscode.Range(line, 0, line, 0)));
            }
        }
    }

    dispose() {
        this.waiting.forEach((timer) => clearTimeout(timer));
        [...this.types.values(), ...this.listeners].forEach((one) => one.dispose());
    }
}

module.exports = { Gutter };
