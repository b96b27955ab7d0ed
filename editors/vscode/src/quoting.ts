// Text of a repository or a memory, for titles and messages. No editor in here, so that it can be tested without one.

/**
 * The text in one line, in which the editor finds nothing to do: no link (`[text](address)` is one in messages, commands too), no
 * icon (`$(name)`), no controls and no marks that turn or hide text.
 */
export function plain(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " ").replaceAll(/(?![\u200c\u200d])\p{Cf}/gu, "").replaceAll("](", "] (").replaceAll("$(", "$ (").trim();
}
