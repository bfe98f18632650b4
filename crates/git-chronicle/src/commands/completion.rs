use clap_complete::env::Shells;

use crate::{completion::ASKED, error::CommandError, ui::Ui};

/// Print the script that completes commands, files, items and ids in a shell
///
/// The script also completes `git chronicle`, through git's own completion.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  git chronicle completion bash > ~/.local/share/bash-completion/completions/git-chronicle
  git chronicle completion zsh > ~/.zfunc/_git-chronicle      # a folder of your `fpath`
  git chronicle completion fish > ~/.config/fish/conf.d/git-chronicle.fish
  git chronicle completion powershell >> $PROFILE", help_template = crate::help!())]
pub(crate) struct CompletionArgs {
    /// The shell
    #[arg(value_parser = ["bash", "zsh", "fish", "powershell", "elvish"])]
    shell: String,
}

/// Git completes its own words, and asks a function for those of a command that isn't its own.
const GIT_IN_BASH: &str = r#"
_git_chronicle() {
    local start=${__git_cmd_idx:-1}
    COMP_WORDS=(git-chronicle "${COMP_WORDS[@]:start+1}")
    COMP_CWORD=$((COMP_CWORD - start))
    _clap_complete_git_chronicle git-chronicle "${COMP_WORDS[COMP_CWORD]}"
}
# Git's completion is loaded at the first TAB after `git`, and this file with it.
if ! declare -F __git_complete >/dev/null && declare -F _comp_load >/dev/null; then
    _comp_load git 2>/dev/null
elif ! declare -F __git_complete >/dev/null && declare -F __load_completion >/dev/null; then
    __load_completion git 2>/dev/null
fi
"#;

const GIT_IN_ZSH: &str = r#"
_git-chronicle() {
    words[1]=git-chronicle
    _clap_dynamic_completer_git_chronicle
}
() {
    local -a known
    zstyle -a ':completion:*:*:git:*' user-commands known
    zstyle ':completion:*:*:git:*' user-commands $known chronicle:'memory for a codebase and its agents'
}
# At the first TAB, zsh reads this file as the function `_git-chronicle`, and waits for its answer.
if [[ ${funcstack[1]} == _git-chronicle ]]; then _git-chronicle; fi
"#;

/// Fish before 3.7 looks for no file of completions after `git chronicle`, so this one has to be read at its start.
const GIT_IN_FISH: &str = r#"
function __fish_git_chronicle
    set -l words (commandline --tokenize --current-process --cut-at-cursor)
    set -l start (contains --index chronicle $words)
    VAR=fish git-chronicle -- git-chronicle $words[(math $start + 1)..-1] (commandline --current-token)
end
complete --command git --condition '__fish_seen_subcommand_from chronicle' --no-files --keep-order --arguments '(__fish_git_chronicle)'
"#;

pub(crate) fn run(args: &CompletionArgs, ui: &mut Ui) -> Result<(), CommandError> {
    let shells = Shells::builtins();
    let shell = shells.completer(&args.shell).expect("the parser knows these alone");
    let mut script = Vec::new();
    let program = "git-chronicle";
    shell.write_registration(ASKED, program, program, program, &mut script).expect("memory takes it");
    let mut script = String::from_utf8(script).expect("a script is text");
    script.push_str(match args.shell.as_str() {
        "bash" => GIT_IN_BASH,
        "zsh" => GIT_IN_ZSH,
        "fish" => GIT_IN_FISH,
        _ => "",
    });
    ui.raw(&script.replace("VAR=fish", &format!("{ASKED}=fish")))
}
