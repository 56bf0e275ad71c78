/** The backend `xla`: graphs of our engine compiled by XLA, through a PJRT plugin. */
export { type XlaOptions, xla } from "./backend.ts";
