/** Programs of one loaded model: taken from the cache on disk, or compiled and kept there. */
import type { ProgramCounts } from "../../../contract/backend.ts";
import { InferyardError } from "../../../contract/errors.ts";
import type { StableHloProgram } from "../../../engine/codegen/stablehlo/index.ts";
import { describeType } from "../../../engine/ir/tensor-type.ts";
import { compilerFlags } from "../compiler-flags.ts";
import type { PjrtClient } from "../pjrt/client.ts";
import { compileOptionsBytes } from "../pjrt/compile-options.ts";
import type { DeviceProgram, ProgramTypes } from "../pjrt/device-program.ts";
import { type ProgramDescription, withShortDescription } from "./program-file.ts";
import type { ProgramFolder } from "./program-folder.ts";
import { type CompilationTarget, programKey } from "./program-key.ts";

/** Constructor arguments of a loader. */
export interface ProgramLoaderParts {
  readonly client: PjrtClient;
  /** Facts that all programs depend on. Undefined if they cannot be determined: then nothing is kept. */
  readonly target: CompilationTarget | undefined;
  readonly folder: ProgramFolder;
  /** Type of the device, such as "cpu". */
  readonly device: string;
  /** Path of the model's weights or graph, for lists. */
  readonly model: string;
}

/** Loads or compiles the programs of one model, and counts them. */
export class ProgramLoader {
  readonly #parts: ProgramLoaderParts;
  #counts: ProgramCounts = { compiled: 0, compileMs: 0, cached: 0, cachedBytes: 0 };

  constructor(parts: ProgramLoaderParts) {
    this.#parts = parts;
  }

  get counts(): ProgramCounts {
    return this.#counts;
  }

  /** Returns the compiled program, on this thread. Throws RUN_FAILED with the compiler's message, and OUT_OF_MEMORY. */
  load(program: StableHloProgram): DeviceProgram {
    const { client, device, target } = this.#parts;
    const types: ProgramTypes = {
      arguments: program.arguments.map(({ type }) => type),
      results: program.results.map(({ type }) => type),
    };
    const flags = compilerFlags(device);
    const key = this.#keyOf(program);
    const kept = key === undefined ? undefined : this.#fromFolder(key, types);
    if (kept !== undefined) return kept;
    const started = performance.now();
    const compiled = client.compile(program.text, types, flags);
    const milliseconds = performance.now() - started;
    const { compiled: count, compileMs } = this.#counts;
    this.#counts = { ...this.#counts, compiled: count + 1, compileMs: compileMs + milliseconds };
    if (key !== undefined && target !== undefined)
      this.#keep(key, compiled, describeProgram(program, target, this.#parts, milliseconds));
    return compiled;
  }

  /** Whether the folder has the compiled program, so that `load` compiles nothing. */
  isKept(program: StableHloProgram): boolean {
    const key = this.#keyOf(program);
    return key !== undefined && this.#parts.folder.load(key, () => true) === true;
  }

  #keyOf({ text }: StableHloProgram): string | undefined {
    const { device, target } = this.#parts;
    return target === undefined ? undefined : programKey(target, compileOptionsBytes(compilerFlags(device)), text);
  }

  /** Sentences for the evidence, without a full stop. */
  describe(): readonly string[] {
    const { compiled, compileMs, cached, cachedBytes } = this.#counts;
    const all = compiled + cached;
    const fresh = compiled === 0 ? "" : `${compiled} compiled in ${(compileMs / 1000).toFixed(1)} s`;
    const kept = cached === 0 ? "" : `${cached} from the cache (${(cachedBytes / 1e6).toFixed(1)} MB)`;
    const { problem } = this.#parts.folder;
    return [
      all === 0
        ? "no program compiled yet: XLA compiles one when a shape is needed"
        : `${all} ${all === 1 ? "program" : "programs"}: ${[fresh, kept].filter((part) => part !== "").join(", ")}`,
      ...(problem === undefined ? [] : [`compiled programs are not kept on disk: ${problem}`]),
    ];
  }

  /** A program of the cache. A file that the plugin refuses is removed. */
  #fromFolder(key: string, types: ProgramTypes): DeviceProgram | undefined {
    const { client, folder } = this.#parts;
    return folder.load(key, ({ executable }) => {
      const program = client.load(executable, types);
      const { cached, cachedBytes } = this.#counts;
      this.#counts = { ...this.#counts, cached: cached + 1, cachedBytes: cachedBytes + executable.length };
      return program;
    });
  }

  #keep(key: string, program: DeviceProgram, description: ProgramDescription): void {
    try {
      this.#parts.folder.write(withShortDescription({ key, description, executable: program.serialize() }));
    } catch (error) {
      // Serializing is optional in PJRT: then each start compiles.
      if (!(error instanceof InferyardError)) throw error;
    }
  }
}

function describeProgram(
  program: StableHloProgram,
  target: CompilationTarget,
  { device, model }: ProgramLoaderParts,
  milliseconds: number,
): ProgramDescription {
  return {
    plugin: target.plugin.path,
    apiVersion: target.apiVersion,
    device,
    deviceKind: target.deviceKind,
    model,
    inputs: describeInputs(program),
    compiled: new Date().toISOString(),
    milliseconds: Math.round(milliseconds),
  };
}

/** The inputs and caches of a program by their types, such as "input_ids, attention_mask int64[1,16]", and "3 inputs int64[1,16]" for inputs without names. */
function describeInputs({ arguments: all }: StableHloProgram): readonly string[] {
  const groups = new Map<
    string,
    { readonly kind: "input" | "cache"; readonly type: string; readonly names: string[]; count: number }
  >();
  for (const argument of all) {
    const { kind } = argument;
    if (kind !== "input" && kind !== "cache") continue;
    const type = describeType(argument.type);
    const group = groups.get(`${kind} ${type}`) ?? { kind, type, names: [], count: 0 };
    groups.set(`${kind} ${type}`, group);
    group.count += 1;
    if (kind === "input" && !/^\d+$/.test(argument.name)) group.names.push(argument.name);
  }
  return [...groups.values()].map(({ kind, type, names, count }) => {
    const counted = `${count} ${kind}${count === 1 ? "" : "s"}`;
    return `${names.length === count ? names.join(", ") : counted} ${type}`;
  });
}
