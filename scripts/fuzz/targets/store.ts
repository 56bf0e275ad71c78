/** Records of the store: listed, looked up, checked and removed; nothing outside the store is touched. */
import { existsSync, mkdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { InferyardError } from "../../../src/contract/errors.ts";
import { checkModels } from "../../../src/models/store/check.ts";
import { storeLayout } from "../../../src/models/store/layout.ts";
import { findModel, knownNames } from "../../../src/models/store/lookup.ts";
import { readIntactRecords } from "../../../src/models/store/record.ts";
import { removeModel } from "../../../src/models/store/remove.ts";
import { readManifest } from "../../../src/models/index.ts";
import { mutateJsonText, parsed } from "../mutations/mutate-json.ts";
import { scratchFolder } from "../scratch-folder.ts";
import { type FuzzTarget, mustHold } from "../target.ts";

const [digest, blob] = ["a".repeat(64), "b".repeat(64)];
const record = {
  recordVersion: 1,
  name: "owner/name",
  reference: "hf:owner/name",
  source: "https://huggingface.co",
  repository: "owner/name",
  revision: "main",
  commit: "c".repeat(40),
  variants: [{ name: "fp32", aliases: ["default"], files: ["onnx/model.onnx"] }],
  files: [{ path: "onnx/model.onnx", size: 4, sha256: blob, gitSha1: "d".repeat(40) }],
  tasks: ["feature-extraction"],
  tree: digest,
  pulledAt: "2025-01-01T00:00:00.000Z",
};

export const store: FuzzTarget = {
  codes: ["MODEL_INVALID", "MODEL_NOT_FOUND", "INPUT_INVALID", "MODEL_UNSUPPORTED"],
  seeds: () =>
    [
      record,
      {
        ...record,
        name: "model.onnx@bbbbbbbbbbbbbbbb",
        reference: `https://example.org/model.onnx#sha256=${blob}`,
        repository: null,
      },
    ].map((value) => Buffer.from(JSON.stringify(value))),
  mutate: mutateJsonText,
  dictionary: [
    "..",
    "../../victim",
    "/etc",
    "owner/name",
    "owner/name@main",
    "hf:owner/name:fp32",
    digest,
    blob,
    "a\0b",
    ".",
    "con",
    "a/../b",
  ],
  open: async () => {
    const folder = scratchFolder();
    const victim = join(folder.path, "victim");
    const layout = storeLayout(join(folder.path, "store"));
    return {
      async run(input) {
        rmSync(layout.root, { recursive: true, force: true });
        for (const path of [layout.models, join(layout.trees, digest, "onnx"), layout.blobs])
          mkdirSync(path, { recursive: true });
        writeFileSync(victim, "here");
        utimesSync(victim, 0, 0);
        writeFileSync(join(layout.trees, digest, "onnx", "model.onnx"), "1234");
        const named = nameOf(parsed(input));
        writeFileSync(join(layout.models, `${encodeURIComponent(named)}.json`), input);
        try {
          for (const one of await settled(readIntactRecords(layout), [])) JSON.stringify(one);
          await settled(knownNames(layout), []);
          await settled(checkModels(layout, undefined, {}), undefined);
          await settled(findModel(layout, named), undefined);
          await settled(readManifest(`hf:${named}`, { dataFolder: layout.root }), undefined);
          await settled(removeModel(layout, named), undefined);
        } finally {
          mustHold(existsSync(victim), () => "a file outside the store was removed");
        }
      },
      close: () => folder.remove(),
    };
  },
};

/** A name that can be a file's. */
function nameOf(json: ReturnType<typeof parsed>): string {
  const name = typeof json === "object" && json !== null && !Array.isArray(json) ? json["name"] : undefined;
  const fits = typeof name === "string" && name !== "" && !/\p{Surrogate}/u.test(name) && encodeURIComponent(name).length < 200;
  return fits ? name : "owner/name";
}

async function settled<T>(promise: Promise<T>, otherwise: T): Promise<T> {
  try {
    return await promise;
  } catch (error) {
    if (error instanceof InferyardError && store.codes.includes(error.code)) return otherwise;
    throw error;
  }
}
