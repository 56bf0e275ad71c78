/** What to do with texts that are longer than the model reads, as clients of Cohere, NVIDIA, Voyage and Jina say it. */
import { invalidInput } from "../../contract/errors.ts";

/** The option `truncate` of a task, which requests state in the words of these services, as true or false, or in ours. `byDefault`: where the request says nothing. Throws INPUT_INVALID for START, which is not built. */
export function toTruncation<Own extends "windows">(
  stated: "NONE" | "START" | "END" | boolean | "cut" | "error" | Own | undefined,
  byDefault: "cut" | "error",
): "cut" | "error" | Own {
  if (stated === "START") {
    throw invalidInput(
      "truncate START, which keeps the end of a text, is not built yet",
      "use END or NONE, or send the end of the text",
      { path: ["truncate"] },
    );
  }
  if (stated === undefined) return byDefault;
  if (stated === true || stated === "END") return "cut";
  return stated === false || stated === "NONE" ? "error" : stated;
}
