/** koffi: the part that is used, as an interface of our own, and its import when it is first needed. */
import { InferyardError, getMessage } from "../../contract/errors.ts";
import { findPackageManifest, importEngine, installCommand } from "../../storage/installed-engines.ts";

/** A type of koffi: its name, or an object that koffi made. */
export type KoffiType = string | object;

/** A function of koffi. `async` takes a callback after the arguments. */
export interface KoffiFunction {
  (...inputs: unknown[]): unknown;
  readonly async: (...inputs: unknown[]) => void;
}

/** A shared library that koffi opened. */
export interface KoffiLibrary {
  func(name: string, result: KoffiType, parameters: KoffiType[]): KoffiFunction;
  /** Throws if there is no symbol of that name. */
  symbol(name: string): unknown;
  unload(): void;
}

/** The functions of koffi that are used. Types are made without a name, so that a second one of the same kind does not collide. */
export interface Koffi {
  load(path: string | null): KoffiLibrary;
  struct(fields: Record<string, KoffiType | [number, KoffiType]>): object;
  array(type: KoffiType, length: number, hint: "Typed"): object;
  proto(result: KoffiType, parameters: KoffiType[]): object;
  pointer(type: KoffiType): object;
  register(callback: (...inputs: unknown[]) => unknown, type: KoffiType): bigint;
  unregister(callback: bigint): void;
  decode(memory: unknown, type: KoffiType): unknown;
  address(memory: unknown): bigint;
  view(address: bigint, byteLength: number): ArrayBuffer;
  config(): KoffiSettings;
  config(settings: KoffiSettings): KoffiSettings;
}

/** Bytes of the stacks that C functions run on. */
interface KoffiSettings {
  sync_stack_size?: number;
  async_stack_size?: number;
}

/** The command that installs koffi. Its binaries are packages of their own, so that no install script is needed. */
export const koffiInstall: string = installCommand("koffi", "npm install koffi --ignore-scripts");

/** Whether koffi is installed where this package is; nothing of it is loaded. */
export function isKoffiInstalled(): boolean {
  return findPackageManifest("koffi", "koffi", import.meta.url) !== undefined;
}

/** Imports koffi. Throws BACKEND_UNAVAILABLE if it is not installed or does not load. */
export async function importKoffi(
  importer: () => Promise<unknown> = () => importEngine("koffi", "koffi", () => import("koffi")),
): Promise<Koffi> {
  try {
    const { default: koffi } = (await importer()) as { default: Koffi };
    enlargeStacks(koffi);
    allocateStacks(koffi);
    return koffi;
  } catch (error) {
    const isAbsent = (error as NodeJS.ErrnoException).code === "ERR_MODULE_NOT_FOUND";
    throw new InferyardError(
      "BACKEND_UNAVAILABLE",
      isAbsent
        ? "functions of native libraries are called through koffi, which is not installed"
        : `koffi could not be loaded: ${getMessage(error)}`,
      { cause: error, remedy: koffiInstall },
    );
  }
}

/**
 * koffi 3.3.4 allocates the stack of a thread's calls when the thread first opens a library or registers a callback. A thread that calls through an address alone has
 * none, and the call ends the process. Opening the program itself (dlopen of NULL) loads nothing.
 */
function allocateStacks(koffi: Koffi): void {
  koffi.load(null);
}

/** Bytes. A C program has 8 MiB; koffi's 128 KiB for calls on other threads are too few for llama.cpp. Pages are taken when they are used. */
const stackBytes = 8 * 1024 * 1024;

function enlargeStacks(koffi: Koffi): void {
  const { sync_stack_size: sync = 0, async_stack_size: async = 0 } = koffi.config();
  if (sync >= stackBytes && async >= stackBytes) return;
  koffi.config({
    ...koffi.config(),
    sync_stack_size: Math.max(sync, stackBytes),
    async_stack_size: Math.max(async, stackBytes),
  });
}
