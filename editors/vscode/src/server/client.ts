// The part of the language client's library that is used, in a bundle of its own: loading it takes longer than all else, and the
// editor need not wait for it.
export { CloseAction, ErrorAction, LanguageClient, State, Trace } from "vscode-languageclient/node";
