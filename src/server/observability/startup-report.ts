/** Start-up report of the server: backends and devices of this machine, the default model, and the target of each model. */
import { getMessage } from "../../contract/errors.ts";
import type { Decision } from "../../runtime/decision/decision.ts";
import { getFallbacks } from "../../runtime/decision/fallbacks.ts";
import { formatDevice } from "../../runtime/targets/target.ts";
import { scrub } from "../http/scrub.ts";
import { getDefaultModel, loadedDecision } from "../serving/model-names.ts";
import type { Service } from "../serving/service.ts";

/** One device of a backend, or a backend without any. */
export interface BackendLine {
  /** `backend:device`, or the backend alone where it reports no device. */
  readonly target: string;
  /** See `DeviceState`; "absent" for a backend whose package is missing. */
  readonly state: string;
  /** Reason, as a sentence without a full stop. */
  readonly reason: string;
}

/** Target of a model: from the decision of its load, or from `Runtime.explain` if it is not loaded. */
export interface ModelLine {
  /** Name of the model for clients. */
  readonly model: string;
  /** The target that runs the model, or that would be tried first. Undefined if no target can run the model. */
  readonly target?: string;
  /** Reason for the target, or why there is none. */
  readonly reason: string;
  /** Whether the model is in memory. */
  readonly loaded: boolean;
  /** Id of the decision by which the model was placed. Absent if it is not in memory. */
  readonly decision?: string;
  /** Targets that are tried after `target`, in order. */
  readonly fallbacks?: readonly string[];
  /** Preferred targets that failed or were refused, each with the reason. Absent if there is none. */
  readonly fellBackFrom?: readonly string[];
}

/** The report of one start. */
export interface StartupReport {
  readonly backends: readonly BackendLine[];
  readonly defaultModel: string;
  /** The default model, then the models in the settings. */
  readonly models: readonly ModelLine[];
}

/** Makes the report. Loads and downloads nothing; a model that cannot be read has the error as its reason. */
export async function startupReport(service: Service): Promise<StartupReport> {
  const { models = {}, preload = [] } = service.settings;
  const { name: defaultModel } = getDefaultModel(service.settings);
  const loaded = await service.runtime.loaded();
  const others = new Set([...preload, ...Object.keys(models)].filter((name) => name !== defaultModel));
  return {
    backends: (await service.runtime.backends()).flatMap(({ backend, availability }) => {
      if (!availability.present) return [{ target: backend, state: "absent", reason: scrub(availability.reason) }];
      return availability.devices.map(({ device, state, reason }) => ({
        target: `${backend}:${formatDevice(device)}`,
        state,
        reason: scrub(reason),
      }));
    }),
    defaultModel,
    models: await Promise.all([
      modelLine(service, loaded, undefined, defaultModel),
      ...[...others].map((name) => modelLine(service, loaded, name, name)),
    ]),
  };
}

/** `written`: the name as a request writes it; undefined for the default model. */
async function modelLine(
  service: Service,
  loaded: readonly Decision[],
  written: string | undefined,
  name: string,
): Promise<ModelLine> {
  const model = scrub(name);
  try {
    const resolved = await service.names.resolve({ anyReference: true }, written);
    const own = loadedDecision(loaded, resolved);
    const decision = own ?? (await service.runtime.explain(resolved.reference, resolved.constraints));
    return { model, ...getPlacement(decision), loaded: own !== undefined, ...(own === undefined ? {} : { decision: own.id }) };
  } catch (error) {
    return { model, reason: scrub(getMessage(error)), loaded: false };
  }
}

function getPlacement(decision: Decision): Omit<ModelLine, "model" | "loaded" | "decision"> {
  const { candidates } = decision;
  const used = candidates.find(({ verdict }) => verdict === "selected" || verdict === "would-run");
  if (used === undefined) {
    const refusals = candidates.map(({ target, stage, reason }) => `${target}: ${stage}: ${reason}`);
    return { reason: scrub(refusals.join("; ") || "no backend is registered") };
  }
  const { target, reason } = used;
  const fellBackFrom = getFallbacks(decision, target).map(({ from, reason: why }) => scrub(`${from}: ${why}`));
  const fallbacks = candidates.filter(({ verdict }) => verdict === "not-tried").map((candidate) => candidate.target);
  return { target, reason: scrub(reason), fallbacks, ...(fellBackFrom.length === 0 ? {} : { fellBackFrom }) };
}
