/** Whether a language model fits into the memory with the cache of a sequence as long as its context, and how long one may be that fits. */
import type { CacheEstimate } from "../../contract/backend.ts";
import { findSupport } from "../../contract/shapes/supported-models.ts";
import type { Variant } from "../../models/manifest.ts";
import type { SelectionStage } from "../decision/decision.ts";
import { selectHost } from "./host-selection.ts";
import { estimateMemory, machineMemory, memoryDeviceType } from "./memory-budget.ts";
import type { CandidateContext } from "./selection-facts.ts";
import { weightBytes } from "./variant-selection.ts";

/** Memory that a model needs, and the limit. */
export interface ContextNeed {
  readonly cache: CacheEstimate;
  /** Bytes of the weights and of the engine. */
  readonly engineBytes: number;
  /** Bytes that the model may take. */
  readonly availableBytes: number;
  /** Whose memory that is, for messages: "memory", "maxMemory", "the memory of cuda:0". */
  readonly pool: string;
  /** Requested maximum number of tokens. Default: the model's own. */
  readonly contextLength: number | undefined;
  /** Whether the context may be shortened. */
  readonly allowSmallerContext: boolean;
}

/** A context that is shorter than requested. */
export interface ShortenedContext {
  readonly contextLength: number;
  /** The reduction and its reason, without a full stop. */
  readonly sentence: string;
}

/** The result: a refusal, a shortened context, or neither if the context fits as it is. */
export interface ContextFit {
  readonly refusal?: { readonly stage: SelectionStage; readonly reason: string; readonly remedy?: string };
  readonly shortened?: ShortenedContext;
}

/** A shortened context has at least this many tokens, unless the model's own has fewer, and is a multiple of `step`. */
const minTokens = 512;
const step = 256;
/** Part of the memory that a shortened context leaves for what no estimate knows. */
const reserve = 0.1;

/** Checks a candidate against free memory, the memory budget and the memory of its device. Models that are no language models fit. */
export function contextFit({ target, backend, facts, manifest, request }: CandidateContext, variant: Variant): ContextFit {
  const { settings, kind } = request;
  const { type, index } = target.device;
  const cache = kind === "language" ? backend?.estimateCache?.(variant, target.device, settings) : undefined;
  if (cache === undefined || backend === undefined) return {};
  const { contextLength, allowSmallerContext = false } = settings;
  const asked = { cache, contextLength, allowSmallerContext };
  const { limits, host } = facts.budget ?? {};
  if (type !== "cpu" && settings.cpuNodes !== "allow") {
    const pool = `${memoryDeviceType(type)}:${index}`;
    const device = facts.deviceFacts.find((each) => each.device.type === memoryDeviceType(type) && each.device.index === index);
    const availableBytes = Math.min(
      device?.memoryBytes ?? Number.POSITIVE_INFINITY,
      limits?.bytes[pool] ?? Number.POSITIVE_INFINITY,
    );
    return fitContext({ ...asked, engineBytes: weightBytes(variant), availableBytes, pool: `the memory of ${pool}` });
  }
  const capabilities = backend.capabilities(target.device);
  const hostName = selectHost(host ?? { blocking: "worker" }, findSupport(capabilities, variant, kind), true);
  const engineBytes =
    estimateMemory(target, variant, manifest.requirements, capabilities, hostName)[machineMemory] ?? weightBytes(variant);
  const budget = limits?.bytes[machineMemory] ?? Number.POSITIVE_INFINITY;
  return budget < facts.availableMemory
    ? fitContext({ ...asked, engineBytes, availableBytes: budget, pool: "maxMemory" })
    : fitContext({ ...asked, engineBytes, availableBytes: facts.availableMemory, pool: "the free memory" });
}

/** Checks whether the context fits, and shortens it if that is allowed. */
export function fitContext(need: ContextNeed): ContextFit {
  const { cache, contextLength, allowSmallerContext } = need;
  const own = cache.contextLength;
  if (own !== undefined && contextLength !== undefined && contextLength > own) {
    const reason = `contextLength asks for ${count(contextLength)} tokens, and the model's context is ${count(own)}`;
    if (!allowSmallerContext) return { refusal: { stage: "requirement", reason, remedy: `set contextLength to at most ${own}` } };
  }
  const lengths = [own, contextLength].filter((length) => length !== undefined);
  if (lengths.length === 0) return {};
  const wanted = Math.min(...lengths);
  const asked = contextLength ?? wanted;
  const { engineBytes, availableBytes, pool } = need;
  const base = engineBytes + cache.computeBytes;
  const total = base + wanted * cache.bytesPerToken;
  if (total <= availableBytes) return asked === wanted ? {} : shortened(asked, wanted, "the model's own is no longer");
  const numbers = [
    `a context of ${count(wanted)} tokens needs ${megabytes(total)}`,
    `(weights and engine ${megabytes(base)}, cache ${megabytes(total - base)} at ${count(cache.bytesPerToken)} bytes a token)`,
    `and ${pool} is ${megabytes(availableBytes)}`,
  ].join(" ");
  const room = Math.floor((availableBytes * (1 - reserve) - base) / cache.bytesPerToken / step) * step;
  if (room < Math.min(minTokens, wanted)) return { refusal: { stage: "requirement", reason: numbers } };
  if (allowSmallerContext) return shortened(asked, Math.min(room, wanted), numbers);
  const remedy = `set contextLength to at most ${room}, or allowSmallerContext`;
  return { refusal: { stage: "requirement", reason: numbers, remedy } };
}

function shortened(asked: number, contextLength: number, why: string): ContextFit {
  const sentence = `the context is ${count(contextLength)} tokens instead of ${count(asked)}: ${why}`;
  return { shortened: { contextLength, sentence } };
}

function count(value: number): string {
  return value.toLocaleString("en-US");
}

function megabytes(bytes: number): string {
  return `${count(Math.ceil(bytes / 1e6))} MB`;
}
