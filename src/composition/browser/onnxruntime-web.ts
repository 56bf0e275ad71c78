/**
 * Loads the CPU build of onnxruntime-web in a browser. Its .mjs and .wasm files are fetched from the folder `assets`, since a bundle cannot
 * contain them. Replaces src/backends/wasm/package.ts.
 */
import type { WasmGraphSource } from "../../backends/wasm/engine-options.ts";
import type { OnnxEnvironment, OnnxRuntime } from "../../backends/onnxruntime/library.ts";
import { listCachedFiles } from "../../platform/browser/model-cache.ts";
import { readBytes } from "../../platform/browser/files.ts";
import { basename, dirname } from "../../platform/browser/paths.ts";
import { browserScope } from "../../platform/browser/global-scope.ts";

/** Version of onnxruntime-web; undefined if the bundle does not contain it. */
export async function installedVersion(): Promise<string | undefined> {
  try {
    return (await load()).env.versions["web"];
  } catch {
    return undefined;
  }
}

/** Loads onnxruntime-web. Without cross-origin isolation WebAssembly has no shared memory, and the engine gets one thread. */
export async function importLibrary(threads: number): Promise<OnnxRuntime> {
  const runtime = await load();
  // onnxruntime reads this once, when it starts; a later value would be ignored, and the decision record would be wrong.
  runtime.env.wasm.numThreads ??= browserScope().crossOriginIsolated ? threads : 1;
  return runtime;
}

/** The bytes of an ONNX graph, and of the cached files whose names begin with its name, where exporters put external weights. */
export async function graphSource(path: string): Promise<WasmGraphSource> {
  const name = basename(path);
  const beside = (await listCachedFiles(dirname(path))).filter(({ url }) => url !== path && basename(url).startsWith(name));
  const externalData = await Promise.all(beside.map(async ({ url }) => ({ path: basename(url), data: await readBytes(url) })));
  return { graph: await readBytes(path), ...(externalData.length === 0 ? {} : { externalData }) };
}

/** Notes for the record of a load: the number of threads as onnxruntime-web reports it, and why there are no more. */
export function computationNotes({ wasm }: OnnxEnvironment): readonly string[] {
  const stated = `onnxruntime-web's own env.wasm.numThreads: ${wasm.numThreads ?? "not set"}`;
  if (browserScope().crossOriginIsolated) return [stated];
  return [`${stated}; this page is not cross-origin isolated, and without that WebAssembly has no threads`];
}

function load(): Promise<OnnxRuntime> {
  return import("onnxruntime-web/wasm") as Promise<OnnxRuntime>;
}
