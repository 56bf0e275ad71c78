/** A server as `inferyard serve` runs it: a runtime, the handler and a socket, made from the settings of inferyard.yaml. */
import { prepareRuntime } from "../api/prepare-runtime.ts";
import type { Runtime } from "../api/runtime.ts";
import { omitUndefined } from "../contract/checked.ts";
import { createStore } from "../models/model-store.ts";
import { startIdleCollection } from "../platform/node/idle-collection.ts";
import { checkSettings } from "../settings/check.ts";
import { foreignVariables } from "../settings/foreign-variables.ts";
import type { ServerSection } from "../settings/generated-server-settings.ts";
import { missingModels } from "../settings/missing-models.ts";
import { type ServerPart, serverDefaults, serverOptions } from "../settings/server-options.ts";
import { getServiceVariables } from "../settings/service-variables.ts";
import { type Settings, getRuntimeSettings } from "../settings/settings.ts";
import { dataFolder } from "../storage/data-folder.ts";
import { checkAddress } from "./check-address.ts";
import { type Handler, createHandler } from "./handler.ts";
import { listen } from "./listen.ts";
import { createLog } from "./observability/log.ts";
import { RuntimeEvents } from "./observability/runtime-events.ts";
import { startupReport } from "./observability/startup-report.ts";
import { getMemoryDefaults } from "./program/memory-defaults.ts";
import { getMaxTimeout, getModels } from "./program/models.ts";
import { readKeys, readTls } from "./program/server-files.ts";
import { getStoredNames } from "./program/stored-names.ts";
import { startTracing } from "./program/tracing-sdk.ts";
import { createTrimmer } from "../composition/node/trim-heap.ts";

/** What a server takes of the program that runs it. */
export interface ServerContext {
  /** Folder that relative paths of the settings start at. Default: the current folder. */
  readonly directory?: string;
  /** Where the log is written, one JSON object per line. Default: standard error. */
  readonly log?: { write(line: string): unknown };
  /** Environment variables, such as INFERYARD_HOME of the model store. They set no settings. Default: the environment of the process. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

/** A server that listens. */
export interface RunningServer {
  /** Base URL, with the port that was bound. */
  readonly url: string;
  readonly runtime: Runtime;
  readonly handler: Handler;
  /** Resolves when the models of the server are loaded and a probe has run on each. Rejects with the error of the first that cannot be loaded. */
  readonly ready: Promise<void>;
  /**
   * Shuts the server and its runtime down: new requests get SHUTTING_DOWN, running ones have `drainTimeout` to finish, then the port is released.
   * Resolves with the number of requests that were interrupted.
   */
  close(): Promise<number>;
}

/**
 * Starts a server. `settings`: those of inferyard.yaml, with those of the server as `server`; no file and no variable sets any. Throws CONFIG_INVALID
 * for settings that are not valid and for an address that it cannot listen on, and the errors of models that are loaded before the port is open.
 */
export async function createServer(settings: Settings = {}, context: ServerContext = {}): Promise<RunningServer> {
  checkSettings(settings, "the settings of the server");
  const opened: (() => Promise<void>)[] = [];
  const dispose = async (): Promise<void> => void (await Promise.all(opened.map((end) => end())));
  try {
    return await start(settings, context, opened, dispose);
  } catch (error) {
    await dispose();
    throw error;
  }
}

/** `opened`: receives a function for each part that `dispose` has to end. */
async function start(
  settings: Settings,
  { directory = process.cwd(), log: stream = process.stderr, environment = process.env }: ServerContext,
  opened: (() => Promise<void>)[],
  dispose: () => Promise<void>,
): Promise<RunningServer> {
  opened.push(await startTracing(process.env)); // the SDK reads the rest of its variables there too
  const section = { ...serverDefaults, ...omitUndefined(settings.server ?? {}) };
  const [keys, tls] = [await readKeys(section, directory), await readTls(section, directory)];
  await checkAddress({ ...section, keys }); // before models are loaded
  const models = getModels(section.models ?? {}, settings.models ?? {});
  const log = createLog({ level: section.logLevel, stream });
  log.ignoredVariables(getServiceVariables(environment));
  log.notes([...foreignVariables(environment), ...(await missingModels(settings))]);
  const { maxMemory, maxRunMemory } = await getMemoryDefaults();
  if (settings.maxMemory === undefined) log.budget(maxMemory);
  const events = new RuntimeEvents();
  const runtime = await prepareRuntime({
    host: "process", // isolates crashes of one model from the others
    maxMemory: maxMemory.value,
    maxRunMemory,
    runTimeout: getMaxTimeout(section.models ?? {}, section.requestTimeout),
    ...getRuntimeSettings(settings, directory),
    models: models.settings,
    shareBatches: true,
    textThreads: {
      maxCharacters: section.maxTextCharacters,
      timeout: section.textTimeout,
      templateTimeout: section.templateTimeout,
    },
    constraintThreads: {
      timeout: section.constraintTimeout,
      timePerMinute: section.constraintTimePerMinute,
      cacheBytes: section.constraintCacheBytes,
      limits: {
        states: section.maxConstraintStates,
        bytes: section.maxConstraintBytes,
        steps: section.maxConstraintSteps,
      },
    },
    onEvent: events.emit,
    onBatch: events.emitBatch,
  });
  // Requests had `drainTimeout` to finish; no one waits for the runs that are left.
  opened.push(() => runtime.dispose({ timeout: 0 }));
  const store = createStore({ folder: dataFolder({ environment }), environment });
  const handler = createHandler(runtime, {
    ...selectSettings(section, "handler"),
    ...omitUndefined({ variant: settings.variant }),
    keys,
    events,
    log,
    dataFolder: dataFolder({ environment }),
    models: models.served,
    preload: [...new Set([...(section.preload ?? []), ...models.early])],
    defaultModel: settings.model ?? "builtin",
    storedNames: getStoredNames(store, log),
    storedTime: async (reference) => {
      const stored = await store.find(reference);
      return stored === undefined ? undefined : new Date(stored.pulledAt);
    },
  });
  // Both may fail, and run before the server listens.
  await handler.service.tiktoken?.load();
  await runtime.preload();
  const listening = await listen(handler, { ...selectSettings(section, "socket"), ...omitUndefined({ tls }) });
  log.startup(await startupReport(handler.service));
  const endCollections = startIdleCollection(createTrimmer());
  const ready = handler.readiness.warmUp();
  ready.catch(() => {}); // for programs that do not wait for it
  await handler.service.batches?.resume();
  const close = async (): Promise<number> => {
    endCollections();
    await handler.service.batches?.close();
    const interrupted = await listening.close();
    await dispose();
    return interrupted;
  };
  return { url: listening.url, runtime, handler, ready, close };
}

/** The settings that a part of the server obeys. */
function selectSettings(section: ServerSection, part: ServerPart): ServerSection {
  const given = Object.entries(section) as [keyof ServerSection, unknown][];
  return Object.fromEntries(given.filter(([name]) => (serverOptions[name].part ?? "handler") === part));
}
