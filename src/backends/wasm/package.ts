/** onnxruntime-web in Node.js. A browser uses another build: src/composition/browser/onnxruntime-web.ts. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";
import { unusablePackage } from "../../contract/availability.ts";
import { getMessage } from "../../contract/errors.ts";
import type { OnnxEnvironment, OnnxRuntime } from "../onnxruntime/library.ts";
import { readOnnxOutline } from "../../formats/onnx/onnx-outline.ts";
import { getExternalFiles } from "../../formats/onnx/external-files.ts";
import { type WasmGraphSource, requirement } from "./engine-options.ts";

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
    throw unusablePackage(requirement, `is installed but damaged: ${getMessage(error)}`, error);
  }
}

/** Loads the library and sets its number of threads, which the first session reads. */
export async function importLibrary(threads: number): Promise<OnnxRuntime> {
  const runtime = (await import("onnxruntime-web")) as OnnxRuntime;
  runtime.env.wasm.numThreads = threads;
  return runtime;
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
