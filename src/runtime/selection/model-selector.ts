/** Selection for one request: reads the model's manifest and the facts, merges settings and constraints, and checks all candidates. */
import { omitUndefined } from "../../contract/checked.ts";
import { requireDecodableInput, requireWriter, usualKind } from "../../models/language-tasks.ts";
import type { UserLoadSettings } from "../../kernels/native-settings.ts";
import { InferyardError } from "../../contract/errors.ts";
import {
  type DigestCache,
  type Manifest,
  type ModelReference,
  type Variant,
  canonicalReference,
  computeDigest,
  languageVariants,
  readResolvedManifest,
  refuseUnreadable,
} from "../../models/index.ts";
import { type HostPolicy, hostPolicy } from "./host-selection.ts";
import { checkKernelNames, formatsOfKernels } from "./kernel-names.ts";
import type { LoadRequest } from "./load-request.ts";
import { givenNames, refuseIneffective, settingsFor } from "./option-scope.ts";
import type { SelectionOutcome } from "./selection-outcome.ts";
import { mergeLoadSettings } from "../options/options.ts";
import type { ModelOptions, ModelSettings, RuntimeSettings } from "../options/runtime-settings.ts";
import type { Platform } from "../platform.ts";
import type { MemoryLimits } from "./memory-budget.ts";
import type { Reservation } from "./reservation.ts";
import type { CircuitBreakers } from "../supervision/circuit-breakers.ts";
import { type Constraints, mergeConstraints } from "../targets/constraints.ts";
import type { FactsReader } from "./facts-reader.ts";
import { select } from "./selection.ts";
import type { SelectionFacts } from "./selection-facts.ts";
import { packedPrecision, refuseUnknownVariant, variantOption, variantsNamed } from "./variant-selection.ts";

/** The parts of a runtime that selection reads. */
export interface ModelSelectorParts {
  readonly settings: RuntimeSettings;
  readonly platform: Platform;
  readonly facts: FactsReader;
  readonly circuits: CircuitBreakers;
  /** The memory budget. Undefined: no limit. */
  readonly limits: MemoryLimits | undefined;
  readonly digests: DigestCache;
}

/** Runs the selection for the requests of one runtime. Loads nothing; downloads a model only if a request allows it. */
export class ModelSelector {
  readonly #parts: ModelSelectorParts;

  constructor(parts: ModelSelectorParts) {
    this.#parts = parts;
  }

  /** Selection for a request. `download`: whether a missing model is downloaded. Throws MODEL_NOT_FOUND for an unknown variant. */
  async select(
    reference: ModelReference,
    options: ModelOptions,
    { download, signal }: { readonly download: boolean; readonly signal?: AbortSignal | undefined },
  ): Promise<SelectionOutcome> {
    this.#parts.facts.machine().catch(() => {}); // read beside the manifest; #factsFor reports a failure
    const manifest = restrictToKind(await this.#manifestWithPackable(reference, options, { download, signal }), options);
    refuseUnreadable(manifest, options.variant);
    refuseUnknownVariant(manifest.variants, options.variant, reference.text);
    return this.#selectFrom(manifest, reference, options);
  }

  /** Selection for `explain`: downloads nothing, and an unknown variant makes every candidate a refused one. */
  async explain(reference: ModelReference, options: ModelOptions): Promise<SelectionOutcome> {
    const manifest = await this.#manifestWithPackable(reference, options, { download: false });
    const kind = options.kind ?? usualKind(manifest);
    const asked = kind === "language" ? { ...options, kind } : options;
    return this.#selectFrom(restrictToKind(manifest, asked), reference, asked);
  }

  /** The manifest of a model, which is downloaded if it is not on this machine. */
  async manifest(reference: ModelReference, options: ModelOptions, signal: AbortSignal | undefined): Promise<Manifest> {
    const fetch = (missing: string): Promise<void> => this.#download(reference.text, missing, options, signal);
    return readResolvedManifest(reference, { ...variantOption(options), fetch });
  }

  /** The manifest with the variant that is asked for; or without it, if it is not found and other weights may be packed to it. */
  async #manifestWithPackable(
    reference: ModelReference,
    options: ModelOptions,
    { download, signal }: { readonly download: boolean; readonly signal?: AbortSignal | undefined },
  ): Promise<Manifest> {
    const { variant, ...others } = options;
    const read = (wanted: ModelOptions): Promise<Manifest> =>
      download ? this.manifest(reference, wanted, signal) : readResolvedManifest(reference, variantOption(wanted));
    try {
      return await read(options);
    } catch (error) {
      const isMissing = error instanceof InferyardError && error.code === "MODEL_NOT_FOUND" && variant !== undefined;
      const manifest = isMissing ? await read(others).catch(() => undefined) : undefined;
      if (manifest === undefined || packedPrecision(manifest.variants, variant) === undefined) throw error;
      return manifest;
    }
  }

  /** How long the model stays in memory, by its strategy in the settings. */
  async reservationFor({ text, canonical }: ModelReference): Promise<Omit<Reservation, "leaseKind">> {
    const settings = await this.#settingsFor(canonical);
    const strategy = settings.findLast((level) => level.strategy !== undefined)?.strategy ?? "lazy";
    return { reference: text, location: canonical, pinned: strategy === "pinned", keepAliveExempt: strategy === "eager" };
  }

  /** Policy for hosts: with a memory budget, blocking backends get the host that returns its memory to the system. */
  hostPolicy(): HostPolicy {
    const { settings, limits, platform } = this.#parts;
    const isLimited = limits !== undefined || settings.maxProcessMemory !== undefined;
    return hostPolicy(settings.host, isLimited ? platform.isolatingHost : "worker");
  }

  async #selectFrom(manifest: Manifest, { canonical }: ModelReference, options: ModelOptions): Promise<SelectionOutcome> {
    const { settings } = this.#parts;
    const levels = await this.#settingsFor(canonical);
    const constraints = mergeConstraints(settings, ...levels, options);
    const request = await this.#loadRequest(manifest, levels, options);
    const facts = await this.#factsFor(manifest, constraints, request.settings);
    return { selections: select(facts, manifest, constraints, request), facts, manifest, constraints, request };
  }

  /**
   * Merges settings in order of precedence: load, model, runtime, and recommendations of the model's author. Throws INPUT_INVALID for a setting of
   * the load or the model that has no effect on the model, and the errors of `checkKernelNames`.
   */
  async #loadRequest(manifest: Manifest, levels: readonly ModelSettings[], options: ModelOptions): Promise<LoadRequest> {
    const ownSettings = mergeLoadSettings(...levels, options);
    const settings = mergeLoadSettings(manifest.settings ?? {}, this.#parts.settings, ownSettings);
    const { kernels } = settings;
    const formats = kernels === undefined ? {} : { kernelFormats: await formatsOfKernels(kernels) };
    const request = { ...variantOption(options), kind: options.kind, settings, own: givenNames(ownSettings), ...formats };
    const wanted = variantsNamed(manifest.variants, options.variant);
    const isPacked = packedPrecision(manifest.variants, options.variant) !== undefined;
    if (!isPacked) refuseIneffective(request, wanted, manifest.name);
    const concernsKernels = isPacked || wanted.some((variant) => settingsFor(request, variant).kernels !== undefined);
    if (kernels !== undefined && concernsKernels)
      await checkKernelNames(kernels, await this.#parts.facts.machine(), "BACKEND_UNAVAILABLE");
    return request;
  }

  /** Measurements are read, and weights hashed, under the policy "fastest" only. */
  async #factsFor(manifest: Manifest, constraints: Constraints, settings: UserLoadSettings): Promise<SelectionFacts> {
    const { limits, circuits, digests, platform } = this.#parts;
    const budget = limits === undefined ? {} : { budget: { limits, host: this.hostPolicy() } };
    const facts = { ...(await this.#parts.facts.read(circuits)), ...budget };
    if (constraints.policy !== "fastest") return facts;
    const { gatherMeasurementFacts } = await import("./measurement-facts.ts"); // a browser never loads it
    const machine = await this.#parts.facts.machine();
    const digest = (variant: Variant): Promise<string> => computeDigest(variant, digests);
    const kept = await platform.readMeasurements();
    return { ...facts, measurements: await gatherMeasurementFacts({ manifest, settings, machine, kept, computeDigest: digest }) };
  }

  /** The settings of the model with this canonical reference, however its reference is spelled in the settings. */
  async #settingsFor(canonical: string): Promise<readonly ModelSettings[]> {
    const named = Object.entries(this.#parts.settings.models ?? {}).map(async ([reference, settings]) =>
      (await canonicalReference(reference)) === canonical ? [settings] : [],
    );
    return (await Promise.all(named)).flat();
  }

  /** `missing`: what must be downloaded for the model that was requested as `reference`. */
  async #download(reference: string, missing: string, options: ModelOptions, signal: AbortSignal | undefined): Promise<void> {
    const { offline, onEvent } = this.#parts.settings;
    await this.#parts.platform.fetchModel(missing, {
      ...variantOption(options),
      onProgress: (progress) => onEvent?.({ type: "download", reference, progress }),
      ...omitUndefined({ offline, signal }),
    });
  }
}

/**
 * The manifest, restricted to variants of the requested kind. Throws MODEL_UNSUPPORTED if an image model or an encoder is requested
 * as a language model.
 */
function restrictToKind(manifest: Manifest, { kind }: ModelOptions): Manifest {
  if (kind !== "language") return manifest;
  requireDecodableInput(manifest);
  const variants = languageVariants(manifest.variants);
  requireWriter(manifest, variants);
  return { ...manifest, variants };
}
