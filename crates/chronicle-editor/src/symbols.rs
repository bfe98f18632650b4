//! Unfinished work of the open folders, among the symbols of the workspace.

use std::path::{Component, Path, PathBuf};

use chronicle_memory::threads::{OpenItem, PendingCommand};
use chronicle_render::{self as render, Format};
use gen_lsp_types::{
    BaseSymbolInformation, Location, Range, SymbolKind, Uri, WorkspaceSymbol, WorkspaceSymbolLocation,
};

use crate::{host::Host, pages::Pages, uri::uri_of};

/// More are found by more letters.
const MOST: usize = 50;

/// The threads and unfinished lessons of the folders whose words hold `query`.
pub(crate) fn symbols(
    host: &Host,
    folders: &[PathBuf],
    query: &str,
    pages: &mut Pages,
) -> Vec<WorkspaceSymbol> {
    let mut found: Vec<WorkspaceSymbol> = Vec::new();
    let mut met: Vec<String> = Vec::new();
    let query = query.to_lowercase();
    for folder in folders {
        let chronicle = host.at(folder);
        if chronicle.workplace().is_distrusted() {
            continue;
        }
        let command = PendingCommand { project: None, all: false, archived: false, limit: 500 };
        let Ok(pending) = chronicle.memory().threads().pending(&command) else { continue };
        let root = chronicle.workplace().glance().map(|glance| glance.work_dir);
        for item in pending.items.iter().filter(|item| item.summary.to_lowercase().contains(&query)) {
            if MOST <= found.len() {
                return found;
            }
            // Two folders may be in one repository.
            if met.contains(&item.id) {
                continue;
            }
            met.push(item.id.clone());
            let page = || {
                let shown = chronicle.memory().threads().show(&item.id).ok()?;
                let text = render::shown_thread(&shown, Format::Markdown, &host.view());
                pages.write(&format!("thread {}", item.id), &text).ok()
            };
            let place = file_of(item, root.as_deref()).or_else(page).unwrap_or_else(|| folder.clone());
            found.push(symbol(item, &place));
        }
    }
    found
}

/// The file that a lesson is about.
fn file_of(item: &OpenItem, root: Option<&Path>) -> Option<PathBuf> {
    let file = Path::new(item.file.as_deref()?);
    // Notes may name anything.
    let is_inside = file.components().all(|part| matches!(part, Component::Normal(_)));
    let file = root?.join(file);
    (is_inside && file.is_file()).then_some(file)
}

/// What is open and, unless it is the user, who says so.
fn name_of(item: &OpenItem) -> String {
    let summary = chronicle::plain(&item.summary).replace(['\n', '\t'], " ");
    match item.said_by() {
        Some(by) => format!("{summary} ({by})"),
        None => summary,
    }
}

fn symbol(item: &OpenItem, place: &Path) -> WorkspaceSymbol {
    let location = Location { uri: Uri(uri_of(place)), range: Range::default() };
    WorkspaceSymbol {
        location: WorkspaceSymbolLocation::Location(location),
        data: None,
        base_symbol_information: BaseSymbolInformation {
            name: name_of(item),
            kind: SymbolKind::Event,
            tags: None,
            container_name: Some(chronicle::plain(&item.project).into_owned()),
        },
    }
}
