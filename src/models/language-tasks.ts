/** What kind of model one is, by its tasks: whether it writes text, and whether it reads anything but text. */
import { InferyardError } from "../contract/errors.ts";
import type { Manifest } from "./manifest.ts";

const languageTasks: ReadonlySet<string> = new Set(["text-generation", "text2text-generation"]);

/** What a model is loaded as where nobody says: "language" if its task is to write text, else "tensor". */
export function usualKind({ tasks }: Pick<Manifest, "tasks">): "language" | "tensor" {
  return tasks.some((task) => languageTasks.has(task)) ? "language" : "tensor";
}

/** Tasks of models that read sound or pictures, and what they read. */
const media: readonly (readonly [pattern: RegExp, read: string])[] = [
  [/audio|speech/, "sound"],
  [/image|object|video|document/, "pictures"],
];

/** What a model reads that is not text, by its first task: "sound" or "pictures"; undefined for a model of texts, and for one whose task is not known. */
export function mediumOf({ tasks }: Pick<Manifest, "tasks">): string | undefined {
  const [task = ""] = tasks;
  return media.find(([pattern]) => pattern.test(task))?.[1];
}

/** Throws MODEL_UNSUPPORTED for a model that reads sound or pictures, where it is to write text after a text. */
export function requireTextInput({ name, tasks }: Pick<Manifest, "name" | "tasks">): void {
  const medium = mediumOf({ tasks });
  if (medium === undefined) return;
  throw new InferyardError("MODEL_UNSUPPORTED", `${name} is a model for ${tasks[0]}: it reads ${medium}, not text`, {
    remedy: "name a model for text-generation or text2text-generation",
  });
}
