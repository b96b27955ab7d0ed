"""The language server: LSP to engine calls and back."""
