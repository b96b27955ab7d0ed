//! Starts rag-ls as a context server (MCP) for Zed's agent.

use zed_extension_api::settings::{CommandSettings, ContextServerSettings};
use zed_extension_api::{self as zed, Command, ContextServerConfiguration, ContextServerId, Project, Result};

const INSTRUCTIONS: &str = include_str!("../configuration/instructions.md");
const DEFAULTS: &str = include_str!("../configuration/defaults.jsonc");
const SCHEMA: &str = include_str!("../configuration/schema.json");

struct RagLs;

impl zed::Extension for RagLs {
    fn new() -> Self {
        RagLs
    }

    fn context_server_command(&mut self, id: &ContextServerId, project: &Project) -> Result<Command> {
        let settings = ContextServerSettings::for_project(id.as_ref(), project)?;
        let CommandSettings { path, arguments, env } =
            settings.command.unwrap_or(CommandSettings { path: None, arguments: None, env: None });
        let chosen = settings.settings.as_ref().and_then(|value| value.get("path")?.as_str());
        let named = chosen.map(str::trim).filter(|path| !path.is_empty()).map(str::to_string);
        Ok(Command {
            // A project gives no way to look a command up: Zed itself does, on its PATH.
            command: path.or(named).unwrap_or_else(|| "rag-ls".to_string()),
            args: arguments.unwrap_or_else(|| vec!["mcp".to_string()]),
            env: env.unwrap_or_default().into_iter().collect(),
        })
    }

    fn context_server_configuration(
        &mut self,
        _id: &ContextServerId,
        _project: &Project,
    ) -> Result<Option<ContextServerConfiguration>> {
        Ok(Some(ContextServerConfiguration {
            installation_instructions: INSTRUCTIONS.to_string(),
            settings_schema: SCHEMA.to_string(),
            default_settings: DEFAULTS.to_string(),
        }))
    }
}

zed::register_extension!(RagLs);
