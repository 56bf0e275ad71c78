/** onnxruntime-web in Node.js. A browser uses another build: src/composition/browser/onnxruntime-web.ts. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";
import type { Requirement } from "../../contract/backend.ts";
import { InferyardError, getMessage } from "../../contract/errors.ts";
import type { OnnxEnvironment, OnnxRuntime } from "../onnxruntime/library.ts";
import { readOnnxOutline } from "../../formats/onnx/onnx-outline.ts";
import { getExternalFiles } from "../../formats/onnx/external-files.ts";
import type { EngineOptions, WasmGraphSource } from "./engine-options.ts";

/** The package that the backend `wasm` needs, with its version range and the command that installs it. */
export const requirement: Requirement = {
  kind: "package",
  name: "onnxruntime-web",
  range: ">=1.24 <2",
  install: "npm install onnxruntime-web",
};

/**
 * Version of the installed package; undefined if it is not installed. Its exports hide package.json, so it is located through
 * its entry.
 */
export async function installedVersion(): Promise<string | undefined> {
  try {
    const entry = createRequire(import.meta.url).resolve("onnxruntime-web");
    return (JSON.parse(readFileSync(join(dirname(entry), "..", "package.json"), "utf8")) as { version: string }).version;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "MODULE_NOT_FOUND") return undefined;
    throw new InferyardError("BACKEND_UNAVAILABLE", `onnxruntime-web is installed but damaged: ${getMessage(error)}`, {
      cause: error,
      remedy: requirement.install,
    });
  }
}

/** Loads the library and sets its options, which the first session reads. */
export async function importLibrary({ threads, assets }: EngineOptions): Promise<OnnxRuntime> {
  try {
    const runtime = (await import("onnxruntime-web")) as OnnxRuntime;
    runtime.env.logLevel = "fatal";
    runtime.env.wasm.numThreads = threads;
    if (assets !== undefined) runtime.env.wasm.wasmPaths = assets;
    return runtime;
  } catch (error) {
    throw new InferyardError("BACKEND_UNAVAILABLE", `onnxruntime-web could not be loaded: ${getMessage(error)}`, {
      cause: error,
      remedy: requirement.install,
    });
  }
}

/**
 * Source of a session: the path, which the library reads itself, and the files with external data that the graph names, which the library does not look for.
 */
export async function graphSource(path: string): Promise<WasmGraphSource> {
  const files = getExternalFiles(await readOnnxOutline(path, basename(path)));
  const externalData = [...files.keys()].map((file) => ({ path: file, data: join(dirname(path), file) }));
  return { graph: path, ...(externalData.length === 0 ? {} : { externalData }) };
}

/** Notes for the evidence about how this build computes. None in Node.js. */
export function computationNotes(_environment: OnnxEnvironment): readonly string[] {
  return [];
}
