/** Lines whose mutations change nothing that is computed, each with the reason. */
export const equivalents: readonly { readonly file: string; readonly code: string; readonly reason: string }[] = [];
