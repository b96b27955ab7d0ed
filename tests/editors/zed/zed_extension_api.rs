//! What the extensions use of zed_extension_api 0.7.0, after its published source, for a machine without crates.io: the same
//! names and signatures, with settings and a PATH that tests set. It is no Zed: whether Zed runs the extensions, it cannot show.

use std::collections::HashMap;

pub type Result<T, E = String> = core::result::Result<T, E>;
pub type EnvVars = Vec<(String, String)>;

#[derive(Debug, PartialEq)]
pub struct Command {
    pub command: String,
    pub args: Vec<String>,
    pub env: EnvVars,
}

pub struct LanguageServerId(pub String);
pub struct ContextServerId(pub String);

impl AsRef<str> for LanguageServerId {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl AsRef<str> for ContextServerId {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

/// A handle in Zed; here it holds what a test says of the worktree.
pub struct Worktree {
    pub on_path: Option<String>,
    pub environment: EnvVars,
    pub settings: fn() -> settings::LspSettings,
}

impl Worktree {
    pub fn which(&self, binary: &str) -> Option<String> {
        self.on_path.as_ref().filter(|path| path.ends_with(binary)).cloned()
    }

    pub fn shell_env(&self) -> EnvVars {
        self.environment.clone()
    }
}

pub struct Project {
    pub settings: fn() -> settings::ContextServerSettings,
}

pub struct ContextServerConfiguration {
    pub installation_instructions: String,
    pub settings_schema: String,
    pub default_settings: String,
}

pub mod serde_json {
    #[derive(Clone, Debug, PartialEq)]
    pub enum Value {
        Null,
        String(String),
        Object(Vec<(String, Value)>),
    }

    impl Value {
        pub fn get(&self, key: &str) -> Option<&Value> {
            match self {
                Value::Object(entries) => entries.iter().find(|(name, _)| name == key).map(|(_, value)| value),
                _ => None,
            }
        }

        pub fn as_str(&self) -> Option<&str> {
            match self {
                Value::String(text) => Some(text),
                _ => None,
            }
        }
    }
}

pub mod settings {
    use super::{HashMap, Project, Result, Worktree, serde_json};

    #[derive(Default)]
    pub struct LspSettings {
        pub binary: Option<CommandSettings>,
        pub initialization_options: Option<serde_json::Value>,
        pub settings: Option<serde_json::Value>,
    }

    impl LspSettings {
        pub fn for_worktree(name: &str, worktree: &Worktree) -> Result<Self> {
            assert_eq!(name, "rag-ls");
            Ok((worktree.settings)())
        }
    }

    #[derive(Default)]
    pub struct ContextServerSettings {
        pub command: Option<CommandSettings>,
        pub settings: Option<serde_json::Value>,
    }

    impl ContextServerSettings {
        pub fn for_project(name: &str, project: &Project) -> Result<Self> {
            assert_eq!(name, "rag-ls");
            Ok((project.settings)())
        }
    }

    pub struct CommandSettings {
        pub path: Option<String>,
        pub arguments: Option<Vec<String>>,
        pub env: Option<HashMap<String, String>>,
    }
}

pub trait Extension: Send + Sync {
    fn new() -> Self
    where
        Self: Sized;

    fn language_server_command(&mut self, _id: &LanguageServerId, _worktree: &Worktree) -> Result<Command> {
        Err("not implemented".to_string())
    }

    fn language_server_initialization_options(
        &mut self,
        _id: &LanguageServerId,
        _worktree: &Worktree,
    ) -> Result<Option<serde_json::Value>> {
        Ok(None)
    }

    fn language_server_workspace_configuration(
        &mut self,
        _id: &LanguageServerId,
        _worktree: &Worktree,
    ) -> Result<Option<serde_json::Value>> {
        Ok(None)
    }

    fn context_server_command(&mut self, _id: &ContextServerId, _project: &Project) -> Result<Command> {
        Err("not implemented".to_string())
    }

    fn context_server_configuration(
        &mut self,
        _id: &ContextServerId,
        _project: &Project,
    ) -> Result<Option<ContextServerConfiguration>> {
        Ok(None)
    }
}

/// In Zed it exports the extension's entry; here it gives the extension to a test.
#[macro_export]
macro_rules! register_extension {
    ($extension_type:ty) => {
        pub fn registered() -> Box<dyn zed_extension_api::Extension> {
            Box::new(<$extension_type as zed_extension_api::Extension>::new())
        }
    };
}
