/** Holds every model that has goldens against them, on every target. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import {
  type Decision,
  InferyardError,
  type ModelHandle,
  type Runtime,
  type RuntimeConfig,
  createRuntime,
  standardBackends,
} from "inferyard";
import { Checks, type Summary } from "./checks.ts";
import { type GoldenFolder, findGoldens, readGoldens } from "./find.ts";
import type { Comparison, FileComparison, Subject } from "./format.ts";
import { formats } from "./formats/index.ts";

export interface GoldenResult extends Summary {
  /** The model's folder, relative to where the search began. */
  readonly model: string;
  /** Where it ran, or where it was to run. */
  readonly target: string;
  /** What the goldens call themselves; null where they have no name. */
  readonly format: string | null;
  /** refused: it cannot be run here, or the task is not built; a reason says which. */
  readonly verdict: "passed" | "failed" | "refused";
  /** One line. Left out where it passed. */
  readonly reason?: string;
}

const nothing: Summary = { compared: {}, largest: null, failures: [] };

/**
 * Calls `onResult` with one result per model and target, as they are known. `targets` undefined: those that the goldens name, or onnx:cpu and
 * wasm; goldens of files that need no engine have one result then. `weights`: the file of a model's folder that is to run; left out,
 * whichever the runtime chooses. `settings`: of the runtimes that load the models. Throws Error where `root` has no goldens, or a target no backend.
 */
export async function runGoldens(
  root: string,
  targets: readonly string[] | undefined,
  onResult: (result: GoldenResult) => void,
  weights?: string,
  settings: Omit<RuntimeConfig, "target" | "keepAlive"> = {},
): Promise<readonly GoldenResult[]> {
  const folders = await findGoldens(root);
  const results: GoldenResult[] = [];
  const runtimes = new Map<string, Runtime>();
  for (const target of targets ?? []) refuseUnknown(target);
  try {
    for (const golden of folders) {
      const known = await recognise(golden);
      for (const target of targets ?? targetsOf(known)) {
        const runtime = runtimes.get(target) ?? (await createRuntime({ ...settings, target, keepAlive: 1 }));
        runtimes.set(target, runtime);
        const common = { model: golden.name, target, format: known.format };
        const result = {
          ...common,
          ...("verdict" in known ? { ...nothing, ...known } : await hold(runtime, golden, known.comparison, weights)),
        };
        results.push(result);
        onResult(result);
      }
    }
  } finally {
    for (const runtime of runtimes.values()) await runtime.dispose();
  }
  return results;
}

function refuseUnknown(target: string): void {
  const backends = standardBackends().map(({ name }) => name);
  const [backend = ""] = target.split(":");
  if (!backends.includes(backend)) throw new Error(`no backend is called "${backend}"; there are ${backends.join(", ")}`);
}

/** Where goldens are held against a model if no target is asked for. */
function targetsOf(known: Recognised): readonly string[] {
  if ("verdict" in known) return ["onnx:cpu"];
  if ("compareFiles" in known.comparison) return ["native:cpu"];
  return known.comparison.targets ?? ["onnx:cpu", "wasm"];
}

type Recognised =
  | { readonly format: string | null; readonly comparison: Comparison | FileComparison }
  | { readonly format: string | null; readonly verdict: "failed" | "refused"; readonly reason: string };

/** By the name the goldens give themselves, else by their structure; never by the name of the folder. */
async function recognise(golden: GoldenFolder): Promise<Recognised> {
  let goldens: unknown;
  try {
    goldens = await readGoldens(golden);
  } catch (error) {
    return { format: null, verdict: "failed", reason: `${golden.file} cannot be read: ${messageOf(error)}` };
  }
  const stated = typeof goldens === "object" && goldens !== null && "format" in goldens ? goldens.format : undefined;
  const name = typeof stated === "string" ? stated : null;
  const format = formats.find((one) => one.name === name);
  if (format !== undefined) {
    try {
      return { format: name, comparison: format.read(goldens) };
    } catch (error) {
      return { format: name, verdict: "failed", reason: `${golden.file} is not ${format.name}: ${messageOf(error)}` };
    }
  }
  if (name === null) {
    for (const one of formats) {
      try {
        return { format: null, comparison: one.read(goldens) };
      } catch {
        // Of another form: the next may fit.
      }
    }
  }
  const keys = typeof goldens === "object" && goldens !== null ? Object.keys(goldens).slice(0, 12).join(", ") : typeof goldens;
  return { format: name, verdict: "refused", reason: `${golden.file} has no form this knows (keys ${keys})` };
}

type Held = Summary & Pick<GoldenResult, "verdict"> & Partial<Pick<GoldenResult, "target" | "reason">>;

async function hold(
  runtime: Runtime,
  { folder }: GoldenFolder,
  comparison: Comparison | FileComparison,
  weights: string | undefined,
): Promise<Held> {
  const checks = new Checks();
  if ("compareFiles" in comparison) return await holdFiles(folder, comparison, checks);
  const reference = weights === undefined ? folder : join(folder, weights);
  if (weights !== undefined && !existsSync(reference)) return { ...nothing, verdict: "refused", reason: `it has no ${weights}` };
  const files = comparison.graphs ?? comparison.languageFiles;
  if (weights !== undefined && files !== undefined)
    return { ...nothing, verdict: "refused", reason: `its goldens are of ${files.length} files, and not of ${weights}` };
  let target: string | undefined;
  try {
    const graphs: ModelHandle[] = [];
    try {
      const kind = comparison.languageFiles === undefined ? {} : ({ kind: "language" } as const);
      for (const path of files?.map((file) => join(folder, file)) ?? [reference]) graphs.push(await runtime.load(path, kind));
      const [model] = graphs;
      if (model === undefined) throw new Error("the goldens name no graph");
      target = model.target;
      const subject: Subject = { runtime, model, graphs, folder, tokenizer: () => runtime.tokenizer(model) };
      await comparison.compare(subject, checks);
    } finally {
      for (const graph of graphs) await graph.dispose();
    }
  } catch (error) {
    const refusal = target === undefined ? refusalOf(error) : undefined;
    if (refusal !== undefined) return { ...nothing, verdict: "refused", reason: refusal };
    const code = error instanceof InferyardError ? ` [${error.code}]` : "";
    const summary = checks.summary();
    const failure = `${oneLine(messageOf(error))}${code}`;
    return {
      ...(target === undefined ? {} : { target }),
      ...summary,
      verdict: "failed",
      reason: failure,
      failures: [...summary.failures, failure],
    };
  }
  return { target, ...verdictOf(checks) };
}

async function holdFiles(folder: string, { compareFiles }: FileComparison, checks: Checks): Promise<Held> {
  try {
    await compareFiles(folder, checks);
  } catch (error) {
    const failure = oneLine(messageOf(error));
    return { ...checks.summary(), verdict: "failed", reason: failure, failures: [failure] };
  }
  return verdictOf(checks);
}

function verdictOf(checks: Checks): Held {
  const summary = checks.summary();
  const [first, ...others] = summary.failures;
  if (Object.keys(summary.compared).length === 0) return { ...summary, verdict: "failed", reason: "nothing was compared" };
  if (first === undefined) return { ...summary, verdict: "passed" };
  return { ...summary, verdict: "failed", reason: others.length === 0 ? first : `${first}; and ${others.length} more` };
}

/** Why the target cannot run the model at all; undefined where it could, and failed to load or to verify it. */
function refusalOf(error: unknown): string | undefined {
  if (!(error instanceof InferyardError)) return undefined;
  const decision = error.data["decision"] as Decision | undefined;
  const considered = decision?.candidates.filter(({ stage }) => stage !== "constraints") ?? [];
  if (decision === undefined || considered.some(({ verdict }) => verdict === "failed")) return undefined;
  return considered[0]?.reason ?? "no target of that name on this machine";
}

function oneLine(text: string): string {
  return text.replaceAll(/\s*\n\s*/g, "; ");
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
