/** The types of commands.mjs. */
export const COMMANDS: Readonly<Record<string, readonly [file: string, summary: string]>>;
