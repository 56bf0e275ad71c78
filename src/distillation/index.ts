/** The package entry `inferyard/distill`: static token embeddings made from an embedding model. */
export { distill } from "./distill.ts";
export type { DistillOptions, DistillProgress, DistillReport, DistillStage, InspectedStage } from "./distill-options.ts";
export { runtimeTeacher } from "./runtime-teacher.ts";
export type { Teacher, TeacherCallOptions } from "./teacher.ts";
