/** Whether a model writes text. */
import type { Manifest } from "./manifest.ts";

const languageTasks: ReadonlySet<string> = new Set(["text-generation", "text2text-generation"]);

/** What a model is loaded as where nobody says: "language" if its task is to write text, else "tensor". */
export function usualKind({ tasks }: Pick<Manifest, "tasks">): "language" | "tensor" {
  return tasks.some((task) => languageTasks.has(task)) ? "language" : "tensor";
}
