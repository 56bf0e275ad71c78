/** The backend "native": Inferyard's own kernels in TypeScript. Nothing to install, so it is there on every machine. */
export { native } from "./backend.ts";
