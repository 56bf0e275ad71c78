/** Validation of native libraries against contracts. */
export type * from "./library-validation.ts";
export { proveLlamaLayout } from "./prove-layout.ts";
export { validateLibrary } from "./validate-library.ts";
