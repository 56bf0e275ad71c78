/**
 * The contract of backends, with the errors and the checks of tensors that a backend needs.
 *
 * @module inferyard/backend
 */
export type * from "./backend.ts";
export * from "./errors.ts";
export * from "./tensor.ts";
