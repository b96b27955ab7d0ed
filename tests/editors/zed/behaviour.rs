//! What the two extensions answer when Zed asks them how to start rag-ls.

use std::collections::HashMap;
use zed_extension_api::serde_json::Value;
use zed_extension_api::settings::{CommandSettings, ContextServerSettings, LspSettings};
use zed_extension_api::{Command, ContextServerId, LanguageServerId, Project, Result, Worktree};

fn worktree(on_path: Option<&str>, settings: fn() -> LspSettings) -> Worktree {
    let environment = vec![("VIRTUAL_ENV".to_string(), "/work/.venv".to_string())];
    Worktree { on_path: on_path.map(str::to_string), environment, settings }
}

fn language_server(worktree: &Worktree) -> Result<Command> {
    language_server::registered().language_server_command(&LanguageServerId("rag-ls".to_string()), worktree)
}

fn context_server(settings: fn() -> ContextServerSettings) -> Command {
    let id = ContextServerId("rag-ls".to_string());
    context_server::registered().context_server_command(&id, &Project { settings }).unwrap()
}

fn binary(path: &str) -> Option<CommandSettings> {
    let env = HashMap::from([("RAG_LS_DAEMON".to_string(), "never".to_string())]);
    Some(CommandSettings { path: Some(path.to_string()), arguments: Some(vec!["lsp".into(), "-v".into()]), env: Some(env) })
}

#[test]
fn the_server_of_the_worktree_s_environment_is_started_with_that_environment() {
    let command = language_server(&worktree(Some("/work/.venv/bin/rag-ls"), LspSettings::default)).unwrap();
    assert_eq!(command.command, "/work/.venv/bin/rag-ls");
    assert_eq!(command.args, ["lsp"]);
    assert_eq!(command.env, [("VIRTUAL_ENV".to_string(), "/work/.venv".to_string())]);
}

#[test]
fn what_the_settings_name_goes_first() {
    let settings = || LspSettings { binary: binary("/opt/rag-ls"), ..LspSettings::default() };
    let command = language_server(&worktree(Some("/work/.venv/bin/rag-ls"), settings)).unwrap();
    assert_eq!((command.command.as_str(), command.args.len()), ("/opt/rag-ls", 2));
    assert!(command.env.contains(&("RAG_LS_DAEMON".to_string(), "never".to_string())));
}

#[test]
fn without_a_server_the_error_says_what_to_do() {
    let problem = language_server(&worktree(None, LspSettings::default)).unwrap_err();
    assert!(problem.contains("Install it") && problem.contains("\"binary\""), "{problem}");
}

#[test]
fn options_and_settings_pass_through() {
    let settings = || LspSettings {
        initialization_options: Some(Value::String("options".to_string())),
        settings: Some(Value::String("settings".to_string())),
        ..LspSettings::default()
    };
    let (id, tree) = (LanguageServerId("rag-ls".to_string()), worktree(None, settings));
    let mut extension = language_server::registered();
    let options = extension.language_server_initialization_options(&id, &tree).unwrap();
    assert_eq!(options, Some(Value::String("options".to_string())));
    let settings = extension.language_server_workspace_configuration(&id, &tree).unwrap();
    assert_eq!(settings, Some(Value::String("settings".to_string())));
}

#[test]
fn the_context_server_is_the_one_on_the_path_unless_the_settings_name_another() {
    let command = context_server(ContextServerSettings::default);
    assert_eq!((command.command.as_str(), command.args), ("rag-ls", vec!["mcp".to_string()]));
    let named = || ContextServerSettings { settings: Some(named_path("/opt/rag-ls")), command: None };
    assert_eq!(context_server(named).command, "/opt/rag-ls");
    let blank = || ContextServerSettings { settings: Some(named_path("  ")), command: None };
    assert_eq!(context_server(blank).command, "rag-ls");
    let command = || ContextServerSettings { settings: Some(named_path("/opt/rag-ls")), command: binary("/own/rag-ls") };
    assert_eq!(context_server(command).command, "/own/rag-ls");
}

fn named_path(path: &str) -> Value {
    Value::Object(vec![("path".to_string(), Value::String(path.to_string()))])
}

#[test]
fn the_context_server_says_how_it_is_installed_and_set() {
    let id = ContextServerId("rag-ls".to_string());
    let project = Project { settings: ContextServerSettings::default };
    let told = context_server::registered().context_server_configuration(&id, &project).unwrap().unwrap();
    assert!(told.installation_instructions.contains("rag-ls doctor"));
    assert!(told.settings_schema.contains("\"path\"") && told.default_settings.contains("\"path\""));
}
