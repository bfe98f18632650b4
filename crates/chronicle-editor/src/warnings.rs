//! Traps that the text in the editor changes, before anyone saves it. Nobody asked for these, so nothing of a stranger is
//! among them.

use chronicle::{CheckScope, CheckedFile, Tier, Touch, TouchedLesson};
use chronicle_render::lesson_in_place;
use gen_lsp_types::{Code, Diagnostic, DiagnosticSeverity, Message};

use crate::{documents::Document, host::Host, known::is_trap, text::Encoding};

/// More than this in one text is read with `git chronicle check`.
const MOST: usize = 50;

/// The gotchas and dead ends that a text touches, compared with HEAD.
pub(crate) fn of(host: &Host, document: &Document, encoding: Encoding) -> Vec<Diagnostic> {
    let chronicle = host.of(document);
    if document.is_opaque || chronicle.workplace().is_distrusted() {
        return Vec::new();
    }
    // Where there is no repository, nothing is touched.
    let Ok(check) = chronicle.check(&CheckScope::File(document.path.clone()), &[], 0) else {
        return Vec::new();
    };
    let lines = document.lines(encoding);
    let view = host.view();
    let touched = check.files.iter().flat_map(|file: &CheckedFile| &file.lessons);
    let warning = |touched: &TouchedLesson| Diagnostic {
        range: lines.range_of(touched.at_line),
        severity: Some(DiagnosticSeverity::Hint),
        code: Some(Code::String(touched.lesson.standing.id.0.clone())),
        code_description: None,
        source: Some("chronicle".to_owned()),
        message: Message::String(lesson_in_place(&touched.lesson, &view)),
        tags: None,
        related_information: None,
        data: None,
    };
    touched.filter(|touched| is_warning(touched)).take(MOST).map(warning).collect()
}

fn is_warning(touched: &TouchedLesson) -> bool {
    let lesson = &touched.lesson;
    is_trap(lesson.category)
        && Tier::Unknown < lesson.standing.tier
        && matches!(touched.touch, Touch::Lines | Touch::Near | Touch::Item)
}
