/** What the lists of models of all protocols say of a model: by its files, without fetching or loading it. */
import type { Runtime } from "../../api/runtime.ts";
import { readManifest } from "../../models/index.ts";
import type { Manifest } from "../../models/manifest.ts";
import type { Service } from "../serving/service.ts";

/** A model that requests may name. */
export interface ModelFacts {
  readonly name: string;
  readonly reference: string;
  /** Undefined if the files cannot be read; `problem` is what was thrown then. */
  readonly manifest: Manifest | undefined;
  readonly problem?: unknown;
  /** Undefined if unknown. */
  readonly fetched: Date | undefined;
  /** When it was fetched, in seconds since 1970; 0 if unknown. */
  readonly created: number;
  readonly isLoaded: boolean;
}

/** Whether a model is in memory, by its reference. */
export function isLoaded(runtime: Runtime, reference: string): boolean {
  return runtime.memory().models.some((model) => model.reference === reference);
}

/** The facts of the model with a name. */
export async function getModelFacts(service: Service, name: string): Promise<ModelFacts> {
  const model = await service.names.resolve({}, name);
  const { reference } = model;
  const files = await readManifest(reference).then(
    (manifest) => ({ manifest }),
    (problem: unknown) => ({ manifest: undefined, problem }),
  );
  const fetched = await service.names.fetchTime(model);
  const created = Math.floor((fetched?.getTime() ?? 0) / 1000);
  return { name, reference, ...files, fetched, created, isLoaded: isLoaded(service.runtime, reference) };
}

/** The facts of every model that requests may name, the default model first. */
export async function listModelFacts(service: Service): Promise<ModelFacts[]> {
  return Promise.all((await service.names.list()).map((name) => getModelFacts(service, name)));
}

/** The manifest of a model. Throws what reading it threw. */
export function requireManifest({ manifest, problem }: Pick<ModelFacts, "manifest" | "problem">): Manifest {
  if (manifest === undefined) throw problem;
  return manifest;
}
