/** LoRA adapters of a language model in llama.cpp. */
import { basename, resolve } from "node:path";
import type { LoraAdapter } from "../../contract/backend.ts";
import { InferyardError, getMessage } from "../../contract/errors.ts";
import { readGgufAdapter } from "../../formats/gguf/models/read-adapter.ts";
import type { GgufModel } from "../../formats/gguf/models/read-model.ts";
import type { ContextAdapters, LlamaModel } from "./library.ts";

/** Adapters that were read and fit the model. */
export interface ReadAdapters {
  /** Creation options of contexts. Undefined without adapters. */
  readonly lora: ContextAdapters | undefined;
  /** Sentences of evidence, one for each adapter. */
  readonly evidence: readonly string[];
}

/** Reads adapters with our own parser, before llama.cpp sees them. Throws as `readGgufAdapter` does. */
export async function readAdapters(adapters: readonly LoraAdapter[], model: GgufModel): Promise<ReadAdapters> {
  const read = await Promise.all(
    adapters.map(async ({ path, scale = 1 }) => {
      const filePath = resolve(path);
      const { tensors } = await readGgufAdapter(filePath, path, model);
      const sentence = `adapter ${basename(path)}: changes ${tensors.length} tensors, times ${scale}`;
      return { filePath, scale, sentence };
    }),
  );
  return {
    lora: read.length === 0 ? undefined : { adapters: read.map(({ filePath, scale }) => ({ filePath, scale })) },
    evidence: read.map(({ sentence }) => sentence),
  };
}

/** Loads adapters into a model, so that later contexts find them. Throws LOAD_FAILED with the message of llama.cpp. */
export async function loadAdapters(
  model: LlamaModel,
  lora: ContextAdapters | undefined,
  takeErrors: () => string | undefined,
): Promise<void> {
  if (lora === undefined) return;
  try {
    const sizes = { contextSize: 64, sequences: 1, batchSize: 64, threads: 1 };
    const context = await model.createContext({ ...sizes, swaFullCache: true, failedCreationRemedy: false, lora });
    await context.dispose();
  } catch (cause) {
    const said = [getMessage(cause), takeErrors()].filter((part) => part !== undefined && part !== "").join(": ");
    throw new InferyardError("LOAD_FAILED", `llama.cpp cannot load the adapters: ${said}`, { cause });
  }
}
