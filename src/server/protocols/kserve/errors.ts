/** Errors of the Open Inference Protocol. */
import type { ErrorFormat } from "../../http/error-format.ts";
import { textErrors } from "../text-errors.ts";

/** Errors of all its routes. */
export const kserveErrors: ErrorFormat = textErrors("InferenceError", { 404: "There is no such model or version" });
