//! What the server can do, as `initialize` answers it.

use gen_lsp_types::{
    ChangeNotifications, CodeActionKind, CodeActionOptions, CodeActionProvider, CodeLensOptions,
    DocumentLinkOptions, ExecuteCommandOptions, HoverProvider, InitializeResult, InlayHintProvider,
    PositionEncodingKind, Save, ServerCapabilities, ServerInfo, TextDocumentSync, TextDocumentSyncKind,
    TextDocumentSyncOptions, WorkspaceFoldersServerCapabilities, WorkspaceOptions, WorkspaceSymbolProvider,
};

use crate::{client::Client, orders::COMMANDS, text::Encoding};

/// What the server can do for a client.
pub(crate) fn of(client: Client) -> InitializeResult {
    let encoding = match client.encoding {
        Encoding::Utf8 => PositionEncodingKind::UTF8,
        Encoding::Utf16 => PositionEncodingKind::UTF16,
        Encoding::Utf32 => PositionEncodingKind::UTF32,
    };
    let sync = TextDocumentSyncOptions {
        open_close: Some(true),
        change: Some(TextDocumentSyncKind::Incremental),
        save: Some(Save::Bool(true)),
        ..TextDocumentSyncOptions::default()
    };
    let actions = CodeActionOptions {
        code_action_kinds: Some(vec![CodeActionKind::Custom("chronicle".into())]),
        ..CodeActionOptions::default()
    };
    let folders = WorkspaceFoldersServerCapabilities {
        supported: Some(true),
        change_notifications: Some(ChangeNotifications::Bool(true)),
    };
    let capabilities = ServerCapabilities {
        position_encoding: Some(encoding),
        text_document_sync: Some(TextDocumentSync::Options(sync)),
        hover_provider: Some(HoverProvider::Bool(true)),
        inlay_hint_provider: Some(InlayHintProvider::Bool(true)),
        code_lens_provider: Some(CodeLensOptions::default()),
        code_action_provider: Some(CodeActionProvider::CodeActionOptions(actions)),
        document_link_provider: Some(DocumentLinkOptions {
            resolve_provider: Some(true),
            ..DocumentLinkOptions::default()
        }),
        workspace_symbol_provider: Some(WorkspaceSymbolProvider::Bool(true)),
        execute_command_provider: Some(ExecuteCommandOptions {
            commands: COMMANDS.map(str::to_owned).to_vec(),
            ..ExecuteCommandOptions::default()
        }),
        workspace: Some(WorkspaceOptions { workspace_folders: Some(folders), ..WorkspaceOptions::default() }),
        ..ServerCapabilities::default()
    };
    let info =
        ServerInfo { name: "git-chronicle".to_owned(), version: Some(env!("CARGO_PKG_VERSION").to_owned()) };
    InitializeResult { capabilities, server_info: Some(info) }
}
