/**
 * onnxruntime-web as a browser has it: the build for the CPU alone, whose .mjs and .wasm come from the folder `assets`, since no bundle can
 * hold them. Stands for src/backends/wasm/package.ts.
 */
import type { Requirement } from "../../backend.ts";
import type { EngineOptions, GraphSource } from "../../backends/wasm/engine-options.ts";
import type { OnnxEnvironment, OnnxRuntime } from "../../backends/onnxruntime/library.ts";
import { InferyardError, messageOf } from "../../errors.ts";
import { listCachedFiles } from "./model-cache.ts";
import { readBytes } from "./files.ts";
import { basename, dirname } from "./paths.ts";
import { browserScope } from "./global-scope.ts";

export const requirement: Requirement = {
  kind: "package",
  name: "onnxruntime-web",
  range: ">=1.24 <2",
  install: "npm install onnxruntime-web",
};

/** The library's own word; undefined where the bundle was made without it. */
export async function installedVersion(): Promise<string | undefined> {
  try {
    return (await load()).env.versions["web"];
  } catch {
    return undefined;
  }
}

/** Without isolation WebAssembly has no memory that threads could share, so one thread is all there is. */
export async function importLibrary({ threads, assets }: EngineOptions): Promise<OnnxRuntime> {
  try {
    const runtime = await load();
    runtime.env.logLevel = "fatal";
    // Read once, when the engine starts: a later number would be ignored, and evidence would speak of what is not so.
    runtime.env.wasm.numThreads ??= browserScope().crossOriginIsolated ? threads : 1;
    if (assets !== undefined) runtime.env.wasm.wasmPaths = assets;
    return runtime;
  } catch (error) {
    throw new InferyardError("BACKEND_UNAVAILABLE", `onnxruntime-web could not be loaded: ${messageOf(error)}`, {
      cause: error,
      remedy: requirement.install,
    });
  }
}

/** The graph's bytes, and those of the files beside it that are called after it, which is where exports put their weights. */
export async function graphSource(path: string): Promise<GraphSource> {
  const name = basename(path);
  const beside = (await listCachedFiles(dirname(path))).filter(({ url }) => url !== path && basename(url).startsWith(name));
  const externalData = await Promise.all(beside.map(async ({ url }) => ({ path: basename(url), data: await readBytes(url) })));
  return { graph: await readBytes(path), ...(externalData.length === 0 ? {} : { externalData }) };
}

/** How many threads it has, in the engine's own words once it has started, and why no more. */
export function computationNotes({ wasm }: OnnxEnvironment): readonly string[] {
  const stated = `onnxruntime-web's own env.wasm.numThreads: ${wasm.numThreads ?? "not set"}`;
  if (browserScope().crossOriginIsolated) return [stated];
  return [`${stated}; this page is not cross-origin isolated, and without that WebAssembly has no threads`];
}

function load(): Promise<OnnxRuntime> {
  return import("onnxruntime-web/wasm") as Promise<OnnxRuntime>;
}
