/** A teacher that is an embedding model loaded in a runtime. */
import { omitUndefined } from "../contract/checked.ts";
import type { Runtime } from "../api/runtime.ts";
import { unsupportedModel } from "../contract/errors.ts";
import type { ModelHandle } from "../runtime/model-handle.ts";
import { embedEncodings } from "../tasks/embedding/embed.ts";
import type { Encoder } from "../tasks/batching/run-encodings.ts";
import { embedSettings } from "../tasks/embedding/embed-options.ts";
import { textSettings } from "../tasks/encoding/text-settings.ts";
import { loadPostPooling } from "../tasks/encoding/post-pooling.ts";
import type { Teacher, TeacherCallOptions } from "./teacher.ts";

/** Texts per call of the runtime, so that progress is reported often and cancellation is fast. */
const partSize = 512;

/**
 * Makes a loaded model a teacher of a distillation. The caller disposes of `handle` after the distillation. Throws
 * MODEL_UNSUPPORTED if the length of its vectors is unknown.
 */
export async function runtimeTeacher(runtime: Runtime, handle: ModelHandle): Promise<Teacher> {
  const tokenizer = await runtime.tokenizer(handle);
  const { manifest, inputs, outputs } = handle;
  const { vectorModules = [] } = textSettings(manifest);
  const postPooling = await loadPostPooling(vectorModules);
  const encoder: Encoder = {
    manifest,
    tokenizer,
    inputs,
    outputs,
    loadModules: async () => postPooling,
    run: handle.run.bind(handle),
    replicas: () => handle.replicas(),
  };
  const settings = embedSettings(manifest, { normalize: false });
  const { prefix, suffix } = tokenizer.frame;
  const dimensions = postPooling.dimensions ?? outputs.map(({ shape }) => shape.at(-1)).find((size) => typeof size === "number");
  if (dimensions === undefined) {
    throw unsupportedModel(`${handle.reference} does not say how long its vectors are`, "export it with a fixed last dimension");
  }
  return {
    reference: handle.reference,
    vocabulary: Array.from({ length: tokenizer.vocabularySize }, (_token, id) => tokenizer.idToToken(id) ?? ""),
    ...omitUndefined({ unknownTokenId: tokenizer.unknownId }),
    dimensions,
    tokenizerPath: textSettings(manifest).tokenizerPath,
    tokenize(text) {
      const { ids } = tokenizer.encode(text, { maxTokens: Number.POSITIVE_INFINITY });
      return ids.slice(prefix.length, ids.length - suffix.length);
    },
    embedTokenIds: (batch, options) =>
      inBatches(batch, options, async (part) => {
        const encodings = part.map((ids) => {
          const framed = [...prefix, ...ids, ...suffix];
          return { ids: framed, truncated: false, wholeLength: framed.length, promptTokens: 0 };
        });
        return (await embedEncodings(encoder, encodings, settings, options.signal)).embeddings;
      }),
    embedTexts: (texts, options) =>
      inBatches(texts, options, async (part) => {
        const { embeddings } = await runtime.embed(part, {
          model: handle,
          ...omitUndefined({ signal: options.signal }),
        });
        return embeddings;
      }),
  };
}

async function inBatches<Item>(
  items: readonly Item[],
  { onProgress }: TeacherCallOptions,
  work: (part: readonly Item[]) => Promise<readonly Float32Array[]>,
): Promise<Float32Array[]> {
  const vectors: Float32Array[] = [];
  for (let first = 0; first < items.length; first += partSize) {
    vectors.push(...(await work(items.slice(first, first + partSize))));
    onProgress?.(vectors.length, items.length);
  }
  return vectors;
}
