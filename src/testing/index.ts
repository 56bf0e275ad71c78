/** Published as `inferyard/testing`: the conformance suites of backends of models and of programs, a scripted backend, and numeric tolerances. */
export { type ConformanceCase, type ConformanceSubject, backendCases } from "./conformance.ts";
export { type LanguageConformanceSubject, type LanguageSample, languageCases } from "./language-conformance.ts";
export { type ProgramBackendSubject, programBackendCases } from "./program-conformance.ts";
export { scriptedPrograms, type ScriptedProgramsOptions, type ScriptedStep } from "./scripted-programs.ts";
export { type ScriptedBackend, type ScriptedBackendOptions, scriptedBackend, scriptedMachine } from "./scripted-backend.ts";
export { tolerances, maxDifference } from "./tolerances.ts";
