// Which settings the server is told: those that somebody set. A default of the editor's would hide what the project's file says.

export interface Inspected {
  readonly globalValue?: unknown;
  readonly workspaceValue?: unknown;
  readonly workspaceFolderValue?: unknown;
}

/** The settings of some keys (`search.code_k`) that were set, the narrowest scope first, as nested objects. */
export function explicitSettings(
  keys: readonly string[],
  inspect: (key: string) => Inspected | undefined,
): Record<string, Record<string, unknown>> {
  const found: Record<string, Record<string, unknown>> = {};
  for (const key of keys) {
    const [section, name] = key.split(".", 2);
    const set = inspect(key);
    const value = set?.workspaceFolderValue ?? set?.workspaceValue ?? set?.globalValue;
    if (value !== undefined && section !== undefined && name !== undefined) {
      found[section] = { ...found[section], [name]: value };
    }
  }
  return found;
}
