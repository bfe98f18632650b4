use std::path::PathBuf;

use chronicle::Chronicle;
use chronicle_view::{self as view, Material, Server};

use crate::{
    error::{CommandError, explain_view},
    interrupt, surroundings,
    ui::Ui,
};

/// Write a page of all that is known: lessons, sessions, open work
///
/// The page is one file that loads nothing and needs no script. It shows lessons on their code, why
/// commits are the way they are, and plots. Unless it is --public, it also shows the sessions with
/// their results, open work, and what agents were shown. Only you can read the file.
#[derive(Debug, clap::Args)]
pub(crate) struct ViewArgs {
    /// The file to write
    #[arg(short, long, value_name = "FILE", default_value = "chronicle.html")]
    out: PathBuf,

    /// Leave out session memory, and lessons from people you don't trust: for publishing with the repository
    #[arg(long)]
    public: bool,

    /// Serve the page on this machine instead, as it is at each look, until you press Ctrl-C
    ///
    /// The printed address holds a token. Other users of the machine and other web pages cannot read the page without it.
    #[arg(long, conflicts_with = "out")]
    serve: bool,

    /// With --serve, the port [default: any free one]
    #[arg(long, value_name = "PORT", requires = "serve")]
    port: Option<u16>,
}

pub(crate) fn run(args: &ViewArgs, chronicle: &Chronicle, ui: &mut Ui) -> Result<(), CommandError> {
    if args.serve {
        return serve(args, chronicle, ui);
    }
    let material = Material::gather(chronicle, args.public)?;
    let page = view::page(&material);
    view::write(&args.out, &page)?;
    ui.tell(&format!("wrote {} ({} KB)", args.out.display(), page.len().div_ceil(1_000)));
    if !args.public {
        ui.tell("it shows your sessions, so don't commit it; `--public` leaves them out");
    }
    Ok(())
}

fn serve(args: &ViewArgs, chronicle: &Chronicle, ui: &mut Ui) -> Result<(), CommandError> {
    // Nothing to show is said here, not in the browser.
    drop(Material::gather(chronicle, args.public)?);
    let server = Server::listen(args.port.unwrap_or_default(), view::new_token()?)?;
    ui.line(&server.url())?;
    ui.tell("open this address in a browser; Ctrl-C ends it");
    interrupt::advise("no longer served");
    let (workplace, is_public) = (chronicle.workplace(), args.public);
    server.serve(|| {
        // The repository may have changed since the last look.
        let workplace = workplace.at_time(surroundings::now());
        let material = Material::gather(&Chronicle::new(workplace), is_public);
        material.map(|material| view::page(&material)).map_err(explain_view)
    });
    Ok(())
}
