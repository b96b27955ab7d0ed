//! Starts rag-ls as a language server, where Zed opens a file in one of its languages.

use zed_extension_api::settings::{CommandSettings, LspSettings};
use zed_extension_api::{self as zed, Command, LanguageServerId, Result, Worktree, serde_json};

const NOT_FOUND: &str = "rag-ls is not on the PATH of this project. Install it (see its README), or name it in the settings: \
    {\"lsp\": {\"rag-ls\": {\"binary\": {\"path\": \"/path/to/rag-ls\"}}}}";

struct RagLs;

impl zed::Extension for RagLs {
    fn new() -> Self {
        RagLs
    }

    fn language_server_command(&mut self, id: &LanguageServerId, worktree: &Worktree) -> Result<Command> {
        let binary = LspSettings::for_worktree(id.as_ref(), worktree)?.binary;
        let CommandSettings { path, arguments, env } =
            binary.unwrap_or(CommandSettings { path: None, arguments: None, env: None });
        let command = path.or_else(|| worktree.which("rag-ls")).ok_or(NOT_FOUND)?;
        // The shell's own, so that what direnv and the like set counts here too.
        let mut environment = worktree.shell_env();
        environment.extend(env.unwrap_or_default());
        Ok(Command { command, args: arguments.unwrap_or_else(|| vec!["lsp".to_string()]), env: environment })
    }

    fn language_server_initialization_options(
        &mut self,
        id: &LanguageServerId,
        worktree: &Worktree,
    ) -> Result<Option<serde_json::Value>> {
        Ok(LspSettings::for_worktree(id.as_ref(), worktree)?.initialization_options)
    }

    fn language_server_workspace_configuration(
        &mut self,
        id: &LanguageServerId,
        worktree: &Worktree,
    ) -> Result<Option<serde_json::Value>> {
        Ok(LspSettings::for_worktree(id.as_ref(), worktree)?.settings)
    }
}

zed::register_extension!(RagLs);
