/** .aimod packages: unpacked and read; nothing may be written outside the folder, and what was accepted can be packed and read again. */
import { existsSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { pack } from "../../../src/models/aimod/pack.ts";
import { openPackage } from "../../../src/models/aimod/read-package.ts";
import { readManifest } from "../../../src/models/index.ts";
import { InferyardError } from "../../../src/contract/errors.ts";
import { entryOf, mutateArchive, tarOf } from "../mutations/mutate-archive.ts";
import { scratchFolder } from "../scratch-folder.ts";
import { type FuzzTarget, mustHold } from "../target.ts";
import { smallModel } from "../small-model.ts";

const limits = {
  maxEntries: 100,
  maxFileBytes: 2 ** 20,
  maxTotalBytes: 2 ** 21,
  maxMetadataBytes: 2 ** 16,
  maxRatio: 1000,
  minBytesForRatio: 2 ** 16,
};

const metadata = {
  project_name: "small",
  framework: "onnx",
  version: "1.0.0",
  created_at: "2025-01-01T00:00:00Z",
  model_file: "model.onnx",
  hardware_requirements: { preferred_provider: "cpu", fallback_providers: ["cuda"], min_memory_mb: 1 },
};

export const aimod: FuzzTarget = {
  codes: ["MODEL_INVALID", "MODEL_UNSUPPORTED", "MODEL_NOT_FOUND", "LIMIT_EXCEEDED", "TOKENIZER_INVALID", "POOLING_UNKNOWN"],
  seeds: () => {
    const entries = [
      entryOf("metadata.json", Buffer.from(JSON.stringify(metadata))),
      entryOf("model.onnx", smallModel()),
      entryOf("config.json", Buffer.from('{"model_type":"bert"}')),
      entryOf("a/b.txt", Buffer.from("text")),
    ];
    return [gzipSync(tarOf(entries, true)), gzipSync(tarOf(entries.slice(0, 2), true))];
  },
  mutate: mutateArchive,
  dictionary: ["project_name", "framework", "model_file", "hardware_requirements", "onnx", "cpu", "gguf", "safetensors"],
  maxBytes: 16_384,
  open: async () => {
    const folder = scratchFolder();
    const [file, data] = [join(folder.path, "model.aimod"), join(folder.path, "data")];
    const copy = join(folder.path, "copy.aimod");
    return {
      async run(input) {
        rmSync(data, { recursive: true, force: true });
        writeFileSync(file, input);
        const place = { path: file, displayName: "model.aimod" };
        try {
          const unpacked = await openPackage(place, { dataFolder: data }, limits);
          await readManifest(file, { dataFolder: data });
          await repacked(unpacked, copy, data);
        } finally {
          const strangers = readdirSync(folder.path).filter((name) => !["model.aimod", "data", "copy.aimod"].includes(name));
          mustHold(strangers.length === 0, () => `these were written outside the folder: ${strangers.join()}`);
          const left = existsSync(join(data, "packages")) ? readdirSync(join(data, "packages")) : [];
          mustHold(!left.some((name) => name.startsWith(".")), () => `this was left behind: ${left.join()}`);
        }
      },
      close: () => folder.remove(),
    };
  },
};

/** A package of the same files has the same names in it. */
async function repacked(folder: string, copy: string, data: string): Promise<void> {
  try {
    await pack(folder, { output: copy, replace: true });
  } catch (error) {
    // Files that a package may hold and a folder that is packed may not: empty names of projects, links.
    if (error instanceof InferyardError && error.code === "INPUT_INVALID") return;
    throw error;
  }
  const again = await openPackage({ path: copy, displayName: "copy.aimod" }, { dataFolder: data });
  const names = (path: string): string => readdirSync(path, { recursive: true }).map(String).sort().join();
  mustHold(names(again) === names(folder), () => `the copy holds ${names(again)}, not ${names(folder)}`);
}
