/** The types of bundled.mjs. */
export const ROOT: string;
export const FOLDER: string;
export const LIST: string;
export const BUNDLED: readonly string[];
export function fileOf(command: string): string;
export function bundleOf(command: string, folder?: string): string | undefined;
