/** What the server says at its start: the backends and devices of this machine, the default model, and where each model would run. */
import { messageOf } from "../../contract/errors.ts";
import { formatDevice } from "../../runtime/targets/target.ts";
import { scrub } from "../http/scrub.ts";
import { defaultModelOf } from "../serving/model-names.ts";
import type { Service } from "../serving/service.ts";

/** One device of a backend, or a backend without any. */
export interface BackendLine {
  /** `backend:device`, or the backend alone where it reports no device. */
  readonly target: string;
  /** See `DeviceState`; "absent" for a backend whose package is missing. */
  readonly state: string;
  /** A sentence without a full stop. */
  readonly reason: string;
}

/** Where a model would run: what `Runtime.explain` says at the start, before anything is loaded. */
export interface ModelLine {
  /** Its name for clients. */
  readonly model: string;
  /** The target that would be tried first. Undefined if none can run the model. */
  readonly target?: string;
  /** Why that target, or why there is none. */
  readonly reason: string;
}

/** The report of one start. */
export interface StartupReport {
  readonly backends: readonly BackendLine[];
  readonly defaultModel: string;
  /** The default model, then those of the settings. */
  readonly models: readonly ModelLine[];
}

/** Makes the report. Loads and downloads nothing; a model that cannot be read has the error as its reason. */
export async function startupReport(service: Service): Promise<StartupReport> {
  const { models = {}, preload = [] } = service.settings;
  const { name: defaultModel } = defaultModelOf(service.settings);
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
      modelLine(service, undefined, defaultModel),
      ...[...others].map((name) => modelLine(service, name, name)),
    ]),
  };
}

/** `written`: the name as a request writes it; undefined for the default model. */
async function modelLine(service: Service, written: string | undefined, name: string): Promise<ModelLine> {
  const model = scrub(name);
  try {
    const { reference, constraints } = await service.resolve({ anyReference: true }, written);
    const { candidates } = await service.runtime.explain(reference, constraints);
    const first = candidates.find(({ verdict }) => verdict === "would-run");
    if (first !== undefined) return { model, target: first.target, reason: scrub(first.reason) };
    const refusals = candidates.map(({ target, stage, reason }) => `${target}: ${stage}: ${reason}`);
    return { model, reason: scrub(refusals.join("; ") || "no backend is registered") };
  } catch (error) {
    return { model, reason: scrub(messageOf(error)) };
  }
}
