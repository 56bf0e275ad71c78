/** Validation of native libraries against contracts. */
export type {
  LibraryRefusal,
  LibraryValidation,
  ProvedStruct,
  ValidateOptions,
  ValidationStep,
  ValidationStepName,
} from "./library-validation.ts";
export { proveLlamaLayout } from "./prove-layout.ts";
export { validateLibrary } from "./validate-library.ts";
