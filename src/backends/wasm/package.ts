/** onnxruntime-web as Node.js has it. A browser has another build of it, found in another way: src/platform/browser/onnxruntime-web.ts. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { Requirement } from "../../backend.ts";
import { InferyardError, messageOf } from "../../errors.ts";
import type { OnnxEnvironment, OnnxRuntime } from "../onnxruntime/library.ts";
import type { EngineOptions, GraphSource } from "./engine-options.ts";

export const requirement: Requirement = {
  kind: "package",
  name: "onnxruntime-web",
  range: ">=1.24 <2",
  install: "npm install onnxruntime-web",
};

/** undefined when the package is not installed. Its exports hide package.json, so it is found through its entry. */
export async function installedVersion(): Promise<string | undefined> {
  try {
    const entry = createRequire(import.meta.url).resolve("onnxruntime-web");
    return (JSON.parse(readFileSync(join(dirname(entry), "..", "package.json"), "utf8")) as { version: string }).version;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "MODULE_NOT_FOUND") return undefined;
    throw new InferyardError("BACKEND_UNAVAILABLE", `onnxruntime-web is installed but damaged: ${messageOf(error)}`, {
      cause: error,
      remedy: requirement.install,
    });
  }
}

/** What is set here is read when the first session starts the module. */
export async function importLibrary({ threads, assets }: EngineOptions): Promise<OnnxRuntime> {
  try {
    const runtime = (await import("onnxruntime-web")) as OnnxRuntime;
    runtime.env.logLevel = "fatal";
    runtime.env.wasm.numThreads = threads;
    if (assets !== undefined) runtime.env.wasm.wasmPaths = assets;
    return runtime;
  } catch (error) {
    throw new InferyardError("BACKEND_UNAVAILABLE", `onnxruntime-web could not be loaded: ${messageOf(error)}`, {
      cause: error,
      remedy: requirement.install,
    });
  }
}

/** What a session is made from: in Node.js the path, so that the library finds the files beside it. */
export async function graphSource(path: string): Promise<GraphSource> {
  return { graph: path };
}

/** What is worth saying about how this build computes. In Node.js: nothing. */
export function computationNotes(_environment: OnnxEnvironment): readonly string[] {
  return [];
}
