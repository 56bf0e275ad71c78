/**
 * Validates values returned by backends against the types of the contract: a third party's backend may be written in JavaScript, and its defects must
 * be attributed to it. Each function throws CONTRACT_VIOLATION, which names the backend, the member, its value and the expected type.
 */
import type { Availability, Backend, CacheEstimate, Capabilities, Device, LanguageModel, TensorModel } from "../backend.ts";
import { InferyardError, getMessage } from "../errors.ts";
import {
  type Check,
  type Problem,
  amount,
  callable,
  flag,
  is,
  isObject,
  list,
  object,
  oneOf,
  optional,
  positive,
  text,
  whole,
} from "./shape.ts";

const library = object({ name: text, version: text });
const architectures: Check = (value) =>
  value === "any"
    ? undefined
    : Array.isArray(value)
      ? list(text)(value)
      : { member: "", value, must: 'a list of architectures, or "any"' };
const cachePrecisions = list(oneOf("fp32", "fp16"));

const supportedModels = object({
  kind: oneOf("tensor", "language"),
  format: text,
  architectures,
  packing: optional(object({ int8: amount, int4: amount })),
  runsIn: optional(oneOf("caller", "thread", "interruptible-thread", "process")),
});
const capabilities = object({
  models: list(supportedModels),
  precisions: list(oneOf("fp32", "fp16", "bf16", "int8", "int4")),
  options: optional(list(text)),
  cachePrecisions: optional(cachePrecisions),
  footprint: optional(object({ bytes: amount, perWeightByte: amount })),
  runMemory: optional(object({ liveTensors: amount, isBounded: flag })),
  compiles: optional(flag),
});

const absence = object({ reason: text, remedy: optional(text), library: optional(library) });
const presence = object({
  library,
  devices: list(
    object({
      device: object({ type: text, index: whole }),
      state: oneOf("absent", "present", "available"),
      reason: text,
      warning: optional(text),
      remedy: optional(text),
      milliseconds: optional(amount),
    }),
  ),
});
const availability: Check = (value) => {
  const problem = object({ present: flag })(value);
  if (problem !== undefined || !isObject(value)) return problem;
  return value["present"] === true ? presence(value) : absence(value);
};

const requirement = object({ kind: oneOf("package", "library"), name: text, range: optional(text), install: text });
const backendMembers = object({
  name: text,
  requires: optional(list(requirement)),
  entry: optional(object({ module: text, export: text })),
  probe: callable,
  capabilities: callable,
  load: callable,
  loadLanguage: optional(callable),
  alternatives: optional(callable),
  estimateCache: optional(callable),
  dispose: optional(callable),
});

const memory = object({ bytes: amount, measure: oneOf("allocated", "weights", "resident") });
const programs = optional(object({ compiled: amount, compileMs: amount, cached: amount, cachedBytes: amount }));
const modelBase = { library, memory, evidence: callable, kernelCounts: optional(callable), programs, dispose: callable };
const tensorInfos = list(
  object({
    name: text,
    dataType: text,
    shape: list(is("a number or a name", (value) => typeof value === "number" || typeof value === "string")),
  }),
);
const tensorModel = object({
  kind: oneOf("tensor"),
  ...modelBase,
  inputs: tensorInfos,
  outputs: tensorInfos,
  run: callable,
});
const languageModel = object({
  kind: oneOf("language"),
  ...modelBase,
  limits: object({
    vocabulary: positive,
    contextLength: optional(positive),
    cacheBytesPerToken: amount,
    hasEncoder: flag,
    features: optional(object({ bins: positive, frames: positive })),
  }),
  createSequence: callable,
  decode: callable,
  forkSequence: callable,
  truncateSequence: callable,
  saveSequence: optional(callable),
  restoreSequence: optional(callable),
  crossAttention: optional(callable),
  releaseSequence: callable,
});
const cacheEstimate = optional(object({ contextLength: optional(positive), bytesPerToken: amount, computeBytes: amount }));

/** Checks the members of a backend. `position`: index in the list of backends, named in the error if the backend has no name. */
export function checkBackend(backend: unknown, position: number): asserts backend is Backend {
  const problem = backendMembers(backend);
  if (problem === undefined) return;
  const name = isObject(backend) && typeof backend["name"] === "string" ? `"${backend["name"]}"` : `${position} of the list`;
  throw violation(name, problem.member === "" ? "it" : problem.member.slice(1), problem);
}

/** The capabilities of a backend on a device, checked. */
export function getCapabilities(backend: Pick<Backend, "name" | "capabilities">, device: Device): Capabilities {
  const call = `capabilities(${device.type}:${device.index})`;
  const found = orThrown(backend, call, () => backend.capabilities(device));
  return held(backend, call, capabilities, found);
}

/** A backend's estimate of the KV cache size of a language model, checked; undefined if the backend makes no estimate. */
export function getCacheEstimate(
  backend: Pick<Backend, "name" | "estimateCache">,
  ...given: Parameters<NonNullable<Backend["estimateCache"]>>
): CacheEstimate | undefined {
  return held(backend, "estimateCache()", cacheEstimate, backend.estimateCache?.(...given));
}

/** Checks the result of a backend's probe. */
export function checkAvailability(backend: Pick<Backend, "name">, found: Availability): Availability {
  return held(backend, "probe()", availability, found);
}

/** Checks the members of a tensor model that a backend loaded. */
export function checkTensorModel<Model extends TensorModel>(backend: Pick<Backend, "name">, model: Model): Model {
  return held(backend, "load()", tensorModel, model);
}

/** Checks the members of a language model that a backend loaded. */
export function checkLanguageModel(backend: Pick<Backend, "name">, model: LanguageModel): LanguageModel {
  return held(backend, "loadLanguage()", languageModel, model);
}

/** Checks a model's report of where it computed. */
export function checkEvidence(model: Pick<TensorModel, "library">, evidence: readonly string[]): readonly string[] {
  return held({ name: model.library.name }, "evidence()", list(text), evidence);
}

function held<Value>({ name }: Pick<Backend, "name">, call: string, check: Check, value: Value): Value {
  const problem = check(value);
  if (problem === undefined) return value;
  throw violation(`"${name}"`, `${call}${problem.member}`, problem);
}

/** Returns the result of a call that must not throw. Throws CONTRACT_VIOLATION if it throws; an InferyardError is passed on unchanged. */
function orThrown<Result>({ name }: Pick<Backend, "name">, call: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (error instanceof InferyardError) throw error;
    throw new InferyardError(
      "CONTRACT_VIOLATION",
      `backend "${name}" breaks its contract: ${call} throws: ${getMessage(error)}`,
      {
        cause: error,
        remedy,
      },
    );
  }
}

const remedy = "correct the backend, or leave it out";

function violation(backend: string, member: string, { value, must }: Problem): InferyardError {
  return new InferyardError(
    "CONTRACT_VIOLATION",
    `backend ${backend} breaks its contract: ${member} is ${described(value)}, and must be ${must}`,
    { remedy },
  );
}

function described(value: unknown): string {
  if (value === undefined || value === null || typeof value === "boolean" || typeof value === "number") return String(value);
  if (typeof value === "string") return JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}...` : value);
  if (Array.isArray(value)) return "a list";
  if (value instanceof Promise) return "a promise";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}
