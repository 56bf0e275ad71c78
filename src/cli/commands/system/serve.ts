import { addAbortListener } from "../../../concurrency/abort-listeners.ts";
import type { Command } from "commander";
import { omitUndefined } from "../../../contract/checked.ts";
import { InferyardError } from "../../../contract/errors.ts";
import { startIdleCollection } from "../../../platform/node/idle-collection.ts";
import { parseDuration } from "../../../runtime/options/duration.ts";
import type { ConstraintThreadSettings, RuntimeSettings } from "../../../runtime/options/runtime-settings.ts";
import type { ServedModel } from "../../../server/server-settings.ts";
import { foreignVariables } from "../../../settings/foreign-variables.ts";
import { missingModels } from "../../../settings/missing-models.ts";
import { type ServerSection, serverDefaults } from "../../../settings/server-section.ts";
import type { Log } from "../../../server/observability/log.ts";
import type * as MemoryBudget from "../../serving/memory-budget.ts";
import { openStore } from "../../model-store.ts";
import { createTrimmer } from "../../serving/trim-heap.ts";
import { defaultRunMemory } from "../../serving/run-memory.ts";
import { startTracing } from "../../serving/tracing.ts";
import { getStoredNames } from "../../serving/stored-names.ts";
import { type ServerFlags, addServerFlags, withFlags } from "../../serving/server-flags.ts";
import { addBulkLoadFlags, effectiveSettings, openSession } from "../../session.ts";
import { type Terminal, writeLine } from "../../terminal.ts";

interface ServeFlags extends ServerFlags {
  readonly model?: string;
}

/** Defines the command `serve`. */
export function defineServe(command: Command, terminal: Terminal): void {
  command.option("--model <reference>", "default model of requests");
  addBulkLoadFlags(addServerFlags(command)).action(async (flags: ServeFlags) => serve(terminal, flags));
}

async function serve(terminal: Terminal, flags: ServeFlags): Promise<void> {
  terminal.runUntilSignal?.();
  // Fetched here: no other command needs the server's libraries.
  const [{ createHandler }, { checkAddress }, { listen }, { createLog }, { RuntimeEvents }, { startupReport }, files, budgets] =
    await Promise.all([
      import("../../../server/handler.ts"),
      import("../../../server/check-address.ts"),
      import("../../../server/listen.ts"),
      import("../../../server/observability/log.ts"),
      import("../../../server/observability/runtime-events.ts"),
      import("../../../server/observability/startup-report.ts"),
      import("../../serving/server-files.ts"),
      import("../../serving/memory-budget.ts"),
    ]);
  const endTracing = await startTracing(process.env); // the SDK reads the rest of its variables there too
  const events = new RuntimeEvents();
  const { values, ignoredVariables } = await effectiveSettings(terminal, { ...flags });
  const section = withFlags({ ...serverDefaults, ...values.server }, flags);
  const keys = await files.readKeys(section, terminal.directory);
  const tls = await files.readTls(section, terminal.directory);
  await checkAddress({ ...section, keys }); // before models are loaded
  const models = getModels(section, values.models ?? {});
  const host = values.host ?? "process"; // isolates crashes of one model from the others
  const log = createLog({ level: section.logLevel ?? serverDefaults.logLevel, stream: terminal.stderr });
  log.ignoredVariables(ignoredVariables);
  log.notes([...foreignVariables(terminal.environment), ...(await missingModels(values))]);
  const maxMemory = values.maxMemory ?? (await defaultBudget(budgets, log));
  const maxRunMemory = values.maxRunMemory ?? (await defaultRunMemory());
  const runTimeout = values.runTimeout ?? maxRequestTimeout(section);
  const session = await openSession(terminal, { ...flags, host, maxMemory, maxRunMemory, runTimeout, quiet: true }, flags.model, {
    models: models.settings,
    shareBatches: true,
    textThreads: {
      maxCharacters: section.maxTextCharacters ?? serverDefaults.maxTextCharacters,
      timeout: section.textTimeout ?? serverDefaults.textTimeout,
      templateTimeout: section.templateTimeout ?? serverDefaults.templateTimeout,
    },
    constraintThreads: getConstraintThreads({ ...serverDefaults, ...section }),
    onEvent: events.emit,
    onBatch: events.emitBatch,
    preloads: false, // below, when the log receives events
  });
  const store = openStore(terminal);
  const { models: _models, keysFile: _keysFile, tlsCert: _tlsCert, tlsKey: _tlsKey, ...settings } = section;
  try {
    const {
      address,
      port,
      allowAnonymous,
      headersTimeout,
      bodyTimeout,
      stallTimeout,
      maxUnreadBytes,
      maxConnections,
      maxConnectionsPerClient,
      logLevel: _logLevel,
      maxTextCharacters: _maxTextCharacters,
      textTimeout: _textTimeout,
      templateTimeout: _templateTimeout,
      constraintTimeout: _constraintTimeout,
      constraintTimePerMinute: _constraintTimePerMinute,
      constraintCacheBytes: _constraintCacheBytes,
      maxConstraintStates: _maxConstraintStates,
      maxConstraintBytes: _maxConstraintBytes,
      maxConstraintSteps: _maxConstraintSteps,
      ...served
    } = settings;
    const handler = createHandler(session.runtime, {
      ...served,
      keys,
      events,
      log,
      models: models.served,
      preload: [...new Set([...(section.preload ?? []), ...models.early])],
      defaultModel: session.model,
      ...omitUndefined({ variant: values.variant }),
      storedNames: getStoredNames(store, (line) => writeLine(terminal.stderr, line)),
      storedTime: async (reference) => {
        const stored = await store.find(reference);
        return stored === undefined ? undefined : new Date(stored.pulledAt);
      },
    });
    // Both may fail, and run before the server listens.
    await handler.service.tiktoken?.load();
    await session.runtime.preload();
    const times = { headersTimeout, bodyTimeout, stallTimeout };
    const sockets = { address, port, allowAnonymous, ...times, maxUnreadBytes, maxConnections, maxConnectionsPerClient, tls };
    const listening = await listen(handler, omitUndefined(sockets));
    log.startup(await startupReport(handler.service));
    writeLine(terminal.stdout, `listening on ${listening.url}`);
    const endCollections = startIdleCollection(createTrimmer());
    const ended = new Promise<void>((resolve) => {
      if (terminal.signal.aborted) resolve();
      addAbortListener(terminal.signal, () => resolve());
    });
    try {
      await Promise.race([ended, handler.readiness.warmUp().then(() => ended)]);
    } finally {
      endCollections();
      const cut = await listening.close();
      if (cut > 0) writeLine(terminal.stderr, `inferyard: ${cut} requests were interrupted after drainTimeout`);
    }
  } finally {
    // Requests had `drainTimeout` to finish; no one waits for the runs that are left.
    await Promise.all([session.runtime.dispose({ timeout: 0 }), endTracing()]);
  }
}

async function defaultBudget({ defaultMemoryBudget }: typeof MemoryBudget, log: Log): Promise<number> {
  const budget = await defaultMemoryBudget();
  log.budget(budget);
  return budget.value;
}

/** The longest request timeout in milliseconds: no request waits for a run that takes longer. */
function maxRequestTimeout({ requestTimeout = serverDefaults.requestTimeout, models = {} }: ServerSection): number {
  const own = Object.values(models).map((model) => (typeof model === "string" ? undefined : model.requestTimeout));
  return Math.max(...[requestTimeout, ...own.filter((timeout) => timeout !== undefined)].map(parseDuration));
}

/** The models of the section: as names of the server, as settings of the runtime, and those to load at the start. */
function getModels(
  { models = {} }: ServerSection,
  modelSettings: NonNullable<RuntimeSettings["models"]>,
): {
  readonly served: Readonly<Record<string, ServedModel>>;
  readonly settings: NonNullable<RuntimeSettings["models"]>;
  readonly early: readonly string[];
} {
  const entries = Object.entries(models).map(([name, model]) =>
    typeof model === "string"
      ? { name, reference: model, strategy: "lazy" as const }
      : { name, strategy: "lazy" as const, ...model },
  );
  const settings = { ...modelSettings };
  for (const { reference, strategy, name } of entries) {
    if (strategy === "lazy") continue;
    const before = settings[reference]?.strategy;
    if (before !== undefined && before !== strategy) {
      throw new InferyardError(
        "CONFIG_INVALID",
        `server.models: ${name} is ${strategy}, and another name of ${reference} ${before}`,
        {
          remedy: "give one model one strategy",
        },
      );
    }
    settings[reference] = { ...settings[reference], strategy };
  }
  return {
    served: Object.fromEntries(entries.map(({ name, strategy: _strategy, ...model }) => [name, model])),
    settings,
    early: entries.filter(({ strategy }) => strategy !== "lazy").map(({ name }) => name),
  };
}

/** The limits of constraints, of the settings of the server. */
function getConstraintThreads(section: typeof serverDefaults): ConstraintThreadSettings {
  const { constraintTimeout: timeout, constraintTimePerMinute: timePerMinute, constraintCacheBytes: cacheBytes } = section;
  const { maxConstraintStates: states, maxConstraintBytes: bytes, maxConstraintSteps: steps } = section;
  return { timeout, timePerMinute, cacheBytes, limits: { states, bytes, steps } };
}
