/** Opens a PJRT plugin for the programs of one model. */
import type { Device, LoadOptions } from "../../contract/backend.ts";
import type { Literal } from "../../engine/ir/literal.ts";
import { type ClientSettings, openClient } from "./open-client.ts";
import type { PjrtClient } from "./pjrt/client.ts";
import { openProgramFolder } from "./program-cache/program-folder.ts";
import { compilationTarget } from "./program-cache/program-key.ts";
import { ProgramLoader } from "./program-cache/program-loader.ts";
import { XlaCompiler } from "./xla-compiler.ts";

/** A plugin, the device that it serves, and what its programs are compiled with. */
export interface CompilerPlugin {
  readonly path: string;
  readonly device: Device;
  readonly settings: ClientSettings;
  /** See `XlaSettings.programCacheBytes`. */
  readonly programCacheBytes: number | undefined;
}

/** A client of a plugin, and the programs that it compiles or has kept. */
export interface OpenLoader {
  readonly client: PjrtClient;
  readonly programs: ProgramLoader;
}

/** A client of a plugin, and the compiler of one model on it. Disposing of the compiler disposes of the client. */
export interface XlaModelCompiler extends OpenLoader {
  readonly compiler: XlaCompiler;
}

/** Opens a plugin. `model`: the path of the model, for lists of kept programs. Throws the errors of `openClient`. */
export async function openLoader(
  model: string,
  { device, path, settings, programCacheBytes }: CompilerPlugin,
  threads: number | undefined,
): Promise<OpenLoader> {
  const folder = await openProgramFolder({ maxBytes: programCacheBytes });
  const opened = await openClient(path, device, { ...settings, threads });
  const { client } = opened;
  const target = await compilationTarget(path, opened, threads).catch(() => undefined);
  return { client, programs: new ProgramLoader({ client, target, folder, device: device.type, model }) };
}

/** Opens a plugin for one model, as `openLoader` does. */
export async function openCompiler(
  weights: readonly Literal[],
  model: string,
  plugin: CompilerPlugin,
  { threads, graphOptimization: level = "all" }: Pick<LoadOptions, "threads" | "graphOptimization">,
): Promise<XlaModelCompiler> {
  const { client, programs } = await openLoader(model, plugin, threads);
  const name = `${plugin.device.type === "cpu" ? "the CPU" : client.deviceKind} by XLA (${plugin.path})`;
  return { client, programs, compiler: new XlaCompiler(weights, { client, programs, level, name }) };
}
